package cli

import (
	"slices"
	"testing"

	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

func TestSecretHeaders(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "proxy-authorization": true, "Authentication": true, "X-Api-Key": true, "api_key": true,
		"X-Api-Keys": true, "X-AuthToken": true, "X-Access-Tokens": true, "X-Cookies": true, "X-Credentials": true, "X-Password": true,
		"Keep-Alive": false, "X-Plain": false, "X-Run": false, "Accept": false,
	} {
		if secretHeader(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func TestSecretsAreHiddenAndNothingElse(t *testing.T) {
	secrets := slices.Concat(secretsIn("Bearer sk-verysecret"), secretsIn("session=abcdefghij; theme=dark"), secretsIn("0"))
	for text, want := range map[string]string{
		"bad key: sk-verysecret":        "bad key: ***",
		"got Bearer sk-verysecret":      "got ***", // not "Bearer ***"
		"no session abcdefghij":         "no session ***",
		"http://127.0.0.1:8000 is dark": "http://127.0.0.1:8000 is dark",
	} {
		if got := endpoint.Hide(text, secrets); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
