package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func setOf(secrets ...string) *Set {
	s := new(Set)
	s.Add(secrets...)
	return s
}

// Whatever a text is encoded by, nothing that decodes to the secret is left of it.
func TestHideInEveryForm(t *testing.T) {
	quoted := func(s string) string {
		b, _ := json.Marshal(s)
		return string(b)
	}
	encoders := map[string]func(string) string{
		"plain": func(s string) string { return s }, "query": url.QueryEscape, "path": url.PathEscape, "html": html.EscapeString, "go": strconv.Quote,
		"json": quoted, "json in json": func(s string) string { return quoted(quoted(s)) }, "query twice": func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
		"hex": func(s string) string { return hex.EncodeToString([]byte(s)) }, "ascii": strconv.QuoteToASCII,
		"base64":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"base64 url": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
		"unicode":    func(s string) string { return escapeAll(s, `\u%04x`) }, "percent": func(s string) string { return escapeAll(s, "%%%02X") },
	}
	for _, secret := range []string{"sk-verysecret", `a/b+c"d\e f&g`, "pässwört", "MDEyMzQ1Njc4OWFiY2RlZg==", strings.Repeat("long-", 200)} {
		s := setOf(secret)
		for name, encode := range encoders {
			if name == "percent" && secret == "pässwört" { // its bytes, not its characters, are escaped so
				continue
			}
			for _, ahead := range []string{"", "u", "us", "user:"} {
				if len(secret) > longestLoose && (name == "unicode" || name == "percent") {
					continue // which nothing writes for letters
				}
				text := encode(ahead + secret + "!")
				got := s.Hide(text)
				if got == text || !strings.Contains(got, Mark) || len(got) > len(text)-len(secret)/2 {
					t.Errorf("%s of %.30q: %.80q", name, ahead+secret, got)
				}
			}
		}
	}
}

// escapeAll writes every character by a verb.
func escapeAll(s, verb string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, verb, r)
	}
	return b.String()
}

// What is too short or too common is not searched for.
func TestWorth(t *testing.T) {
	for value, want := range map[string]bool{
		"": false, "0": false, "abcde": false, "abcdef": true, "EMPTY": false, "none": false, "Ollama": false, "xxxxxxxx": false, "********": false,
		"12345678": false, "123456789012": true, "<|im_end|>": false, "completions": false, "hunter2": true, "sk-***": false, "sk-no-key-required": false,
	} {
		if Worth(value) != want {
			t.Errorf("%q: %v", value, !want)
		}
	}
}

// The longest goes first: no rest of one stays behind another.
func TestSecretsWithinSecrets(t *testing.T) {
	if got := setOf("canary", "my-canary-key", "canary").Hide("my-canary-key, canary"); got != "***, ***" {
		t.Error(got)
	}
	var none *Set
	none.Add("sk-verysecret")
	if got := none.Hide("sk-verysecret"); got != "sk-verysecret" {
		t.Error(got)
	}
}

