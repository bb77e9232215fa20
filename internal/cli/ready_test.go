package cli

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/test/race"
)

// answering is a server of a model whose every other answer is the same.
func answering(status int, body string, header ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
			return
		}
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// What a server answers otherwise than it is asked to is told at once, with the flag that helps, as each front end calls it.
func TestAnswersThatCannotPass(t *testing.T) {
	race.Skip(t)
	const (
		own    = "bench -q -n 1 --url http://engine:80 --max-event 1"
		vllm   = "vllm bench serve --base-url http://engine:80 --model m --num-prompts 1 --random-input 8 --tokenizer none --ready-check-timeout-sec 0 --disable-tqdm"
		sglang = "python -m sglang.bench_serving --backend vllm --base-url http://engine:80 --model m --dataset-name random-ids --num-prompts 1 --random-input 8 --ready-check-timeout-sec 0 --disable-tqdm"
	)
	whole, page := answering(200, `{"choices":[{"text":"a"}]}`, "Content-Type", "application/json"), answering(200, "<html>Sign in</html>", "Content-Type", "text/html")
	packed := answering(200, "\x1f\x8b", "Content-Encoding", "gzip")
	const asJSON, asPage = `malformed answer: asked for an event stream, got application/json: "{\"choices\":[{\"text\":\"a\"}]}"`, `malformed answer: asked for an event stream, got text/html: "<html>Sign in</html>"`
	for _, tt := range []struct {
		line   string
		server http.Handler
		says   string // the last lines
		waits  bool
	}{
		{own, whole, "ready check at http://engine:80: " + asJSON + "\n       --no-stream asks for whole answers", false},
		{sglang, whole, asJSON + "\n       --disable-stream asks for whole answers\n       --warmup-requests 0 goes on without a warm-up", false},
		{vllm, whole, asJSON, false},
		{own, page, "ready check at http://engine:80: " + asPage + "\n       --url must name the API itself: this is a page, such as that of a login", false},
		{vllm, page, asPage + "\n       --base-url must name the API itself: this is a page, such as that of a login", false},
		{own, packed, "which was not asked for\n       --header Accept-Encoding=identity asks for answers that are not compressed", false},
		{vllm, packed, "which was not asked for\n       --header Accept-Encoding=identity asks for answers that are not compressed", false},
		{own, answering(200, "data: "+strings.Repeat("a", 2<<20), "Content-Type", "text/event-stream"), "malformed answer: event too large: the limit is 1 MiB\n       --max-event takes larger events, in MiB", false},
		{own, answering(302, "", "Location", "http://login/"), "HTTP status 302: redirected to http://login/", false},
		{own, answering(401, ""), "HTTP status 401: Unauthorized", false},
		{own, answering(404, "404 page not found"), "HTTP status 404: 404 page not found", false},
		{own, answering(422, "stream_options: Extra inputs are not permitted"), "HTTP status 422: stream_options: Extra inputs are not permitted\n       --body '{\"stream_options\": null}' leaves out what was refused", false},
		{own, answering(503, ""), "not ready after 30s: HTTP status 503: Service Unavailable", true},
		{own, answering(429, "slow down"), "not ready after 30s: HTTP status 429: slow down", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := newVirtual(t)
			defer v.serve(t, tt.server)()
			if tt.line == own {
				tt.line = fmt.Sprint(tt.line, " --store ", v.store)
			}
			v.Args, v.Env = strings.Fields(tt.line), func(name string) (string, bool) { return v.store, name == "PITOT_STORE" }
			began := time.Now()
			Run(v.Session)
			if waited := time.Since(began) >= 30*time.Second; waited != tt.waits || !strings.HasSuffix(v.stderr.String(), tt.says+"\n") {
				t.Errorf("%s: waited %v, want %v; said\n%swant\n%s", tt.line, waited, tt.waits, &v.stderr, tt.says)
			}
		})
	}
}

// Who gives no URL reads at once that no server is measured.
func TestNoServerIsMeasured(t *testing.T) {
	for line, want := range map[string]string{
		"bench -n 1 --warmup 0": "no --url: measuring the embedded engine, which simulates a server in this process",
		"sweep -n 1 --rate 1,2": "no --url: simulating an engine in virtual time, without a server",
		"bench -n 1 -q":         "",
		"sim -n 1":              "",
	} {
		synctest.Test(t, func(t *testing.T) {
			v := newVirtual(t, strings.Fields(line)...)
			code := Run(v.Session)
			if first, _, _ := strings.Cut(v.stderr.String(), "\n"); code != exitOK || strings.HasPrefix(first, "no --url") != (want != "") || want != "" && first != want {
				t.Errorf("%s: exit code %d, begins with %q, want %q", line, code, first, want)
			}
		})
	}
}

// A value that would be lost, or that no server is there for, is a mistake of the command line.
func TestFlagsInVain(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"bench --url http://a --url=http://b", "--url: is given twice, as \"http://a\" and as \"http://b\"; give it once, or compare two servers with `pitot ab`"},
		{"bench --url http://a --api-key-env K --api-key-file f", "--api-key-file: --api-key-env is given too, and both have the key; give one of them"},
		{"bench --model m", "--model: only applies to a server, and none is given; add --url URL to measure one"},
		{"bench --api-key-env K --header a=b", "--api-key-env: only applies to a server, and none is given"},
		{"sweep --model m --rate 1,2", "--model: only applies to a server, and none is given; add --url URL to measure one"},
	} {
		sess, _, stderr := process(t, nil, strings.Fields(tt.args)...)
		if code := Run(sess); code != exitUsage || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("%s: exit code %d, %s, want %s", tt.args, code, stderr, tt.want)
		}
	}
}
