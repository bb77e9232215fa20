package ingest

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

const exported = `{"run": {
 "id": "abc", "name": "new", "kind": "measured", "status": "complete", "end_ns": 900, "plan": {"requests": 2, "model": "m"}
},
"records": [{"index":0,"sent_ns":1,"done_ns":9,"output_tokens":3},
{"index":1,"sent_ns":null,"done_ns":9,"class":"reset"}]}
`

func TestAnExportComesBack(t *testing.T) {
	f, err := readPitot(source("a.json", exported))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // records can be read again
		got, err := f.Trace()
		if err != nil {
			t.Fatal(err)
		}
		if got.Run.ID != "abc" || got.Run.End != 900 || len(got.Records) != 2 {
			t.Fatalf("%+v", got)
		}
		if r := got.Records[1]; r.Sent != trace.Never || r.Class != trace.Reset || r.FirstByte != trace.Never {
			t.Errorf("%+v", r)
		}
	}
}

func TestAnExportThatIsCutShort(t *testing.T) {
	f, err := readPitot(source("a.json", exported[:len(exported)-30]))
	if err == nil {
		_, err = f.Trace()
	}
	if err == nil || !strings.Contains(err.Error(), "records") {
		t.Errorf("error %v", err)
	}
}

// What was sampled beside a run comes back with it, and what is wrong there is said.
func TestAnExportWithTelemetry(t *testing.T) {
	set := &telemetry.Set{Sources: []telemetry.Source{{Name: "gpu", Via: "nvidia-smi", Reads: 2}}}
	for i, v := range []float64{300.5, math.Inf(1)} {
		set.Add(telemetry.NewValue("gpu", telemetry.DevicePower, telemetry.Labels{"device": "0"}, telemetry.Point{At: time.Duration(i - 1), Value: v}))
		set.Add(telemetry.NewValue("gpu", telemetry.DeviceEnergy, nil, telemetry.Point{At: time.Duration(i), Value: v}))
	}
	record := trace.NewRecord(0)
	want := &trace.Trace{Run: trace.Run{ID: "abc", Kind: trace.Measured, End: 9}, Records: []*trace.Record{record}, Telemetry: set}
	var b bytes.Buffer
	if err := store.WriteJSON(&b, want); err != nil {
		t.Fatal(err)
	}
	found, problems := known.Read(source("a.json", b.String()))
	if len(found) != 1 || problems != nil {
		t.Fatalf("%+v, %v", found, problems)
	}
	for range 2 {
		got, err := found[0].Trace()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(telemetry.Set{})); d != "" {
			t.Error(d)
		}
	}
	for _, change := range [][2]string{{`[-1,0]`, `[-1]`}, {`[-1,0]`, `[0,0]`}, {`300.5`, `"much"`}, {`"sources": [`, `"sources": 5, "x": [`}} {
		found, _ := known.Read(source("a.json", strings.Replace(b.String(), change[0], change[1], 1)))
		if len(found) != 1 {
			t.Fatal("not found")
		}
		if _, err := found[0].Trace(); err == nil || !strings.Contains(err.Error(), "read the telemetry of run abc: ") {
			t.Errorf("%s: error %v", change, err)
		}
	}
}

// The environment in an export may be by any hand, or of a version that hid less.
func TestTheEnvironmentOfAnExport(t *testing.T) {
	env := func(process *environment.Process) *environment.Environment {
		return &environment.Environment{Machine: environment.Machine{Host: "box"}, Process: process, Packages: []environment.Version{{Name: "vllm", Version: "0.11"}}}
	}
	for name, x := range map[string]struct{ in, want *environment.Process }{
		"clean":   {&environment.Process{Args: []string{"vllm", "--api-key", "***"}}, &environment.Process{Args: []string{"vllm", "--api-key", "***"}}},
		"secrets": {&environment.Process{Args: []string{"vllm", "--api-key", "x"}, Env: map[string]string{"HF_TOKEN": "hf", "A": "1"}}, &environment.Process{Args: []string{"vllm", "--api-key", "***"}, Env: map[string]string{"A": "1"}}},
		"none":    {nil, nil},
	} {
		var b bytes.Buffer
		run := trace.Run{ID: "abc", Env: trace.Environment{Serving: env(x.in), Client: env(nil)}}
		if err := store.WriteJSON(&b, &trace.Trace{Run: run}); err != nil {
			t.Fatal(err)
		}
		found, problems := known.Read(source("a.json", b.String()))
		if len(found) != 1 || problems != nil {
			t.Fatalf("%+v, %v", found, problems)
		}
		if d := cmp.Diff(env(x.want), found[0].Run.Env.Serving); d != "" {
			t.Error(name, d)
		}
	}
}

func FuzzPitot(f *testing.F) {
	f.Add([]byte(exported))
	f.Fuzz(func(_ *testing.T, data []byte) {
		found, err := readPitot(result.Source{Name: "a.json", Data: bytes.NewReader(data), Size: int64(len(data))})
		if err == nil {
			_, _ = found.Trace()
		}
	})
}
