package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// asSampled compares sets: unknown numbers are equal to each other.
var asSampled = cmp.Options{cmpopts.EquateNaNs(), cmpopts.IgnoreUnexported(telemetry.Set{})}

// reads are what two sources say at the n-th second: a GPU two quantities, a server one, and from
// the third second on one more, which has no number at first.
func reads(n int) (sources []telemetry.Source, values []telemetry.Value) {
	p := telemetry.Point{At: time.Duration(n-1) * time.Second, Value: float64(n)}
	sources = []telemetry.Source{{Name: "gpu", Via: "nvidia-smi", Every: time.Second, Reads: n}, {Name: "server", Via: "http://h/metrics", Reads: n, Lost: 1, Notes: []plan.Message{plan.Text("slow")}}}
	gpu := telemetry.Labels{"device": "0"}
	values = []telemetry.Value{
		telemetry.NewValue("gpu", telemetry.DevicePower, gpu, telemetry.Point{At: p.At, Value: 300 + p.Value/10}), telemetry.NewValue("gpu", telemetry.DeviceTemperature, gpu, p),
		telemetry.NewValue("server", telemetry.ServerRunning, nil, p),
	}
	if n > 2 {
		own := telemetry.Value{Key: telemetry.Key{Source: "server", Name: "own:x"}, Kind: telemetry.Gauge, Point: p}
		if n == 3 {
			own.Value = math.NaN()
		}
		values = append(values, own)
	}
	return sources, values
}

// read is what n seconds of reads make.
func read(n int) *telemetry.Set {
	set := new(telemetry.Set)
	for i := range n {
		sources, values := reads(i)
		set.Sources = sources
		for _, v := range values {
			set.Add(v)
		}
	}
	return set
}

// count is a number that SQL gives.
func count(t *testing.T, s *Store, query string) (n int) {
	t.Helper()
	if err := s.db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Another process sees samples while the run goes on, at most 2 s after they were taken and each
// once. At the end they are in fewer blocks and the same.
func TestTelemetryOfARun(t *testing.T) {
	s := open(t)
	other := openFile(t, s.file)
	const seconds = 20
	synctest.Test(t, func(t *testing.T) {
		run := newRun("run-1", "", 1000)
		w, err := s.Create(run, Owner{})
		if err != nil {
			t.Fatal(err)
		}
		followed, next := new(telemetry.Set), 0
		follow := func() {
			t.Helper()
			set, n, err := other.TelemetrySince("run-1", next)
			if err != nil {
				t.Fatal(err)
			}
			if next = n; set != nil {
				followed.Sources = set.Sources
				for _, one := range set.Series {
					followed.Extend(one)
				}
			}
		}
		for n := range seconds {
			w.Sample(reads(n))
			w.Sample(reads(n)) // the same again
			time.Sleep(time.Second)
			synctest.Wait()
			if follow(); n > 1 && followed.Series[0].Points[n-2].Value < 300 {
				t.Fatalf("after %d s: %v", n, followed.Series[0].Points)
			}
		}
		if got, err := other.Telemetry("run-1"); err != nil || got.Records != nil || got.Telemetry.Points() < followed.Points() {
			t.Errorf("%v: %+v", err, got)
		}
		small := count(t, s, "SELECT count(*) FROM telemetry_block")
		for range 2 { // a run is finished again once it is judged
			if err := w.Finish(run); err != nil {
				t.Fatal(err)
			}
		}
		if n := count(t, s, "SELECT count(*) FROM telemetry_block"); n != 2 || small < seconds {
			t.Errorf("%d blocks, %d before the end", n, small)
		}
		follow()
		if d := cmp.Diff(read(seconds), followed, asSampled); d != "" {
			t.Error(d)
		}
	})
	got, err := other.Load("run-1")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(read(seconds), got.Telemetry, asSampled); d != "" || got.Run.Notes != nil {
		t.Error(d, got.Run.Notes)
	}
	if err := s.Remove("run-1"); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"source", "series", "block"} {
		if n := count(t, s, "SELECT count(*) FROM telemetry_"+table); n != 0 {
			t.Errorf("%d rows of telemetry_%s are left", n, table)
		}
	}
}

