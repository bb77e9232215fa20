package python

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/secret"
)

// maskSetting hides what an argument has of secrets.
func maskSetting(name, value string) string {
	if value == "None" || value == "" {
		return value
	}
	if name == "header" || name == "headers" {
		return "***"
	}
	for _, word := range []string{"token", "key", "password", "secret"} {
		if slices.Contains(strings.Split(name, "_"), word) {
			return "***"
		}
	}
	return secret.Mask(value)
}

// MaskPair hides the value of NAME=VALUE.
func MaskPair(pair string) string {
	if name, value, _ := strings.Cut(pair, "="); value != "" {
		return name + "=***"
	}
	return pair
}

// MaskArgs is a command line with the values of headers hidden, and other what a function
// makes of everything else, if there is one. The name of a flag may be cut short, and what
// follows up to the next flag belongs to it.
func MaskArgs(args []string, other func(string) string) []string {
	out := slices.Clone(args)
	header := false
	for i, arg := range out {
		flag, value, joined := strings.Cut(arg, "=")
		isFlag := strings.HasPrefix(flag, "--")
		if isFlag {
			header = len(flag) > len("--h") && strings.HasPrefix("--header", flag)
		}
		switch {
		case isFlag && header && joined:
			out[i] = flag + "=" + MaskPair(value)
		case isFlag:
		case header:
			out[i] = MaskPair(arg)
		case other != nil:
			out[i] = other(arg)
		}
	}
	return out
}