// An excerpt that ends within a secret ends ahead of it; a short text is no excerpt.
func TestExcerpts(t *testing.T) {
	s := setOf(`CANARY-in-"quotes"`)
	ahead := strings.Repeat("malformed ", 6)
	for text, want := range map[string]string{
		fmt.Sprintf("%.72q", ahead+`CANARY-in-"quotes"`): `"` + ahead + `***"`,
		ahead + "CANARY-i…":                              ahead + "***…",
		ahead + "CANARY":                                 ahead + "CANARY",
		ahead + base64.StdEncoding.EncodeToString([]byte("user:CANARY-in-\"quotes\""))[:20] + "…": ahead + "dXNlcjp***…",
		"CANARY-in": "CANARY-in",
	} {
		if got := s.Hide(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestHideJSON(t *testing.T) {
	s := setOf(`sk-"quoted"`)
	for text, want := range map[string]string{
		`{"a": "b\n", "n": 1.50}`:                    `{"a": "b\n", "n": 1.50}`,
		`{"sk-\"quoted\"": ["x sk-\u0022quoted\""]}`: `{"***": ["x ***"]}`,
		`{"cut": "sk-\"quoted\"`:                     `{"cut": "***`,
		``:                                           ``,
	} {
		if got := string(s.HideJSON([]byte(text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Secrets are learned from the settings of a run by their names, and from no others.
func TestAddJSON(t *testing.T) {
	s := new(Set)
	s.AddJSON(json.RawMessage(`{"request": {"body": {"api_key": "canary-1", "max_tokens": "canary-2", "stop": ["canary-3"]}}, "target": {
		"url": "http://user:canary-4@host/x?key=canary-5&n=1", "key": {"env": "CANARY_6"}, "headers": [{"name": "X-Api-Key", "value": "canary-7"}, {"name": "X-Run", "value": "canary-8"}]}}`))
	want := "*** canary-2 canary-3 *** *** CANARY_6 *** canary-8"
	if got := s.Hide("canary-1 canary-2 canary-3 canary-4 canary-5 CANARY_6 canary-7 canary-8"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestInArgs(t *testing.T) {
	args := []string{
		"bench", "--url", "http://h/?key=canary-1", "--header", "X-Api-Key=canary-2", "--api-key-env", "CANARY_3", "--tls-key", "canary-4",
		"--api-key", "canary-5", "--extra-body.api_key=canary-6", "--max-tokens", "canary-7", "--body", `{"token": "canary-8"}`, "--tokenizer", "canary-9",
	}
	want := "*** *** CANARY_3 canary-4 *** *** canary-7 *** canary-9"
	if got := setOf(InArgs(args)...).Hide("canary-1 canary-2 CANARY_3 canary-4 canary-5 canary-6 canary-7 canary-8 canary-9"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestInEnv(t *testing.T) {
	env := map[string]string{"HF_TOKEN": "canary-1", "OPENAI_API_KEY": "canary-2", "https_proxy": "http://user:canary-3@proxy:1", "HOME": "canary-4"}
	got := setOf(InEnv(func(name string) string { return env[name] })...).Hide("canary-1 canary-2 canary-3 canary-4 http://user:canary-3@proxy:1")
	if want := "*** *** *** canary-4 http://***@proxy:1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestMaskLine(t *testing.T) {
	for line, want := range map[string]string{
		"X-Api-Key: canary-1 :":             "X-Api-Key: ***",
		`  "api_key": "canary-1",`:          `  "api_key": "***",`,
		"- token: 'canary-1'":               "- token: '***'",
		"api-key-env: CANARY_1":             "api-key-env: CANARY_1",
		"max_tokens: 123456":                "max_tokens: 123456",
		"url: http://me:canary-1@host/x":    "url: http://host/x",
		"header: Authorization=Bearer abcd": "header: Authorization=***",
	} {
		if got := MaskLine(line); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// Clean reaches every string, changes a copy, and leaves Pitot's own words.
func TestClean(t *testing.T) {
	type word string
	type inner struct {
		Texts []string
		Raw   json.RawMessage
		Any   any
		At    time.Time
		Err   error
	}
	type outer struct {
		Name  string
		Kind  word
		Below *inner
		None  *inner
		By    map[string]map[string]string
		Bytes []byte
	}
	const key = "sk-verysecret"
	at := time.Unix(1, 2)
	made := func(text string) outer {
		return outer{
			Name: "a " + text, Kind: key, Bytes: []byte(key),
			Below: &inner{Texts: []string{text}, Raw: json.RawMessage(`"` + text + `"`), Any: map[string]any{"x": []any{text, 1.0}}, At: at},
			By:    map[string]map[string]string{text: {"x": text}},
		}
	}
	before := made(key)
	got := Clean(setOf(key), before)
	if diff := cmp.Diff(made(Mark), got, cmp.AllowUnexported(time.Time{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(made(key), before); diff != "" {
		t.Errorf("the original changed: %s", diff)
	}
	cause := errors.New("no " + key)
	failed := Clean(setOf(key), inner{Err: cause})
	if failed.Err.Error() != "no ***" || !errors.Is(failed.Err, cause) {
		t.Error(failed.Err)
	}
}
