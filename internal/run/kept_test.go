package run

import (
	"encoding/json"
	"iter"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// The records of a simulation are in memory, or where they are stored once they take too much.
func TestRecordsAreKeptOrStored(t *testing.T) {
	all := []*trace.Record{trace.NewRecord(0), trace.NewRecord(1)}
	elsewhere := func() iter.Seq2[[]*trace.Record, error] {
		return iter.Seq2[[]*trace.Record, error](metrics.InMemory(all))
	}
	for _, c := range []struct {
		kept   kept
		stored bool
	}{{kept{}, false}, {kept{elsewhere: elsewhere, most: 2 * recordSize}, false}, {kept{elsewhere: elsewhere, most: 2*recordSize - 1}, true}} {
		for _, r := range all {
			c.kept.add(r)
		}
		if (c.kept.stored() != nil) != c.stored || !c.stored && len(c.kept.records) != 2 || c.stored && c.kept.records != nil {
			t.Errorf("%d records in memory, %v stored", len(c.kept.records), c.kept.stored() != nil)
		}
	}
}

// A run that is judged by its stored records is judged as by those in memory.
func TestStoredRecordsAreJudgedAlike(t *testing.T) {
	p, err := Prepare(t.Context(), spec(t, simulated), newWorld().Deps)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r, err := p.Execute(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	x := &execution{Prepared: p, run: r.Trace.Run}
	again, err := x.judge(nil, metrics.InMemory(r.Trace.Records), nil)
	if err != nil || again.Trace.Records != nil {
		t.Fatal(err)
	}
	one, _ := json.Marshal(r.Summary)
	other, _ := json.Marshal(again.Summary)
	if diff := gocmp.Diff(string(one), string(other)); diff != "" {
		t.Error(diff)
	}
}
