package argparse

import (
	"regexp"
	"slices"
	"strings"
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
	return Mask(value)
}

var (
	secretPair = regexp.MustCompile(`(?i)((?:(?:api[_-]?key|authorization|password|passwd|secret|cookie|(?:hf|access|auth)[_-]?token)["']?\s*[:=]|\b(?:token|auth|key)(?:=|["']\s*:))\s*["']?)(?:(?:bearer|basic)\s+)?[^\s"',}]+`)
	secretFlag = regexp.MustCompile(`(?i)(--[\w-]*(?:key|token|password|secret|auth)[ =]["']?)[^\s"']+`)
	headerFlag = regexp.MustCompile(`(?i)((?:--header|\s-H)[ =]["']?[^\s"'=:]+["']?[=:]\s*["']?)(?:bearer\s+|basic\s+)?[^\s"']+`)
	bearer     = regexp.MustCompile(`(?i)(bearer\s+)[^\s"',}*]+`)
	// issued is what services begin their keys with.
	issued   = regexp.MustCompile(`\b((?:sk|hf|ghp|gho|glpat|xox[abp]|nvapi|gsk)[-_])[\w-]{8,}`)
	userInfo = regexp.MustCompile(`(://)[^/\s@]+@`)
)

// shortestSecret is the length of a text that may have one, with its name.
const shortestSecret = 5

// Mask hides what looks like a secret in a text: what stands behind the name of
// one, and the user of a URL.
func Mask(text string) string {
	if len(text) < shortestSecret {
		return text
	}
	for _, secret := range []*regexp.Regexp{headerFlag, secretFlag, secretPair, bearer} {
		text = secret.ReplaceAllString(text, "${1}***")
	}
	text = issued.ReplaceAllString(text, "${1}***")
	return userInfo.ReplaceAllString(text, "${1}")
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
