package apiserver

import (
	"net"
	"strings"
	"testing"
	"testing/synctest"
)

// The header names a request, or else its body.
func TestRequestID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		for _, test := range []struct{ header, body, want string }{
			{"", `{"prompt":"a","request_id":"mine"}`, "mine"},
			{"head", `{"prompt":"a","request_id":"mine"}`, "head"},
			{"", `{"prompt":"a","request_id":null}`, "REST"},
		} {
			_, text := r.whole("POST", completions, test.body, "X-Request-Id", test.header)
			synctest.Wait()
			requests := r.truth("").Requests
			id := requests[len(requests)-1].ID
			if test.want == "REST" && len(id) == 32 {
				test.want = id
			}
			if id != test.want || !strings.HasPrefix(text, `{"id":"cmpl-`+test.want+`"`) {
				t.Errorf("header %q, body %s: id %q in %s", test.header, test.body, id, text)
			}
		}
	})
}

func TestAPIKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{APIKey: "secret"})
		for _, test := range []struct {
			path, auth string
			status     int
		}{
			{"/v1/models", "Bearer secret", 200},
			{"/v1/models", "bearer secret", 200},
			{"/v1/models", "Bearer wrong", 401},
			{"/v1/models", "secret", 401},
			{"/v1/models", "", 401},
			{"/server_info", "", 401},
			{"/server_info", "Bearer secret", 200},
			{"/generate", "", 401},
			{"/health", "", 200},
			{"/health_generate", "", 200},
			{"/metrics", "Bearer secret", 200},
			{"/nowhere", "", 401},
			{"/nowhere", "Bearer secret", 404},
		} {
			status, body := r.whole("GET", test.path, "", "Authorization", test.auth)
			if status != test.status || status == 401 && body != `{"error":"Unauthorized"}` {
				t.Errorf("%s with %q: %d %s", test.path, test.auth, status, body)
			}
		}
	})
}

// No route but those of health does anything without the key, by any method.
func TestEveryRouteAsksForTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{APIKey: "secret"})
		for _, path := range Routes() {
			for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
				status, _ := r.whole(method, path, "{}")
				if free := path == "/health" || path == "/health_generate"; (status != 401) != free {
					t.Errorf("%s %s without the key: %d", method, path, status)
				}
			}
		}
	})
}

// A server without a key is open where others can reach it.
func TestOpen(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1": false, "127.8.0.1": false, "::1": false, "0.0.0.0": true, "::": true, "10.0.0.1": true, "fe80::1": true,
	} {
		at := &net.TCPAddr{IP: net.ParseIP(address)}
		if got := (Config{}).Open(at); got != want {
			t.Errorf("%s: %v", address, got)
		}
		if (Config{APIKey: "k"}).Open(at) {
			t.Errorf("%s is open with a key", address)
		}
	}
}

func TestContentTypeMustBeJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		status, body := r.whole("POST", completions, `{"prompt":"a"}`, "Content-Type", "text/plain")
		if status != 400 || !strings.Contains(body, "Only 'application/json' is allowed") {
			t.Errorf("%d %s", status, body)
		}
		if status, _ := r.whole("POST", completions, `{"prompt":"a"}`, "Content-Type",
			"application/json; charset=utf-8"); status != 200 {
			t.Errorf("with a charset: %d", status)
		}
	})
}
