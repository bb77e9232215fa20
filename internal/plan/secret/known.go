package secret

import (
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// certain are keys of unmistakable form: of Amazon, Google, SendGrid, Vault, Databricks, the seeds of NATS, and
// JSON Web Tokens, which begin with the base64 of {".
var certain = lazy.Regexp(`()\b((?:AKIA|ASIA)[0-9A-Z]{16}\b|AIza[\w-]{35}|ya29\.[\w-]{20,}|` +
	`SG\.[\w-]{16,}\.[\w-]{16,}|hvs\.[\w-]{20,}|dapi[0-9a-f]{32}\b|S[ACNOUX][A-Z2-7]{56}\b|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){0,3})`)

// prefixed is what services begin their keys with, and what follows: a key if it is random.
var prefixed = lazy.Regexp(`\b((?:sk|rk|csk|hf|api_org|gh[pousr]|github_pat|` +
	`gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat)|xox[a-z]|xapp|` +
	`nvapi|gsk|xai|pplx|r8|fw|tgp_v1|dop_v1|lsv2_(?:pt|sk)|rpa|npm|pypi|dckr_pat|tvly|sess|jina|` +
	`esecret|shpat|ms)[-_])([\w-]{6,})`)

// A measure says from how many characters on a part of a key looks drawn at random, by how many
// digits it has.
type measure struct{ none, one, two, three int }

var (
	// surely is for texts in which anything can stand: sk-learn, hf_transfer and a model named
	// sk-large-70b-20250101 are no keys.
	surely = measure{none: 16, one: 16, two: 10, three: 9}
	// likely is for a value that is nothing else, and for text that is only displayed.
	likely = measure{none: 10, one: 6, two: 6, three: 6}
)

// random reports whether a part between hyphens and underscores looks drawn.
func (m measure) random(body string) bool {
	for part := range strings.FieldsFuncSeq(body, func(r rune) bool { return r == '-' || r == '_' }) {
		digits := 0
		for _, c := range []byte(part) {
			if '0' <= c && c <= '9' {
				digits++
			}
		}
		if len(part) >= [...]int{m.none, m.one, m.two, m.three}[min(digits, 3)] {
			return true
		}
	}
	return false
}

// maskKey hides a key that is likely one, behind the prefix of its service.
func maskKey(text string) string {
	parts := prefixed.FindStringSubmatch(text)
	if !likely.random(parts[2]) {
		return text
	}
	return parts[1] + Mark
}

// Known reports whether a value must not be repeated, whatever its name: it is a key of a known form, or has
// something in it that Find finds.
func Known(value string) bool {
	parts := prefixed.FindStringSubmatch(value)
	return parts != nil && parts[0] == value && likely.random(parts[2]) || len(Find(value)) > 0
}

// Pair hides the value of a NAME=VALUE pair if its name or its value is secret.
func Pair(pair string) string {
	if name, value, ok := strings.Cut(pair, "="); ok && value != "" && (Header(name) || Known(value)) {
		return name + "=" + Mark
	}
	return pair
}
