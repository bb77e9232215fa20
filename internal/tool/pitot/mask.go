package pitot

import (
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/secret"
)

// MaskedArgs are arguments of Pitot's own without secrets.
func MaskedArgs(args []string) []string {
	masked := make([]string, len(args))
	for i, arg := range args {
		if name, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(name, "--") {
			arg = name + "=" + maskFlag(name, value)
		} else if i > 0 {
			arg = maskFlag(args[i-1], arg)
		}
		masked[i] = arg
	}
	return masked
}

func maskFlag(flag, value string) string {
	switch flag {
	case "--header":
		return secret.Pair(value)
	case "--tenant", "--tenants", "--mix":
		return maskPart(value)
	case "--fleet":
		return secret.WithoutUser(value)
	}
	return value
}

func maskPart(text string) string {
	words, err := splitWords(text)
	if err != nil {
		return text
	}
	for i, w := range words {
		name, value, _ := strings.Cut(w, "=")
		if name == "header" {
			value = secret.Pair(value)
		}
		words[i] = name + "=" + quoted(value)
	}
	return strings.Join(words, " ")
}
