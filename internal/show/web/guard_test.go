package web

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// guarded is a server with one run, behind a guard.
func guarded(t *testing.T, g Guard, write bool) (h http.Handler, s *store.Store) {
	t.Helper()
	s = openStore(t)
	run := filled(1)
	run.ID = "a"
	if _, err := s.Import(run, filledRecords(2), nil); err != nil {
		t.Fatal(err)
	}
	return g.Protect((&Server{Runs: s, File: "runs.db", Write: write}).Handler()), s
}

// An ask is a request with what an attacker, or a browser, puts into it.
type ask struct {
	method, target string            // target after the address; GET if there is no method
	host           string            // 127.0.0.1:7070 if empty
	header         map[string]string // Cookie, Origin ...
	body           string
	local          string // the address that the request came to
}

func (a ask) send(h http.Handler) *httptest.ResponseRecorder {
	if a.method == "" {
		a.method = "GET"
	}
	if a.host == "" {
		a.host = "127.0.0.1:7070"
	}
	r := httptest.NewRequest(a.method, "http://"+"x"+a.target, strings.NewReader(a.body))
	r.Host = a.host
	for name, value := range a.header {
		r.Header.Set(name, value)
	}
	if a.local != "" {
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(a.local), Port: 7070}))
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestOnlyOurNamesAreAnswered(t *testing.T) {
	h, _ := guarded(t, Guard{Port: 7070, Hosts: []string{"gpu7.example.com", "proxy:8443", "[2001:db8::1]:7070"}}, false)
	for host, want := range map[string]int{
		"127.0.0.1:7070": 200, "localhost:7070": 200, "LOCALHOST:7070": 200, "localhost.:7070": 200, "[::1]:7070": 200, "127.8.9.1:7070": 200,
		"gpu7.example.com": 200, "GPU7.example.com:7070": 200, "gpu7.example.com:9999": 200, "proxy:8443": 200, "[2001:DB8::1]:7070": 200, "192.0.2.1:7070": 200,
		"evil.example": 421, "evil.example:7070": 421, "localhost": 421, "localhost:7071": 421, "127.0.0.1": 421, "127.0.0.1:80": 421, "proxy": 421, "proxy:7070": 421,
		"localhost.evil.example:7070": 421, "127.0.0.1.evil.example:7070": 421, "192.0.2.2:7070": 421, "0.0.0.0:7070": 421, "[::]:7070": 421, ":7070": 421, "": 421,
		"gpu7.example.com.evil.example": 421, "gpu7.example.com@evil.example": 421, "2130706433:7070": 421, "127.1:7070": 421, "0x7f.0.0.1:7070": 421,
	} {
		a := ask{target: "/api/hello", local: "192.0.2.1", host: host}
		if host == "" {
			a.host = " "
		}
		if w := a.send(h); w.Code != want {
			t.Errorf("%q: %d %s", host, w.Code, w.Body)
		}
	}
}

func TestTheDefaultPortNeedsNoNumber(t *testing.T) {
	for _, tt := range []struct {
		g    Guard
		want int
	}{{Guard{Port: 80}, 200}, {Guard{Port: 443, Secure: true}, 200}, {Guard{Port: 443}, 421}, {Guard{Port: 80, Secure: true}, 421}} {
		h, _ := guarded(t, tt.g, false)
		if w := (ask{target: "/api/hello", host: "localhost"}).send(h); w.Code != tt.want {
			t.Errorf("%+v: %d", tt.g, w.Code)
		}
	}
}

