package result

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// maxSettings is how many settings of a result are kept: some tools repeat the
// whole configuration of a server.
const maxSettings = 500

// setting keeps one, unless its name says that it is a secret.
func (f *Draft) setting(name, value string) {
	if secret(name) || value == "" || len(f.Origin.Setup) >= maxSettings {
		return
	}
	if f.Origin.Setup == nil {
		f.Origin.Setup = map[string]string{}
	}
	f.Origin.Setup[name] = MaskValue(value)
}

// Settings keeps the members of o under dotted names, but for those that skip
// names by the same.
func (f *Draft) Settings(prefix string, o *Object, skip func(name string) bool) {
	for name, v := range o.All() {
		if full := prefix + name; !secret(name) && (skip == nil || !skip(full)) {
			f.settingOf(full, v, skip)
		}
	}
}

func (f *Draft) settingOf(name string, v any, skip func(string) bool) {
	switch v := v.(type) {
	case *Object:
		f.Settings(name+".", v, skip)
	case *List:
		f.settingsIn(name, v, skip)
	default:
		if text, ok := scalarText(v); ok {
			f.setting(name, text)
		}
	}
}

// settingsIn keeps the items of a short array: scalars in one setting, the only
// item as if there were no array.
func (f *Draft) settingsIn(name string, l *List, skip func(string) bool) {
	if len(l.Items) == 1 {
		f.settingOf(name, l.Items[0], skip)
		return
	}
	var texts []string
	for i, item := range l.Items {
		if text, ok := scalarText(item); ok {
			texts = append(texts, text)
		} else {
			f.settingOf(fmt.Sprintf("%s.%d", name, i), item, skip)
		}
	}
	f.setting(name, strings.Join(texts, ", "))
}

// secretWords are parts of names whose values are not kept. A part is what stands
// between points, dashes and underscores: max_tokens is no secret.
var secretWords = []string{
	"key", "apikey", "token", "secret", "secrets", "auth", "authorization", "bearer", "password", "passwd", "passphrase",
	"cookie", "cookies", "credential", "credentials", "header", "headers",
}

func secret(name string) bool {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("._- :/", r) })
	return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(secretWords, part) })
}

// What may stand for a secret within a text: an option of a command line, a user
// in a URL, and what many services start their keys with.
var maskings = []struct {
	find *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`(?i)(--?[a-z0-9_-]*(?:key|token|secret|auth|password|header|cookie)s?[= ]+)('[^']*'|"[^"]*"|[^\s'"]+)`), "${1}***"},
	{regexp.MustCompile(`(?i)((?:^|\s)-H[= ]*)('[^']*'|"[^"]*"|[^\s'"]+)`), "${1}***"},
	{regexp.MustCompile(`(?i)(bearer\s+)[^\s'",]+`), "${1}***"},
	{regexp.MustCompile(`(://)[^/@\s'"]+@`), "${1}***@"},
	{regexp.MustCompile(`\b(sk|hf|nvapi)([-_])[A-Za-z0-9_-]{8,}`), "${1}${2}***"},
}

// MaskValue hides what may stand for a secret within a text.
func MaskValue(s string) string {
	for _, m := range maskings {
		s = m.find.ReplaceAllString(s, m.with)
	}
	return s
}
