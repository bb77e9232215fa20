// Package foreign says which client a command line of another tool is of, by whatever name
// it is called: the program, a module or a script of Python, the same client in another
// language. It decides by words alone; the flags are for who knows that client.
package foreign

import (
	"path"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/cli/help"
	"github.com/pitot-bench/pitot/internal/session"
)

// A Client is a command that Pitot stands in for.
type Client int

// The clients.
const (
	VLLM      Client = iota // vllm bench serve
	VLLMRust                // vllm-rs bench serve: the same with other defaults
	VLLMSweep               // vllm bench sweep serve
	SGLang                  // sglang.bench_serving
)

// names are what clients are called.
var names = []struct {
	words  string
	client Client
}{
	{"vllm bench serve", VLLM},
	{"vllm bench sweep serve", VLLMSweep},
	{"vllm-rs bench serve", VLLMRust},
	{"vllm-bench", VLLMRust},
	{"sglang bench_serving", SGLang},
	{"sglang bench-serving", SGLang},
	{"python -m sglang.bench_serving", SGLang},
	{"python -m sglang.benchmark.serving", SGLang},
	{"python bench_serving.py", SGLang},
	{"python -m vllm.entrypoints.cli.main bench serve", VLLM},
	{"python -m vllm.entrypoints.cli.main bench sweep serve", VLLMSweep},
	{"python benchmark_serving.py", VLLM},
}

// A Line is a command line of a client.
type Line struct {
	Client
	Called []string // the words ahead of the flags, as they were typed
	Flags  []string
}

// Of takes a command line apart. Its first word is the program.
func Of(words []string) (Line, error) {
	plain := straight(words)
	for _, n := range names {
		name := strings.Fields(n.words)
		if len(plain) >= len(name) && slices.Equal(plain[:len(name)], name) {
			at := len(words) - len(plain) + len(name)
			return Line{n.client, words[:at:at], words[at:]}, nil
		}
	}
	var known []string
	for _, n := range names {
		if strings.HasPrefix(n.words, plain[0]+" ") {
			known = append(known, "pitot "+n.words+" <flags>")
		}
	}
	if !slices.ContainsFunc(words[1:min(3, len(words))], help.Flag) {
		return Line{}, session.Usagef("pitot does not know this %s command; it knows %s", plain[0], strings.Join(known, ", "))
	}
	l := Line{SGLang, words[:1], []string{"--help"}}
	if strings.HasPrefix(plain[0], "vllm") {
		l.Client = VLLM
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
