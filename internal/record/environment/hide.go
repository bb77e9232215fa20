package environment

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/secret"
)

// Hide keeps what is no secret of a process: its arguments with secrets masked, and the
// variables whose names do not say that they are one. known are secrets from elsewhere; nil:
// none. own are those that it found.
func Hide(p *Process, known *secret.Set) (own *secret.Set) {
	own = new(secret.Set)
	own.Add(secret.InArgs(p.Args)...)
	kept := map[string]string{}
	for name, value := range p.Env {
		if !private(name, value) {
			kept[name] = value
		} else if secret.Setting(variable(name)) { // it may stand in an argument too
			own.Add(secret.InHeader(value)...)
		}
	}
	hide := func(text string) string { return clean(secret.Mask(known.Hide(own.Hide(text)))) }
	p.Args = maskArgs(p.Args)
	for i, arg := range p.Args {
		p.Args[i] = hide(arg)
	}
	p.Env = map[string]string{}
	for name, value := range kept {
		p.Env[hide(name)] = hide(value)
	}
	p.Dir = hide(p.Dir)
	return own
}

// private reports whether a variable is not kept. The broad rule of headers goes for its name,
// but for words such as those of TOKENIZERS_PARALLELISM with a value that is no secret.
func private(name, value string) bool {
	lower := variable(name)
	if secret.Setting(lower) || strings.HasSuffix(lower, "_pwd") || strings.HasSuffix(lower, "_pass") || strings.HasSuffix(lower, "_dsn") {
		return true
	}
	return secret.Header(lower) && !slices.Contains([]string{"", "0", "1", "true", "false"}, strings.ToLower(value))
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
		named := secret.Setting(strings.TrimLeft(name, "-"))
		switch {
		case joined && named && value != "":
			out[i], hiding = name+"="+secret.Mark, false
		case flag:
			hiding = named && !joined
		case hiding:
			out[i] = secret.Mark
		}
		if flag && (name == "-H" || name == "--header") && i+1 < len(out) {
			out[i+1] = maskHeader(out[i+1])
		}
	}
	return out
}

// maskHeader hides the value of a header: NAME: VALUE or NAME=VALUE.
func maskHeader(arg string) string {
	at := strings.IndexAny(arg, ":=")
	if at < 0 || !secret.Header(arg[:at]) {
		return arg
	}
	return arg[:at+1] + secret.Mark
}
