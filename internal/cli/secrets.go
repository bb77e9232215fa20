package cli

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// minSecret is how long a value must be to be looked for in texts: a shorter
// one would be found in places that it has nothing to do with.
const minSecret = 8

// secretHeader tells names whose values must not be repeated anywhere. That it
// takes some for secret that are not costs little.
func secretHeader(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "key", "token", "secret", "passw", "cookie", "credential"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}

// secretsIn are what must not be repeated of a header's value: all of it, the
// credentials after a scheme like Bearer, and the values of cookies.
func secretsIn(value string) []string {
	var found []string
	add := func(s string) {
		if s = strings.TrimSpace(s); len(s) >= minSecret {
			found = append(found, s)
		}
	}
	add(value)
	for _, part := range strings.FieldsFunc(value, func(c rune) bool { return c == ' ' || c == ';' || c == ',' }) {
		add(part)
		_, cookie, _ := strings.Cut(part, "=")
		add(cookie)
	}
	return found
}

// maskHeader hides the value of a NAME=VALUE pair if its name asks for it.
func maskHeader(pair string) string {
	if name, value, ok := strings.Cut(pair, "="); ok && value != "" && secretHeader(name) {
		return name + "=***"
	}
	return pair
}

// maskFlag hides what is secret in the value of a flag.
func maskFlag(flag, value string) string {
	switch flag {
	case "--header":
		return maskHeader(value)
	case "--tenant", "--tenants", "--mix":
		var p part
		if p.UnmarshalText([]byte(value)) == nil {
			return p.String()
		}
	}
	return value
}

// maskedArgs are the process's arguments without secrets.
func (s *session) maskedArgs() []string {
	args := make([]string, len(s.Args))
	for i, arg := range s.Args {
		if name, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(name, "--") {
			arg = name + "=" + maskFlag(name, value)
		} else if i > 0 {
			arg = maskFlag(s.Args[i-1], arg)
		}
		args[i] = endpoint.Hide(arg, s.target.secrets)
	}
	return args
}

// masked hides secrets in settings.
func (s *session) masked(settings map[string]string) map[string]string {
	for name, text := range settings {
		settings[name] = endpoint.Hide(text, s.target.secrets)
	}
	return settings
}
