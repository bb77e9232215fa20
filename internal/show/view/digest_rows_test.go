package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// columnOf is a column of rows by its name.
func columnOf(t *testing.T, rows Rows, name string) []uint32 {
	t.Helper()
	i := slices.Index(rows.Columns, name)
	if i < 0 || len(rows.Values) != len(rows.Columns) || len(rows.Values[i]) != rows.N {
		t.Fatalf("%d columns, %d named: %v", len(rows.Values), len(rows.Columns), rows.RowsHeader)
	}
	return rows.Values[i]
}

// Columns have what records have, whatever the unit.
func TestRowsAreTheRecords(t *testing.T) {
	for _, tr := range runs() {
		rows := digested(tr).Rows(Window{})
		if rows.N != len(tr.Records) || rows.Every != 1 || rows.Next != len(tr.Records) {
			t.Fatalf("%+v", rows.RowsHeader)
		}
		is := func(name string, i int, want trace.Instant) {
			t.Helper()
			got := columnOf(t, rows, name)[i]
			seconds := float64(got) * rows.Unit
			if want == trace.Never && got != math.MaxUint32 || want != trace.Never && !(seconds <= want.Seconds()+1e-9 && seconds > want.Seconds()-1.001*rows.Unit) {
				t.Errorf("%s of %d is %v in units of %v, not %v", name, i, got, rows.Unit, want)
			}
		}
		for i, index := range columnOf(t, rows, "index") {
			r := tr.Records[index]
			first, last, _ := r.Output()
			is("due", i, r.Due)
			is("released", i, r.Released)
			is("sent", i, r.Sent)
			is("first", i, first)
			is("last", i, last)
			is("done", i, r.Done)
			class := rows.Classes[columnOf(t, rows, "class")[i]]
			if columnOf(t, rows, "prompt")[i] != uint32(r.PromptTokens) || columnOf(t, rows, "output")[i] != uint32(r.OutputTokens) || class != string(r.Class) {
				t.Errorf("row %d is not %+v", i, r)
			}
		}
	}
}

func TestRowsOfAWindow(t *testing.T) {
	tr := drawn(6, 1000, 1)
	d := digested(tr)
	for _, w := range []Window{{From: 5, Until: 6}, {From: 20}, {Until: 3}, {From: 8, Until: 8}, {From: 1e9, Until: 2e9}} {
		until := cmp.Or(w.Until, math.Inf(1))
		var want []uint32
		for _, r := range tr.Records {
			if r.Done.Seconds() >= w.From && r.Due.Seconds() <= until {
				want = append(want, uint32(r.Index))
			}
		}
		got := slices.Sorted(slices.Values(columnOf(t, d.Rows(w), "index")))
		if !slices.Equal(want, got) {
			t.Errorf("%+v: %d requests, not %d", w, len(got), len(want))
		}
	}
}

// Rows that are asked for bit by bit are those that are asked for at once.
func TestRowsOfARunThatGrows(t *testing.T) {
	tr := drawn(7, 900, 1)
	whole := digested(tr).Rows(Window{Most: 200})
	if whole.Every != 8 || whole.N != 113 {
		t.Fatalf("%+v", whole.RowsHeader)
	}
	d, since := NewDigest(tr.Run), 0
	var got []uint32
	for i, r := range slices.SortedStableFunc(slices.Values(tr.Records), func(a, b *trace.Record) int { return int(a.Done - b.Done) }) {
		if d.Add(r); i%100 == 99 {
			rows := d.Rows(Window{Since: since, Most: 200})
			if since = rows.Next; rows.Every == whole.Every {
				got = append(got, columnOf(t, rows, "index")...)
			}
		}
	}
	want := columnOf(t, whole, "index")
	if len(got) == 0 || !slices.Equal(want[len(want)-len(got):], got) {
		t.Errorf("%v are not the last of %v", got, want)
	}
}

func TestRequestsAreSelected(t *testing.T) {
	tr := drawn(8, 300, 1)
	d := digested(tr)
	value := func(r *trace.Record, by string) float64 {
		ttft, tpot, e2el := metrics.PitotLatencies(r, true)
		if !r.OK() {
			ttft, tpot, e2el = math.NaN(), math.NaN(), math.NaN()
		}
		return map[string]float64{
			"": float64(r.Index), "index": float64(r.Index), "sent": r.Sent.Seconds(), "done": r.Done.Seconds(),
			"ttft": ttft, "tpot": tpot, "e2el": e2el, "prompt": float64(r.PromptTokens), "output": float64(r.OutputTokens),
		}[by]
	}
	is := func(r *trace.Record, class string) bool {
		return class == "" || class == "ok" && r.OK() || class == "failed" && !r.OK() || class == string(r.Class)
	}
	for _, by := range append(Sorts(), "") {
		for _, class := range []string{"", "ok", "failed", "http", "refused", "dns"} {
			for _, down := range []bool{false, true} {
				c := Choice{Class: class, Sort: by, Limit: 1000}
				if down && by != "" {
					c.Sort = "-" + by
				}
				got, total := d.Select(c)
				n := 0
				for _, r := range tr.Records {
					if is(r, class) {
						n++
					}
				}
				if total != n || len(got) != n {
					t.Errorf("%+v: %d of %d", c, len(got), n)
				}
				checkSorted(t, fmt.Sprintf("%+v", c), got, down && by != "", func(i int) float64 { return value(tr.Records[i], by) })
			}
		}
	}
	some, total := d.Select(Choice{Offset: 290, Limit: 20})
	if total != 300 || len(some) != 10 || some[0] != 290 {
		t.Errorf("%v of %d", some, total)
	}
	if some, total := d.Select(Choice{Offset: 1000, Limit: 20}); total != 300 || some != nil {
		t.Errorf("%v of %d", some, total)
	}
}

// checkSorted wants values in order, and requests without one last.
func checkSorted(t *testing.T, name string, all []int, down bool, value func(int) float64) {
	t.Helper()
	for i := 1; i < len(all); i++ {
		a, b := value(all[i-1]), value(all[i])
		if down {
			a, b = b, a
		}
		if math.IsNaN(value(all[i-1])) && !math.IsNaN(value(all[i])) || a > b+1e-5 {
			t.Errorf("%s: %v before %v", name, value(all[i-1]), value(all[i]))
			return
		}
	}
}
