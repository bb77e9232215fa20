package cli

import (
	"path"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/session"
)

// A foreignClient is a command that Pitot stands in for.
type foreignClient int

// The clients.
const (
	clientVLLM      foreignClient = iota // vllm bench serve
	clientVLLMRust                       // vllm-rs bench serve: the same with other defaults
	clientVLLMSweep                      // vllm bench sweep serve
	clientSGLang                         // sglang.bench_serving
)

var clientNames = []struct {
	words  string
	client foreignClient
}{
	{"vllm bench serve", clientVLLM},
	{"vllm bench sweep serve", clientVLLMSweep},
	{"vllm-rs bench serve", clientVLLMRust},
	{"vllm-bench", clientVLLMRust},
	{"sglang bench_serving", clientSGLang},
	{"sglang bench-serving", clientSGLang},
	{"python -m sglang.bench_serving", clientSGLang},
	{"python -m sglang.benchmark.serving", clientSGLang},
	{"python bench_serving.py", clientSGLang},
	{"python -m vllm.entrypoints.cli.main bench serve", clientVLLM},
	{"python -m vllm.entrypoints.cli.main bench sweep serve", clientVLLMSweep},
	{"python benchmark_serving.py", clientVLLM},
}

type foreignLine struct {
	foreignClient
	Called []string // the words ahead of the flags, as they were typed
	Flags  []string
}

// foreignLineOf splits a command line. Its first word is the program.
func foreignLineOf(words []string) (foreignLine, error) {
	plain := straight(words)
	for _, n := range clientNames {
		name := strings.Fields(n.words)
		if len(plain) >= len(name) && slices.Equal(plain[:len(name)], name) {
			at := len(words) - len(plain) + len(name)
			return foreignLine{n.client, words[:at:at], words[at:]}, nil
		}
	}
	var known []string
	for _, n := range clientNames {
		if strings.HasPrefix(n.words, plain[0]+" ") {
			known = append(known, "pitot "+n.words+" <flags>")
		}
	}
	if !slices.ContainsFunc(words[1:min(3, len(words))], flags.HelpFlag) {
		return foreignLine{}, session.Usagef("pitot does not know this %s command; it knows %s", plain[0], strings.Join(known, ", "))
	}
	l := foreignLine{clientSGLang, words[:1], []string{"--help"}}
	if strings.HasPrefix(plain[0], "vllm") {
		l.foreignClient = clientVLLM
	}
	return l, nil
}

// straight is a command line as it stands in names: programs and scripts by their file names
// alone, Python without the interpreter's own options.
func straight(words []string) []string {
	program, args := path.Base(words[0]), words[1:]
	if program != "python" && program != "python3" {
		return slices.Concat([]string{program}, args)
	}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && !strings.HasPrefix(args[0], "-m") && !strings.HasPrefix(args[0], "-c") {
		args = args[1:] // -u and its like
	}
	if len(args) == 0 {
		return []string{"python"}
	}
	if module, joined := strings.CutPrefix(args[0], "-m"); joined && module != "" {
		return slices.Concat([]string{"python", "-m", module}, args[1:])
	}
	return slices.Concat([]string{"python", path.Base(args[0])}, args[1:])
}
