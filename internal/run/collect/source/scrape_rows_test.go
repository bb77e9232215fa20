package source

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/test/golden"
	"github.com/pitot-bench/pitot/internal/wire/exposition"
)

// pages are what servers and exporters print: testdata/*_documented.txt is in the form that they
// document, the rest was printed by the program that its first line names.
func pages(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/metrics/*.txt")
	if err != nil || len(names) < 10 {
		t.Fatal(names, err)
	}
	all := map[string][]byte{}
	for _, name := range names {
		if all[strings.TrimSuffix(filepath.Base(name), ".txt")], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func parse(t testing.TB, text []byte) []exposition.Sample {
	t.Helper()
	page, err := exposition.Parse(t.Context(), "", text)
	if err != nil || len(page.Doubts) > 0 {
		t.Fatal(err, page.Doubts)
	}
	return page.Samples
}

// of is what a mapping makes of a page.
func (m *mapping) of(t testing.TB, text []byte) ([]*value, []plan.Message) {
	t.Helper()
	m.begin()
	r := exposition.Reader{Wanted: m.wants}
	if doubts, err := r.Read(t.Context(), "", text, m.take); err != nil || len(doubts) > 0 {
		t.Fatal(err, doubts)
	}
	return m.values()
}

// The series of each page, in full.
func TestPages(t *testing.T) {
	for name, text := range pages(t) {
		m := mapping{keep: []string{"vllm:[ce]*", "*_exec_*", "sglang:fwd*", "node_load?", "machine_*"}}
		values, doubts := m.of(t, text)
		var b strings.Builder
		for _, v := range values {
			at := ""
			if !v.stamp.IsZero() {
				at = " @" + v.stamp.UTC().Format("05.000")
			}
			known, _ := telemetry.Known(v.Name)
			fmt.Fprintf(&b, "%s %v %s%s\n", strings.TrimPrefix(telemetry.Key{Name: v.Name, Labels: v.Labels}.String(), "/"), v.Value.Value, known.Unit, at)
		}
		for _, doubt := range doubts {
			fmt.Fprintln(&b, doubt.Key())
		}
		golden.Check(t, "testdata/metrics/"+name+".golden", b.String())
	}
}

// Each row has a name of ours and is met by some page.
func TestEveryRowIsMet(t *testing.T) {
	met := make([]bool, len(rows))
	for _, text := range pages(t) {
		for _, s := range parse(t, text) {
			for _, i := range index[string(canonical(nil, s.Name))] {
				met[i] = met[i] || rows[i].meets(s.Labels)
			}
		}
	}
	for i, r := range rows {
		if _, ok := telemetry.Known(r.Name); !ok || !met[i] {
			t.Errorf("row %d, %s to %s: known %v, met %v", i, r.Foreign, r.Name, ok, met[i])
		}
	}
}

// Half of a sum is no value, and a number that is none is left out and named.
func TestUnknownStaysUnknown(t *testing.T) {
	text := "node_memory_MemTotal_bytes 100\nvllm:kv_cache_usage_perc NaN\nvllm:num_requests_running +Inf\nllamacpp:requests_processing 0\n"
	m := mapping{}
	values, doubts := m.of(t, []byte(text))
	var names []string
	for _, v := range values {
		names = append(names, v.Name)
		if math.IsNaN(v.Value.Value) {
			t.Error(v)
		}
	}
	if got := strings.Join(names, " "); got != "host.memory_total server.running" {
		t.Error(got)
	}
	if len(doubts) != 1 || doubts[0].Key() != plan.Msg(collect.NotANumber, "series", "vllm:kv_cache_usage_perc").Key() {
		t.Error(doubts)
	}
}

// Reading and mapping 100 kB of an engine's page.
func BenchmarkValues(b *testing.B) {
	page := pages(b)["vllm_documented"]
	text := page
	for i := 0; len(text) < 100_000; i++ {
		for le := range 20 {
			text = fmt.Appendf(text, "vllm:h%d_seconds_bucket{engine=\"0\",le=\"%d\",model_name=\"m\"} 12.0\n", i, le)
		}
		text = fmt.Appendf(text, "vllm:h%d_seconds_sum{engine=\"0\",model_name=\"m\"} 1.5\n# TYPE vllm:h%d_seconds histogram\n", i, i+1)
	}
	m := mapping{keep: []string{"vllm:*"}}
	r := exposition.Reader{Wanted: m.wants}
	for b.Loop() {
		m.begin()
		if _, err := r.Read(b.Context(), "", text, m.take); err != nil {
			b.Fatal(err)
		}
		if values, _ := m.values(); len(values) < 20 {
			b.Fatal(len(values))
		}
	}
}
