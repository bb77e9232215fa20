package source

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/wire/exposition"
)

// pageOf is a page of lines.
func pageOf(lines int, line func(n int) string) []byte {
	var b strings.Builder
	for n := range lines {
		b.WriteString(line(n))
	}
	return []byte(b.String())
}

// A page of very many lines costs little memory when it is read for the first time, and almost
// none afterwards; of its series no more are taken than a run keeps.
func TestThePagesOfASourceAreReadInTheSameMemory(t *testing.T) {
	for what, tt := range map[string]struct {
		line        func(n int) string
		values      int
		first, then int // MB
	}{
		"unknown":  {func(n int) string { return fmt.Sprintf("x%d 1\n", n) }, 0, 1, 0},
		"too many": {func(n int) string { return fmt.Sprintf("vllm:num_requests_running{engine=\"%d\"} 1\n", n) }, collect.MostSeries, 20, 1},
		"one":      {func(n int) string { return fmt.Sprintf("node_cpu_seconds_total{cpu=\"0\",mode=\"%d\"} 1\n", n) }, 1, 4, 1},
	} {
		m, text := mapping{}, pageOf(20_000, tt.line)
		r := exposition.Reader{Wanted: m.wants}
		for pass, most := range []int{tt.first, tt.then} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			m.begin()
			if _, err := r.Read(t.Context(), "", text, m.take); err != nil {
				t.Fatal(what, err)
			}
			values, doubts := m.values()
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > uint64(most)<<20+64<<10 {
				t.Errorf("%s: %d bytes at pass %d", what, took, pass)
			}
			full := len(doubts) == 1 && doubts[0].Key() == plan.Msg(collect.TooMany, "most", collect.MostSeries).Key()
			if len(values) != tt.values || full != (tt.values == collect.MostSeries) {
				t.Errorf("%s: %d values, %v", what, len(values), doubts)
			}
		}
	}
}

// What a mapping keeps from one page to the next is bounded, though each has other series.
func TestSeriesThatChangeAreForgotten(t *testing.T) {
	m := mapping{}
	r := exposition.Reader{Wanted: m.wants}
	for pass := range 5 {
		text := pageOf(mostPlaces+9, func(n int) string { return fmt.Sprintf("vllm:num_requests_running{engine=\"%d-%d\"} 1\n", pass, n) })
		m.begin()
		if _, err := r.Read(t.Context(), "", text, m.take); err != nil {
			t.Fatal(err)
		}
		if values, _ := m.values(); len(values) != collect.MostSeries || !strings.HasPrefix(values[0].Labels["replica"], fmt.Sprint(pass, "-")) {
			t.Errorf("%d values, the first %v", len(values), values[0].Labels)
		}
		if len(m.all) > 3*mostPlaces {
			t.Errorf("%d values are kept", len(m.all))
		}
	}
}
