package environment

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// Hide removes the secrets of a process: it masks them in its arguments, and drops variables
// that are secrets by their names. known are secrets from elsewhere; nil: none. own are those
// that it found.
func Hide(p *Process, known *secret.Set) (own *secret.Set) {
	own = new(secret.Set)
	own.Add(secret.InArgs(p.Args)...)
	out := map[string]string{}
	for name, value := range p.Env {
		if !private(name, value) {
			out[name] = value
		} else if secret.Setting(variable(name)) { // it may stand in an argument too
			own.Add(secret.InHeader(value)...)
		}
	}
	hide := func(text string) string { return clean(secret.Mask(maskPairs(known.Hide(own.Hide(text))))) }
	p.Args = maskArgs(p.Args)
	for i, arg := range p.Args {
		p.Args[i] = hide(arg)
	}
	p.Env = map[string]string{}
	for name, value := range out {
		p.Env[hide(name)] = hide(value)
	}
	p.Dir = hide(p.Dir)
	return own
}

// private reports whether a variable is left out. The broad rule of headers applies to its
// name, except for words such as those of TOKENIZERS_PARALLELISM with a value that is no secret.
func private(name, value string) bool {
	lower := variable(name)
	switch {
	case lower == "pwd" || lower == "oldpwd": // folders
		return false
	case named(lower) || strings.HasSuffix(lower, "pwd") || strings.HasSuffix(lower, "pass") ||
		strings.Contains(value, "PRIVATE KEY-----"):
		return true
	}
	return secret.Header(lower) && !slices.Contains([]string{"", "0", "1", "true", "false"}, strings.ToLower(value))
}

// named reports whether the name of a variable or a flag says that it is a secret.
func named(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("._- ", r) })
	return secret.Setting(name) || slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains(abbreviations, w)
	})
}

// abbreviations are further words of names of secrets, as variables and flags of servers have them.
var abbreviations = []string{
	"pw", "pwd", "pass", "pat", "jwt", "cred", "creds", "dsn", "sas", "salt", "private", "signing", "session", "webhook",
	"license", "licence",
}

func variable(name string) string { return strings.ToLower(name) }

// maskArgs hides the values of flags that are named like a secret, however short they are:
// --api-key=X, --api-key X, and all of --api-key X Y.
func maskArgs(args []string) []string {
	out := slices.Clone(args)
	hiding := false
	for i, arg := range out {
		name, value, joined := strings.Cut(arg, "=")
		flag := strings.HasPrefix(arg, "-") && len(arg) > 1
		hides := named(strings.TrimLeft(name, "-"))
		switch {
		case joined && hides && value != "":
			out[i], hiding = name+"="+secret.Mark, false
		case flag:
			hiding = hides && !joined
		case hiding:
			out[i] = secret.Mark
		}
		if flag && (name == "-H" || name == "--header") && i+1 < len(out) {
			out[i+1] = maskHeader(out[i+1])
		}
	}
	return out
}

// assignment is NAME=VALUE within a script: sh -c 'A=1 MY_TOKEN=X run'.
var assignment = lazy.Regexp(`([A-Za-z_][\w.-]*)=('[^']*'|"[^"]*"|[^\s'";&|]+)`)

// Mask hides the secrets of a line of a note.
func Mask(line string) string { return secret.Mask(maskPairs(line)) }

// maskPairs hides the values of assignments that are secrets by their names.
func maskPairs(arg string) string {
	if !strings.Contains(arg, "=") {
		return arg
	}
	return assignment.ReplaceAllStringFunc(arg, func(pair string) string {
		name, _, _ := strings.Cut(pair, "=")
		ends := func(end string) bool { return strings.HasSuffix(variable(name), end) }
		if named(name) || slices.ContainsFunc([]string{"key", "token", "secret", "password", "pass", "pwd"}, ends) {
			return name + "=" + secret.Mark
		}
		return pair
	})
}

// maskHeader hides the value of a header: NAME: VALUE or NAME=VALUE.
func maskHeader(arg string) string {
	at := strings.IndexAny(arg, ":=")
	if at < 0 || !secret.Header(arg[:at]) {
		return arg
	}
	return arg[:at+1] + secret.Mark
}
