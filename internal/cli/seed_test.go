package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// caching is a server that has every prompt that it was sent before in its cache.
func caching() http.Handler {
	var mu sync.Mutex
	seen := map[string]bool{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
			return
		}
		var body struct {
			Prompt json.RawMessage `json:"prompt"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		mu.Lock()
		cached := 0
		if seen[string(body.Prompt)] {
			cached = 250
		}
		seen[string(body.Prompt)] = true
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":\"length\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":256,\"completion_tokens\":1,\"prompt_tokens_details\":{\"cached_tokens\":%d}}}\n\ndata: [DONE]\n\n", cached)
	})
}

// Only bench of a server draws a seed, says which, and keeps it; whatever names one keeps that.
func TestSeedsOfRuns(t *testing.T) {
	race.Skip(t)
	const server = "bench --url http://engine:80 -n 2 --output-len 1 --warmup 0"
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		defer v.serve(t, caching())()
		settings := filepath.Join(t.TempDir(), "settings.yaml")
		if err := os.WriteFile(settings, []byte("seed: 7\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		seedOf := func(line string) (seed uint64, found bool) {
			v.stderr.Reset()
			v.Args = append(strings.Fields(line), "--store", v.store, "--tokenizer", "none")
			if code := Run(v.Session); code != exitOK {
				t.Fatalf("%s: exit code %d\n%s", line, code, &v.stderr)
			}
			seed = v.last(t).Run.Plan.Seed
			return seed, strings.HasPrefix(v.stderr.String(), fmt.Sprintf("seed %d, as none is given\n", seed))
		}
		one, found := seedOf(server)
		two, again := seedOf(server)
		if one == two || !found || !again {
			t.Errorf("seeds %d and %d, said %v and %v:\n%s", one, two, found, again, &v.stderr)
		}
		if first := v.last(t).Run.Plan.Spec; first.Seed != two {
			t.Errorf("the plan has %d, the run %d", first.Seed, two)
		}
		for line, want := range map[string]uint64{
			server + " --seed 0":             0,
			server + " --config " + settings: 7,
			"sim -n 2":                       0,
			server + " --seed 3 --repeat 2":  4,
		} {
			if seed, drawn := seedOf(line); seed != want || drawn {
				t.Errorf("%s: seed %d, drawn %v, want %d", line, seed, drawn, want)
			}
		}
	})
}

// The same requests twice find their prompts in the server's cache: the report says so, and from which run; compare does not
// take the difference for one.
func TestTheSamePromptsTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		defer v.serve(t, caching())()
		bench := func(name, more string) string {
			v.stdout.Reset()
			v.Args = append(strings.Fields("bench --all -q --url http://engine:80 -n 20 -c 2 --output-len 1 --collect none --name "+name+" "+more), "--store", v.store, "--tokenizer", "none")
			if code := Run(v.Session); code != exitOK {
				t.Fatalf("exit code %d\n%s", code, &v.stderr)
			}
			return v.stdout.String()
		}
		if first := bench("one", "--seed 5"); strings.Contains(first, "cache") {
			t.Errorf("the first run:\n%s", first)
		}
		before := v.last(t).Run.ID
		second := bench("two", "--seed 5")
		for _, want := range []string{
			`cache +97.7 % of the prompt tokens cached, by the answers`,
			`note: 9\d.\d % of the prompt tokens were in the server's cache before this run, from run ` + before + `, which sent these prompts: --cache cold, or another --seed, measures without them`,
		} {
			if !regexp.MustCompile(want).MatchString(strings.Join(strings.Fields(second), " ")) {
				t.Errorf("no %q in\n%s", want, second)
			}
		}
		if third := bench("three", "--seed 6"); strings.Contains(third, "cache") {
			t.Errorf("a run with another seed:\n%s", third)
		}
		v.stdout.Reset()
		v.Args = []string{"compare", "one", "two", "--store", v.store}
		code := Run(v.Session)
		output := strings.Join(strings.Fields(v.stdout.String()), " ")
		for _, want := range []string{"differs cached-before: 0.0 % | 9", "nothing is judged: the server had more of the prompts of one side in its cache"} {
			if code != exitOK || !strings.Contains(output, want) {
				t.Errorf("exit code %d, no %q in\n%s", code, want, v.stdout.String())
			}
		}
		v.stdout.Reset()
		v.Args = []string{"runs", "diff", "one", "two", "--store", v.store}
		if Run(v.Session); !strings.Contains(v.stdout.String(), "cached-before") {
			t.Errorf("%s does not name %s", &v.stdout, compare.CachesDiffer)
		}
	})
}