func TestARunWithoutTelemetry(t *testing.T) {
	s := open(t)
	w := begun(t, s)
	if err := w.Finish(ended()); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Load("run-1"); err != nil || got.Telemetry != nil {
		t.Errorf("%v: %+v", err, got.Telemetry)
	}
	if set, next, err := s.TelemetrySince("run-1", 7); set != nil || next != 7 || err != nil {
		t.Errorf("%+v, %d, %v", set, next, err)
	}
}

// Samples that cannot be stored stay in memory, go to the file of a rescued run with its records,
// come back from there, and are stored once there is room.
func TestTelemetryIsRescued(t *testing.T) {
	s := open(t)
	w := begun(t, s)
	w.Append(long(3))
	room := full(t, s)
	for n := range 5 {
		w.Sample(reads(n))
	}
	got, _ := rescuedTrace(t, w.Finish(ended()))
	if d := cmp.Diff(read(5), got.Telemetry, asSampled); d != "" {
		t.Error(d)
	}
	fresh := open(t)
	if _, err := fresh.Import(got.Run, records(got.Records...), got.Telemetry); err != nil {
		t.Fatal(err)
	}
	room()
	if err := w.Finish(ended()); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Store{fresh, s} {
		if back, err := s.Load("run-1"); err != nil || cmp.Diff(read(5), back.Telemetry, asSampled) != "" {
			t.Errorf("%v: %+v", err, back.Telemetry)
		}
	}
}

// Samples that fit nowhere alone do not spoil the rest, and are told of as other records are.
func TestSamplesThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	s := openFile(t, file)
	heard := []error{}
	w, err := s.Create(newRun("run-1", "", 1), Owner{Trouble: func(err error) { heard = append(heard, err) }})
	if err != nil {
		t.Fatal(err)
	}
	w.end()
	w.done.Wait()
	execute(t, file, "ALTER TABLE telemetry_block RENAME TO gone")
	w.Sample(reads(0))
	w.Append(sample(0))
	for range 3 { // each is tried, and told once
		if err := w.flush(brief, false); err == nil || w.stored != 1 {
			t.Errorf("%d stored, error %v", w.stored, err)
		}
	}
	execute(t, file, "ALTER TABLE gone RENAME TO telemetry_block")
	if err := w.Finish(ended()); err != nil || len(heard) != 2 || heard[0] == nil || heard[1] != nil {
		t.Errorf("%v, heard %v", err, heard)
	}
	if got, err := s.Load("run-1"); err != nil || cmp.Diff(read(1), got.Telemetry, asSampled) != "" {
		t.Errorf("%v: %+v", err, got.Telemetry)
	}
}

// A run keeps so many samples and says that there were more.
func TestTooManySamples(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "runs.db"))
	w := begun(t, s)
	w.Sample(reads(0))
	w.samples.points = telemetry.MostPoints
	w.Sample(reads(1))
	if err := w.Finish(ended()); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Load("run-1"); err != nil || got.Telemetry.Points() != 3 || got.Telemetry.Sources[0].Reads != 1 || got.Run.Notes[0].Code != overfull {
		t.Errorf("%v: %+v", err, got)
	}
	execute(t, s.file, "UPDATE telemetry_block SET points = ?", telemetry.MostPoints+1)
	if _, lost, err := s.readTelemetry("run-1"); err != nil || len(lost) != 2 || !errors.Is(lost[0].Why, telemetry.ErrTooMany) {
		t.Errorf("%v: %v", err, lost)
	}
}

// unmerged is a store with a run whose process was killed after five seconds of samples.
func unmerged(t *testing.T) *Store {
	t.Helper()
	s := openFile(t, filepath.Join(t.TempDir(), "runs.db"))
	w := begun(t, s)
	for n := range 5 {
		w.Sample(reads(n))
		if err := w.flush(brief, true); err != nil {
			t.Fatal(err)
		}
	}
	execute(t, s.file, "UPDATE run SET beat_ns = 1")
	return s
}

func TestAKilledRunKeepsItsTelemetry(t *testing.T) {
	s := unmerged(t)
	if got, err := s.Load("run-1"); err != nil || got.Run.Status != Killed || cmp.Diff(read(5), got.Telemetry, asSampled) != "" {
		t.Errorf("%v: %+v", err, got)
	}
}

