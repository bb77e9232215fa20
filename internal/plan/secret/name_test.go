package secret

import (
	"slices"
	"testing"
)

func TestHeaderNames(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "proxy-authorization": true, "Authentication": true, "X-Api-Key": true, "api_key": true,
		"X-Api-Keys": true, "X-AuthToken": true, "X-Access-Tokens": true, "X-Cookies": true, "X-Credentials": true, "X-Password": true,
		"Keep-Alive": false, "X-Plain": false, "X-Run": false, "Accept": false,
	} {
		if Header(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func TestSecretsInAHeader(t *testing.T) {
	for value, want := range map[string][]string{
		"Bearer sk-verysecret":           {"Bearer sk-verysecret", "sk-verysecret"},
		"session=abcdefghij; theme=dark": {"session=abcdefghij; theme=dark", "session=abcdefghij", "abcdefghij", "theme=dark"},
		"0":                              nil,
	} {
		if got := InHeader(value); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func TestPair(t *testing.T) {
	for pair, want := range map[string]string{"X-Api-Key=abc": "X-Api-Key=***", "X-Api-Key=": "X-Api-Key=", "X-Run=7": "X-Run=7", "X-Api-Key": "X-Api-Key", "X-Subscription=sk-torture-5f0e9c41d7": "X-Subscription=***"} {
		if got := Pair(pair); got != want {
			t.Errorf("%q: %q, want %q", pair, got, want)
		}
	}
}
