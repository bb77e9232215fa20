package ingest

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/dialect"
	"github.com/pitot-bench/pitot/internal/trace"
)

func fromText(name, text string) Source {
	return Source{Name: name, Data: strings.NewReader(text), Size: int64(len(text))}
}

func fromFile(t testing.TB, file string) Source {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return Source{Name: file, Data: bytes.NewReader(b), Size: int64(len(b))}
}

// one reads a source that has one result and nothing wrong.
func one(t testing.TB, s Source) Found {
	t.Helper()
	found, problems := readJSON(s)
	if len(found) != 1 || len(problems) > 0 {
		t.Fatalf("%s: %d results, problems %v", s.Name, len(found), problems)
	}
	return found[0]
}

func wholeTrace(t testing.TB, f Found) *trace.Trace {
	t.Helper()
	tr, err := f.Trace()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// reportOf is the report in the dialect of the result.
func reportOf(t testing.TB, tr *trace.Trace) *dialect.VLLMReport {
	t.Helper()
	r, err := dialect.NewVLLMReport(tr, "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// numbersOf are the members of a result that are numbers.
func numbersOf(t testing.TB, result []byte) map[string]float64 {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(result, &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for name, v := range all {
		if f, ok := v.(float64); ok {
			out[name] = f
		}
	}
	return out
}

// What was computed by the tool from what it saw is computed here from what it
// wrote: failures, chat and vllm-rust are by the client of vLLM 0.33, the others
// by Pitot in its place.
func TestDetailedResultsGiveTheFiguresOfTheirTool(t *testing.T) {
	for _, name := range []string{"failures", "chat", "rust", "pitot", "pitot-main"} {
		t.Run(name, func(t *testing.T) {
			f := one(t, fromFile(t, "vllm/"+name+".json"))
			if f.Run.Origin.Detail != trace.Recorded {
				t.Fatalf("it is %s", f.Run.Origin.Detail)
			}
			file, err := os.ReadFile("testdata/vllm/" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			again := numbersOf(t, reportOf(t, wholeTrace(t, f)).Result())
			for member, want := range numbersOf(t, file) {
				if member == "input_throughput" { // vllm-rust's own
					continue
				}
				if got, ok := again[member]; !ok || math.Abs(got-want) > 1e-6*math.Abs(want) {
					t.Errorf("%s = %v, the file has %v", member, got, want)
				}
			}
		})
	}
}

// The tables are what the tools printed when they wrote the results.
func TestDetailedResultsPrintTheTableOfTheirTool(t *testing.T) {
	for _, name := range []string{"failures", "chat", "pitot", "pitot-main"} {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile("testdata/vllm/" + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := reportOf(t, wholeTrace(t, one(t, fromFile(t, "vllm/"+name+".json")))).WriteTable(&got); err != nil {
				t.Fatal(err)
			}
			if got.String() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got.String(), want)
			}
		})
	}
}
