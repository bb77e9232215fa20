package conform

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNamedGrids(t *testing.T) {
	for _, name := range GridNames() {
		cells, ok := Named(name)
		if !ok {
			t.Fatal(name)
		}
		seen := map[string]bool{}
		for _, c := range cells {
			if seen[c.Name] {
				t.Errorf("%s has two cells %s", name, c.Name)
			}
			seen[c.Name] = true
			if c.Requests < c.Streams {
				t.Errorf("%s: %s: %d requests", name, c.Name, c.Requests)
			}
		}
	}
	if len(named) != len(GridNames()) {
		t.Errorf("%d grids have %d names", len(named), len(GridNames()))
	}
}

const example = `# two loads
cells:
  - streams: 64
    arrivals: lockstep
    step: 20ms
    busy: true
  - {name: open, rate: 100, output: 4, faults: 0.3}
`

func TestCellsOfAFile(t *testing.T) {
	cells, err := ReadGrid("g.yaml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	first, step := 50*time.Millisecond, 20*time.Millisecond
	want := []Cell{
		{Name: "64 lockstep 20ms busy", Streams: 64, Requests: 128, Input: 32, Output: 64, Arrivals: Lockstep, First: first, Step: step, Busy: true},
		{Name: "open", Rate: 100, Requests: 500, Input: 32, Output: 4, Arrivals: Spread, First: first, Step: step, Faults: 0.3},
	}
	if diff := cmp.Diff(want, cells); diff != "" {
		t.Error(diff)
	}
	inline, err := ParseCells("streams=64, arrivals=lockstep, step=20ms busy=true; name=open rate=100 output=4 faults=0.3;")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, inline); diff != "" {
		t.Error(diff)
	}
	if got := cells[0].String(); got != "64 streams, lockstep, step 20ms, 128 requests of 64 tokens, a busy neighbour" {
		t.Error(got)
	}
	if got := cells[1].String(); got != "100 requests/s, spread, step 20ms, 500 requests of 4 tokens, 30 % faults" {
		t.Error(got)
	}
}

func TestMistakesInAFile(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "# empty\n", "g.yaml:1:1: there are no cells in it"},
		{"a map", "streams: 5\n", "g.yaml:1:1: must be a list of cells"},
		{"a text", "- streams\n", "g.yaml:1:3: a cell must be a map of fields: name, streams"},
		{"unknown field", "- streams: 5\n  steps: 3ms\n", "g.yaml:2:10: steps: unknown; there are name, streams"},
		{"twice", "- streams: 5\n  streams: 6\n", "g.yaml:2:3"},
		{"no load", "- step: 5ms\n", "g.yaml:1:3: a cell needs streams or a rate"},
		{"two loads", "- streams: 5\n  rate: 6\n", "give only one"},
		{"number", "- streams: many\n", `streams: "many": must be a whole number`},
		{"negative", "- rate: -5\n", `rate: "-5": must be a number above 0`},
		{"time", "- streams: 1\n  step: 5\n", `step: "5": must be a time such as 20ms`},
		{"word", "- streams: 1\n  arrivals: at once\n", `arrivals: "at once": must be spread or lockstep`},
		{"share", "- streams: 1\n  faults: 10\n", `faults: "10": must be a share from 0 to 1`},
		{"truth", "- streams: 1\n  busy: very\n", `busy: "very": must be true or false`},
		{"list", "- streams: [1, 2]\n", "streams: must be a plain value"},
		{"not YAML", "- streams: [1\n", "g.yaml:1:"},
		{"two documents", "- streams: 1\n---\n- streams: 2\n", "a second document begins"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadGrid("g.yaml", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
			if err != nil && !strings.Contains(err.Error(), "^") {
				t.Errorf("%v: no caret", err)
			}
		})
	}
	_, err := ReadGrid("g.yaml", []byte("- streams: none\n  step: x\n- rate: 0\n"))
	if err == nil || strings.Count(err.Error(), "g.yaml:") != 3 {
		t.Errorf("not every mistake in one go: %v", err)
	}
}

func TestMistakesInCells(t *testing.T) {
	for text, want := range map[string]string{
		" ; ":                                 "there are no cells in it",
		"streams":                             `"streams": must be FIELD=VALUE`,
		"streams=0":                           "from 1 to 10000000",
		"output=3":                            `cell "output=3": a cell needs streams or a rate`,
		"streams=1 speed=1":                   "speed: unknown",
		"rate=5 output=300000":                `cell "rate=5 output=300000": output: "300000": must be a whole number from 1 to 262144`,
		"streams=1 arrivals=lockstep step=0s": "lockstep needs a step",
		"streams=x;rate=y;rate=5":             `cell "rate=y": rate`,
	} {
		if _, err := ParseCells(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestCommands(t *testing.T) {
	words := []string{"bench", "--url={base_url}/v1", "-n", "{requests}", "--rate", "{rate}", "-c", "{concurrency}", `{"a": {}}`, "{result}"}
	if err := CheckCommand(words); err != nil {
		t.Error(err)
	}
	place := Place{Host: "127.0.0.1", Port: 80, Result: "r.json"}
	for text, want := range map[string]string{
		"streams=5 requests=9": `bench --url=http://127.0.0.1:80/v1 -n 9 --rate inf -c 5 {"a": {}} r.json`,
		"rate=2.5 requests=9":  `bench --url=http://127.0.0.1:80/v1 -n 9 --rate 2.5 -c 9 {"a": {}} r.json`,
	} {
		cells, err := ParseCells(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(Expand(words, cells[0], place), " "); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	err := CheckCommand([]string{"--n={request}", "{uri}"})
	if err == nil || !strings.Contains(err.Error(), `unknown placeholder {request} in "--n={request}": there are {base_url}`) || !strings.Contains(err.Error(), "{uri}") {
		t.Error(err)
	}
	if !Uses(words, "result") || Uses(words, "dir") {
		t.Error("placeholders are not found")
	}
}
