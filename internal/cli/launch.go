package cli

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// A launcher is a program that runs the command line behind it.
type launcher struct {
	valued []string // its options that take the next word
	words  int      // that it takes besides options: a mask, a container
	until  string   // the word that ends its own
}

var launchers = map[string]launcher{
	"env": {}, "nohup": {}, "time": {}, "exec": {}, "nice": {valued: []string{"-n"}}, "sudo": {valued: []string{"-u"}},
	"stdbuf":  {},
	"taskset": {valued: []string{"-c", "-pc", "-cp", "--cpu-list"}},
	"numactl": {valued: []string{"-C", "-N", "-m", "-p", "-i"}},
	"uv run":  {}, "poetry run": {}, "srun": {valued: []string{"-n", "-N", "-w", "-p", "-c"}},
	"docker exec":  {valued: containerOptions, words: 1},
	"podman exec":  {valued: containerOptions, words: 1},
	"nerdctl exec": {valued: containerOptions, words: 1},
	"kubectl exec": {until: "--"},
}

var containerOptions = []string{"-e", "--env", "-w", "--workdir", "-u", "--user", "--env-file"}

var assignment = lazy.Regexp(`^[A-Za-z_]\w*=`)

// unlaunched is the command line of another tool behind variables and programs that launch it, and those; launched is
// empty where nothing stands ahead, or what follows is no command line of a tool.
func unlaunched(words []string) (line, launched []string) {
	rest := words
	for len(rest) > 0 && !isTool(rest) {
		n := launchWords(rest)
		if n == 0 || n > len(rest) {
			return words, nil
		}
		rest = rest[n:]
	}
	if len(rest) == 0 {
		return words, nil
	}
	return rest, words[:len(words)-len(rest)]
}

// withoutLaunchers takes off the arguments what would launch a command line of another tool, and says so: the variables
// and programs would apply to Pitot, ahead of which they may stand. It refuses tools that Pitot does not stand in for.
func withoutLaunchers(sess *session.Session) error {
	at := 0
	if len(sess.Args) > 0 && sess.Args[0] == "plan" {
		if at = slices.Index(sess.Args, "--") + 1; at == 0 {
			return nil
		}
	}
	line, launched := unlaunched(sess.Args[at:])
	if len(line) > 0 && isTool(line) {
		if err := notOurs(line); err != nil {
			return err
		}
	}
	if len(launched) > 0 {
		text := "left out: " + shell.Join(launched)
		if at == 0 {
			text += " (put it ahead of pitot, if it is for this machine)"
		}
		fmt.Fprintln(sess.Stderr, "note: "+plain.Line(secret.Mask(text)))
		sess.Args = slices.Concat(sess.Args[:at], line)
	}
	return nil
}

// isTool reports whether a command line begins as one of another tool.
func isTool(words []string) bool {
	plain := straight(words)
	return slices.Contains([]string{"vllm", "vllm-rs", "vllm-bench", "sglang", "python", "python3", "evalscope", "ais_bench"}, plain[0])
}

// launchWords is how many words the launcher takes that a command line begins with, 0 if it begins with none. A mask
// of processors, which taskset takes in place of -c, is one of them.
func launchWords(words []string) int {
	if assignment.MatchString(words[0]) {
		return 1
	}
	name, n := path.Base(words[0]), 1
	if len(words) > 1 {
		if _, ok := launchers[name+" "+words[1]]; ok {
			name, n = name+" "+words[1], 2
		}
	}
	l, ok := launchers[name]
	switch {
	case !ok:
		return 0
	case l.until != "":
		return slices.Index(words, l.until) + 1
	}
	options := 0
	for n < len(words) && strings.HasPrefix(words[n], "-") {
		if slices.Contains(l.valued, words[n]) {
			n++
		}
		n, options = n+1, options+1
	}
	if name == "taskset" && options == 0 {
		n++
	}
	return n + l.words
}