// Other sites get neither answers nor changes, whatever their browser says of them.
func TestOtherSitesAreRefused(t *testing.T) {
	h, _ := guarded(t, Guard{Port: 7070}, true)
	json := "application/json"
	for name, tt := range map[string]struct {
		ask
		want int
	}{
		"a page of ours":           {ask{target: "/api/runs", header: map[string]string{"Sec-Fetch-Site": "same-origin"}}, 200},
		"an address typed":         {ask{target: "/api/runs", header: map[string]string{"Sec-Fetch-Site": "none"}}, 200},
		"our origin":               {ask{target: "/api/runs", header: map[string]string{"Origin": "http://127.0.0.1:7070"}}, 200},
		"a program":                {ask{target: "/api/runs"}, 200},
		"a link to the page":       {ask{target: "/", header: map[string]string{"Sec-Fetch-Site": "cross-site"}}, 200},
		"another site":             {ask{target: "/api/runs", header: map[string]string{"Sec-Fetch-Site": "cross-site"}}, 403},
		"another port":             {ask{target: "/api/runs", header: map[string]string{"Sec-Fetch-Site": "same-site"}}, 403},
		"its origin":               {ask{target: "/api/runs", header: map[string]string{"Origin": "http://evil.example"}}, 403},
		"no origin to speak of":    {ask{target: "/api/runs", header: map[string]string{"Origin": "null"}}, 403},
		"another port's origin":    {ask{target: "/api/runs", header: map[string]string{"Origin": "http://127.0.0.1:7071"}}, 403},
		"another scheme":           {ask{target: "/api/runs", header: map[string]string{"Origin": "file://127.0.0.1:7070"}}, 403},
		"our origin, another site": {ask{target: "/api/runs", header: map[string]string{"Origin": "http://127.0.0.1:7070", "Sec-Fetch-Site": "cross-site"}}, 403},
		"a stream for another":     {ask{target: "/api/events", header: map[string]string{"Origin": "http://evil.example"}}, 403},
		"a stream across sites":    {ask{target: "/api/events", header: map[string]string{"Sec-Fetch-Site": "cross-site"}}, 403},
		"an export across sites":   {ask{target: "/api/runs/a/export", header: map[string]string{"Sec-Fetch-Site": "cross-site"}}, 403},
		"a change from another": {ask{method: "POST", target: "/api/runs/a/labels", body: "{}", header: map[string]string{
			"Content-Type": json, "Origin": "http://evil.example",
		}}, 403},
		"a change across sites": {ask{method: "POST", target: "/api/runs/a/labels", body: "{}", header: map[string]string{
			"Content-Type": json, "Sec-Fetch-Site": "same-site",
		}}, 403},
		"a change of ours": {ask{method: "POST", target: "/api/runs/a/labels", body: `{"tags":["x"]}`, header: map[string]string{
			"Content-Type": json, "Origin": "http://127.0.0.1:7070", "Sec-Fetch-Site": "same-origin",
		}}, 200},
	} {
		if w := tt.send(h); w.Code != tt.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestWithTLSTheOriginIsSecure(t *testing.T) {
	h, _ := guarded(t, Guard{Port: 7070, Secure: true}, false)
	for origin, want := range map[string]int{"https://127.0.0.1:7070": 200, "http://127.0.0.1:7070": 403} {
		if w := (ask{target: "/api/hello", header: map[string]string{"Origin": origin}}).send(h); w.Code != want {
			t.Errorf("%s: %d", origin, w.Code)
		}
	}
}

func TestTheToken(t *testing.T) {
	const token = "the-token"
	h, _ := guarded(t, Guard{Port: 7070, Token: token}, true)
	cookie := map[string]string{"Cookie": "other=1; pitot-7070=" + token}
	for name, tt := range map[string]struct {
		ask
		want int
	}{
		"none":                      {ask{target: "/"}, 401},
		"none for an answer":        {ask{target: "/api/hello"}, 401},
		"none for a stream":         {ask{target: "/api/events"}, 401},
		"none for an asset":         {ask{target: "/assets/x.js"}, 401},
		"none for what is not":      {ask{target: "/nothing"}, 401},
		"a wrong one":               {ask{target: "/?token=the-toke"}, 401},
		"an empty one":              {ask{target: "/?token="}, 401},
		"a longer one":              {ask{target: "/?token=the-token2"}, 401},
		"in the query of an answer": {ask{target: "/api/hello?token=" + token}, 401},
		"in a query by POST":        {ask{method: "POST", target: "/?token=" + token}, 401},
		"a wrong cookie":            {ask{target: "/", header: map[string]string{"Cookie": "pitot-7070=x"}}, 401},
		"another port's cookie":     {ask{target: "/", header: map[string]string{"Cookie": "pitot-7071=" + token}}, 401},
		"a wrong bearer":            {ask{target: "/", header: map[string]string{"Authorization": "Bearer x"}}, 401},
		"an empty bearer":           {ask{target: "/", header: map[string]string{"Authorization": "Bearer "}}, 401},
		"a cookie":                  {ask{target: "/api/hello", header: cookie}, 200},
		"a bearer":                  {ask{target: "/api/hello", header: map[string]string{"Authorization": "Bearer " + token}}, 200},
		"a cookie, a foreign name":  {ask{target: "/api/hello", header: cookie, host: "evil.example:7070"}, 421},
		"the query":                 {ask{target: "/?token=" + token}, 303},
	} {
		w := tt.send(h)
		if w.Code != tt.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if w.Code == 401 && (strings.Count(w.Body.String(), "\n") != 1 || strings.Contains(w.Body.String(), token)) {
			t.Errorf("%s: %s", name, w.Body)
		}
	}
}

// The token leaves the address at once, and is a cookie that only this server gets.
func TestTheTokenIsExchangedForACookie(t *testing.T) {
	for _, tt := range []struct {
		g    Guard
		want string
	}{
		{Guard{Port: 7070, Token: "T"}, "pitot-7070=T; Path=/; HttpOnly; SameSite=Strict"},
		{Guard{Port: 7070, Token: "T", Secure: true}, "__Host-pitot-7070=T; Path=/; HttpOnly; Secure; SameSite=Strict"},
	} {
		h, _ := guarded(t, tt.g, false)
		w := ask{target: "/?token=T"}.send(h)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" || w.Header().Get("Set-Cookie") != tt.want || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		linked := ask{target: "/?token=T", header: map[string]string{"Sec-Fetch-Site": "cross-site"}}.send(h)
		if linked.Code != http.StatusOK || linked.Header().Get("Refresh") != "0; url=/" || linked.Header().Get("Set-Cookie") != tt.want {
			t.Errorf("by a link: %d %v", linked.Code, linked.Header())
		}
	}
	if a, b := NewToken(), NewToken(); a == b || len(a) < 40 {
		t.Errorf("tokens %s and %s", a, b)
	}
}

func TestEveryAnswerHasTheHeaders(t *testing.T) {
	h, _ := guarded(t, Guard{Port: 7070}, false)
	for _, a := range []ask{{target: "/"}, {target: "/api/hello"}, {target: "/api/nothing"}, {target: "/api/runs/a/export"}, {target: "/", host: "evil"}, {method: "PUT", target: "/"}} {
		w := a.send(h)
		for name, value := range headers {
			if w.Header().Get(name) != value {
				t.Errorf("%s %s %d: %s is %q", a.method, a.target, w.Code, name, w.Header().Get(name))
			}
		}
		if kind := w.Header().Get("Content-Type"); kind == "" {
			t.Errorf("%s %s: no Content-Type", a.method, a.target)
		}
	}
	if !strings.Contains(headers["Content-Security-Policy"], "default-src 'none'") || strings.Contains(headers["Content-Security-Policy"], "unsafe") {
		t.Error(headers)
	}
}

// Nothing but POST of JSON changes anything, and only where that is allowed.
func TestOnlyPostOfJSONChangesAnything(t *testing.T) {
	h, s := guarded(t, Guard{Port: 7070}, true)
	json := map[string]string{"Content-Type": "application/json"}
	change := func(edit func(*ask)) ask {
		a := ask{method: "POST", target: "/api/runs/a/labels", header: json, body: `{"tags":["changed"],"remark":""}`}
		edit(&a)
		return a
	}
	for name, tt := range map[string]struct {
		ask
		want int
	}{
		"GET":                     {change(func(a *ask) { a.method = "GET" }), 404},
		"HEAD":                    {change(func(a *ask) { a.method = "HEAD" }), 404},
		"PUT":                     {change(func(a *ask) { a.method = "PUT" }), 405},
		"DELETE":                  {change(func(a *ask) { a.method = "DELETE" }), 405},
		"PATCH":                   {change(func(a *ask) { a.method = "PATCH" }), 405},
		"OPTIONS":                 {change(func(a *ask) { a.method = "OPTIONS" }), 405},
		"TRACE":                   {change(func(a *ask) { a.method = "TRACE" }), 405},
		"GET that says POST":      {change(func(a *ask) { a.method, a.header = "GET", map[string]string{"X-HTTP-Method-Override": "POST"} }), 404},
		"GET with a query":        {change(func(a *ask) { a.method, a.target = "GET", "/api/runs/a/labels?tags=changed" }), 404},
		"a form":                  {change(func(a *ask) { a.header = map[string]string{"Content-Type": "application/x-www-form-urlencoded"} }), 415},
		"a form with a file":      {change(func(a *ask) { a.header = map[string]string{"Content-Type": "multipart/form-data; boundary=x"} }), 415},
		"plain text":              {change(func(a *ask) { a.header = map[string]string{"Content-Type": "text/plain"} }), 415},
		"text that ends in json":  {change(func(a *ask) { a.header = map[string]string{"Content-Type": "text/plain; application/json"} }), 415},
		"no type":                 {change(func(a *ask) { a.header = nil }), 415},
		"no JSON":                 {change(func(a *ask) { a.body = "tags=changed" }), 400},
		"other JSON":              {change(func(a *ask) { a.body = `{"tags":"changed"}` }), 400},
		"two values":              {change(func(a *ask) { a.body += a.body }), 400},
		"nothing":                 {change(func(a *ask) { a.body = "" }), 400},
		"too much":                {change(func(a *ask) { a.body = `{"remark":"` + strings.Repeat("x", longBody) + `"}` }), 413},
		"a long remark":           {change(func(a *ask) { a.body = `{"remark":"` + strings.Repeat("x", trace.MaxRemark+1) + `"}` }), 400},
		"a tag with a line break": {change(func(a *ask) { a.body = `{"tags":["a\nb"]}` }), 400},
		"no such run":             {change(func(a *ask) { a.target = "/api/runs/nope/labels" }), 404},
		"no such answer":          {change(func(a *ask) { a.target = "/api/runs" }), 405},
	} {
		if w := tt.send(h); w.Code != tt.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if l, err := s.Find("a"); err != nil || !l.IsZero() {
			t.Errorf("%s: %v, %+v", name, err, l.Labels)
		}
	}
	h, s = guarded(t, Guard{Port: 7070}, false)
	if w := change(func(*ask) {}).send(h); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "--write") {
		t.Errorf("read-only: %d %s", w.Code, w.Body)
	}
	if l, err := s.Find("a"); err != nil || !l.IsZero() {
		t.Errorf("read-only: %v, %+v", err, l.Labels)
	}
}

func TestLabelsAreWritten(t *testing.T) {
	h, s := guarded(t, Guard{Port: 7070}, true)
	w := ask{
		method: "POST", target: "/api/runs/a/labels", header: map[string]string{"Content-Type": "application/json; charset=utf-8"},
		body: `{"tags":[" b ","a","a"],"remark":"one\r\ntwo"}`,
	}.send(h)
	if want := `{"tags":["a","b"],"remark":"one\ntwo"}` + "\n"; w.Code != 200 || w.Body.String() != want {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	l, err := s.Find("a")
	if err != nil || strings.Join(l.Tags, " ") != "a b" || l.Remark != "one\ntwo" {
		t.Errorf("%v: %+v", err, l.Labels)
	}
	for _, step := range []struct{ body, want string }{ // what is not there stays
		{`{"tags":["c"]}`, `{"tags":["c"],"remark":"one\ntwo"}`},
		{`{"remark":"three"}`, `{"tags":["c"],"remark":"three"}`},
		{`{"tags":[]}`, `{"tags":[],"remark":"three"}`},
		{`{"remark":""}`, `{"tags":[],"remark":""}`},
	} {
		w = ask{method: "POST", target: "/api/runs/a/labels", header: map[string]string{"Content-Type": "application/json"}, body: step.body}.send(h)
		if w.Code != 200 || w.Body.String() != step.want+"\n" {
			t.Errorf("%s: %d %s", step.body, w.Code, w.Body)
		}
	}
}

// A body that names nothing of the labels, or something else, is refused and changes nothing.
func TestLabelsThatAreRefused(t *testing.T) {
	h, s := guarded(t, Guard{Port: 7070}, true)
	json := map[string]string{"Content-Type": "application/json"}
	if w := (ask{method: "POST", target: "/api/runs/a/labels", header: json, body: `{"tags":["kept"],"remark":"kept"}`}).send(h); w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for body, want := range map[string]string{
		`{}`: "neither tags nor remark", `null`: "must be an object", `[]`: "must be an object", `"tags"`: "must be an object", `1`: "must be an object",
		`{"remarks":"x"}`: `"remarks" is neither tags nor remark`, `{"Tags":["x"]}`: "neither tags nor remark", `{"tags":["x"],"run":1}`: "neither tags nor remark", `{"":1}`: "neither tags nor remark",
		`{"tags":null}`: "tags must be a list of texts", `{"tags":[null]}`: "tags must be a list of texts", `{"tags":[1]}`: "tags must be a list of texts", `{"tags":"x"}`: "tags must be a list of texts",
		`{"tags":{}}`: "tags must be a list of texts", `{"remark":null}`: "remark must be a text", `{"remark":1}`: "remark must be a text", `{"remark":["x"]}`: "remark must be a text",
		`{"tags":["x"],"tags":["y"]}`: "tags is there twice", `{"tags":[],"tags":["y"]}`: "tags is there twice", `{"remark":"","remark":"y"}`: "remark is there twice",
		`{"tags":["x"]} {}`: "after top-level value", `{"tags":["x"]`: "unexpected end", strings.Repeat("[", 30000): "",
	} {
		w := ask{method: "POST", target: "/api/runs/a/labels", header: json, body: body}.send(h)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) || strings.Count(w.Body.String(), "\n") > 1 {
			t.Errorf("%.60s: %d %s, want %q", body, w.Code, w.Body, want)
		}
	}
	if l, err := s.Find("a"); err != nil || strings.Join(l.Tags, " ") != "kept" || l.Remark != "kept" {
		t.Errorf("%v: %+v", err, l.Labels)
	}
}

// Paths lead to what is embedded, and to nothing else.
func TestPathsLeadNowhereElse(t *testing.T) {
	h, _ := guarded(t, Guard{Port: 7070}, false)
	for _, target := range []string{
		"/../web.go", "/assets/../../web.go", "/..%2fweb.go", "/%2e%2e/web.go", "/assets/", "//etc/passwd", "/etc/passwd", "/.gitignore", "/dist/", "/web.go",
		"/api/runs/..%2f..%2fetc/export", "/api/runs/%00/export", "/api/runs/" + strings.Repeat("a", 5000) + "/export", "/api/../web.go", "/api",
	} {
		if w := (ask{target: target}).send(h); w.Code == http.StatusOK || strings.Contains(w.Body.String(), "package web") || strings.Contains(w.Body.String(), "root:") {
			t.Errorf("%s: %d %.100s", target, w.Code, w.Body)
		}
	}
}
