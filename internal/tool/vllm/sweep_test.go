package vllm

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/tool/python"
)

// The cases are what vLLM's own code made of the parameters.
func TestCombinationsAreThoseOfTheTool(t *testing.T) {
	b, err := os.ReadFile("testdata/combinations.json")
	if err != nil {
		t.Fatal(err)
	}
	var told struct {
		ServeCmd []string `json:"serve_cmd"`
		BenchCmd []string `json:"bench_cmd"`
		Cases    []struct {
			ServeParams string   `json:"serve_params"`
			BenchParams string   `json:"bench_params"`
			ServeIndex  int      `json:"serve_index"`
			BenchIndex  int      `json:"bench_index"`
			Serve       []string `json:"serve"`
			Bench       []string `json:"bench"`
			Folder      string   `json:"folder"`
			ServeRepr   string   `json:"serve_repr"`
			BenchRepr   string   `json:"bench_repr"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(b, &told); err != nil || len(told.Cases) < 12 {
		t.Fatal(err, len(told.Cases))
	}
	for _, c := range told.Cases {
		serves, err := ReadParams(c.ServeParams)
		benches, err2 := ReadParams(c.BenchParams)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		s, b := serves[c.ServeIndex], benches[c.BenchIndex]
		if got := s.Apply(told.ServeCmd); !slices.Equal(got, c.Serve) {
			t.Errorf("%s: serve %q, want %q", c.ServeParams, got, c.Serve)
		}
		if got := b.Apply(told.BenchCmd); !slices.Equal(got, c.Bench) {
			t.Errorf("%s: bench %q, want %q", c.BenchParams, got, c.Bench)
		}
		if got := Folder("E", s, b); got != c.Folder {
			t.Errorf("folder %s, want %s", got, c.Folder)
		}
		if s.String() != c.ServeRepr || b.String() != c.BenchRepr {
			t.Errorf("%s and %s, want %s and %s", s, b, c.ServeRepr, c.BenchRepr)
		}
	}
}

func TestWrongParams(t *testing.T) {
	for text, why := range map[string]string{
		"3": "must be a list", "[3]": "where an object", `{"a": 1}`: "where an object", "[": "not JSON",
		`[{"_benchmark_name": "a"}, {"_benchmark_name": "a"}]`: "a twice",
	} {
		if _, err := ReadParams(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %s", text, err, why)
		}
	}
}

func TestLines(t *testing.T) {
	l, err := ParseSweep([]string{"--serve-cmd", "vllm serve 'a b' --port 9", "--bench-cmd=vllm bench serve", "--link-vars", "a=b, c=d", "-o", "out", "-e", "x", "--num_runs", "2"})
	if err != nil || l.Serve[2] != "a b" || l.OutputDir != "out" || *l.Experiment != "x" || l.NumRuns != 2 || l.ReadyTimeout != 300 || l.Links[1] != [2]string{"c", "d"} {
		t.Errorf("%+v, %v", l, err)
	}
	if at := Address(l.Serve); at != "http://localhost:9" {
		t.Error(at)
	}
	need := []string{"--serve-cmd", "vllm", "--bench-cmd", "vllm"}
	for why, args := range map[string][]string{
		"required: --serve-cmd, --bench-cmd": {"--serve-cmd", "vllm"}, "at least 1": append(need, "--num-runs", "0"), "--link-vars": append(need, "--link-vars", "a"),
		"needs --experiment-name": append(need, "--resume"), "unrecognized": append(need, "--foo"),
	} {
		if _, err := ParseSweep(args); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %s", args, err, why)
		}
	}
	if _, err := ParseSweep([]string{"-h"}); !errors.Is(err, python.ErrHelp) {
		t.Error(err)
	}
}

func TestLinks(t *testing.T) {
	l := Line{Links: [][2]string{{"max_num_seqs", "max_concurrency"}}}
	all, err := ReadParams(`[{"max_num_seqs": 8}, {"max_num_seqs": 16}, {"max_concurrency": 8}, {}]`)
	if err != nil {
		t.Fatal(err)
	}
	if !l.Linked(all[0], all[2]) || l.Linked(all[1], all[2]) || l.Linked(all[3], all[2]) || l.Linked(all[0], all[3]) {
		t.Error("links are not as they should be")
	}
}

// What json.dump and pandas write of two results, by their documentation.
func TestSummaries(t *testing.T) {
	p, _ := ReadParams(`[{"max_num_seqs": 8, "flag": true, "o": {"a": []}}]`)
	var all []json.RawMessage
	for i, result := range []string{`{"a": 1, "b": 1.50, "e": null, "t": "x,y", "run_number": 9}`, `{"a": 2, "b": 3, "c": 7, "e": NaN, "t": "ü"}`} {
		one, err := Updated(result, i, p[0], Params{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	if got, want := string(Indented(all[0], 4)), `{
    "a": 1,
    "b": 1.5,
    "e": null,
    "t": "x,y",
    "run_number": 0,
    "max_num_seqs": 8,
    "flag": true,
    "o": {
        "a": []
    }
}`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := string(Indented(List(all[:0]), 4)); got != "[]" {
		t.Error(got)
	}
	got, err := SweepTable(all)
	if want := ",a,b,e,t,run_number,max_num_seqs,flag,o,c\n0,1,1.5,,\"x,y\",0,8,True,{'a': []},\n1,2,3.0,,ü,1,8,True,{'a': []},7.0\n"; err != nil || string(got) != want {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
}

func FuzzReadParams(f *testing.F) {
	f.Add(`[{"a": 1, "b.c": true}]`)
	f.Add(`{"x": {"n": {"m": NaN}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ReadParams(text)
		if err != nil {
			return
		}
		for _, p := range all {
			again, err := ReadParams("[" + string(p.JSON()) + "]")
			if err != nil || len(again) != 1 || again[0].String() != p.String() {
				t.Errorf("%s is read again as %v, %v", p.JSON(), again, err)
			}
			p.Apply([]string{"vllm"})
		}
	})
}
