package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/test/race"
)

func TestCompletion(t *testing.T) {
	race.Skip(t)
	store := filepath.Join(t.TempDir(), "runs.db")
	run := func(args ...string) string {
		sess, stdout, stderr := process(t, nil, args...)
		sess.Env = func(name string) (string, bool) { return store, name == "PITOT_STORE" }
		if code := Run(sess); code != exitOK {
			t.Fatalf("%q: exit code %d: %s", args, code, stderr)
		}
		return stdout.String()
	}
	words := func(args ...string) string {
		var all []string
		for line := range strings.Lines(run(append([]string{"complete"}, args...)...)) {
			word, _, _ := strings.Cut(line, "\t")
			all = append(all, word)
		}
		return strings.Join(all, " ")
	}
	if got := words("runs", "show", ""); got != "" {
		t.Errorf("%q without a store", got)
	}
	run("sim", "-n", "1", "-q", "--name", "mine / 1", "--store", store)
	for line, want := range map[string]string{
		"be": "bench", "runs r": "report rm repair", "bench --warmup": "--warmup --warmup-measured --warmup-steady", "bench --client ": "h1 nethttp", "bench --cache ": "cold primed warm",
		"bench --rate 3 --protocol emb": "embeddings", "bench --report=v": "--report=vllm", "bench --report = v": "vllm", "bench -c 3 --report sg": "sglang",
		"bench --quiet --ini": "", "compare -f ma": "markdown", "bench --data ": "", "vllm ": "bench", "vllm bench ": "serve", "vllm bench serve --num": "--num-prompts --num-warmups",
		"sglang bench_serving --sh": "--sharegpt-context-len --sharegpt-output-len", "python ": "-m", "runs show min": "mine / 1", "runs show la": "last", "nothing ": words(""), "help pl": "plan", "--vers": "--version",
	} {
		if got := words(strings.Split(line, " ")...); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if !strings.Contains(run("completion", shell), " complete ") {
			t.Errorf("the script of %s does not ask Pitot", shell)
		}
	}
}