// Damaged telemetry is left out, told, and gone from a repaired store; the rest stays.
func TestDamagedTelemetry(t *testing.T) {
	for what, tt := range map[string]struct {
		statement string
		told      string
		points    int // of the 17 of the whole
	}{
		"a block":       {"UPDATE telemetry_block SET data = x'00' WHERE seq = 5", "gpu from 1.000 s to 1.000 s", 15},
		"another count": {"UPDATE telemetry_block SET points = 9 WHERE seq = 1", "gpu from -1.000 s to -1.000 s", 17},
		"a series":      {"DELETE FROM telemetry_series WHERE name = 'own:x'", "1 series", 15},
		"labels":        {"UPDATE telemetry_series SET labels = '[' WHERE name = 'device.power'", "series 0", 12},
		"a source":      {"UPDATE telemetry_source SET body = 'x' WHERE idx = 1", "source 1", 17},
	} {
		t.Run(what, func(t *testing.T) {
			s := unmerged(t)
			execute(t, s.file, tt.statement)
			got, err := s.Load("run-1")
			if err != nil || got.Telemetry.Points() != tt.points || len(got.Records) != 3 {
				t.Fatalf("%v: %d points, %d records", err, got.Telemetry.Points(), len(got.Records))
			}
			if n := LeftOut(got); len(n) != 1 || n[0].Code != unsampled || n[0].Args["parts"] != 1.0 {
				t.Errorf("noted %+v", n)
			}
			h, err := s.Check(nil)
			if want := "telemetry of run run-1 is damaged: " + tt.told; err != nil || len(h.Damage) != 1 || !strings.HasPrefix(h.Damage[0].Error(), want) || h.Samples != tt.points {
				t.Errorf("%v: %v", err, h)
			}
			if _, err := Repair(s.file, nil); err != nil {
				t.Fatal(err)
			}
			back, err := openFile(t, s.file).Load("run-1")
			if err != nil || back.Telemetry.Points() != tt.points || len(LeftOut(back)) != 1 {
				t.Errorf("%v: %+v", err, back)
			}
		})
	}
}

func TestTelemetryInJSON(t *testing.T) {
	for _, set := range []*telemetry.Set{nil, {Sources: read(1).Sources}, read(4)} {
		want := &trace.Trace{Run: ended(), Records: []*trace.Record{sample(0)}, Telemetry: set}
		var b bytes.Buffer
		if err := WriteJSON(&b, want); err != nil {
			t.Fatal(err)
		}
		got := new(trace.Trace)
		if err := json.Unmarshal(b.Bytes(), got); err != nil {
			t.Fatalf("%v: %s", err, b.String())
		}
		if d := cmp.Diff(want, got, asSampled); d != "" {
			t.Error(d)
		}
	}
}

// Commits two seconds of 100 series, and reads an hour of them.
func BenchmarkSample(b *testing.B) {
	s, err := Open(filepath.Join(b.TempDir(), "runs.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	w, err := s.Create(newRun("run-1", "", 1), Owner{})
	if err != nil {
		b.Fatal(err)
	}
	w.end()
	w.done.Wait()
	var names []telemetry.Labels
	for i := range 100 {
		names = append(names, telemetry.Labels{"device": fmt.Sprint(i)})
	}
	second := 0
	add := func() {
		var values []telemetry.Value
		for i, l := range names {
			values = append(values, telemetry.NewValue("gpu", telemetry.DevicePower, l, telemetry.Point{At: time.Duration(second) * time.Second, Value: 300 + float64(second*i%97)}))
		}
		second++
		w.Sample(nil, values)
	}
	b.Run("commit", func(b *testing.B) {
		for b.Loop() {
			add()
			add()
			if err := w.flushSamples(brief, true); err != nil {
				b.Fatal(err)
			}
		}
	})
	for second < 3600 {
		add()
	}
	if err := w.Finish(newRun("run-1", "", 1)); err != nil {
		b.Fatal(err)
	}
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			if t, err := s.Telemetry("run-1"); err != nil || t.Telemetry.Points() != 100*second {
				b.Fatal(err)
			}
		}
	})
}
