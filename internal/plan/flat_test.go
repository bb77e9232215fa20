package plan

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// simulated is a Spec with settings of each role, and with the same names in several places.
func simulated() *Spec {
	return &Spec{
		Version: 1, Name: "g-1", Requests: 20, Seed: 12345678901234567,
		Target: Target{Simulated: true, Engine: json.RawMessage(`{"output_len":"200","seed":3}`), Headers: []Header{{Name: "X-Team", From: &Source{Env: "TEAM"}}}},
		Request: Request{
			Protocol: "chat", Stream: true, Usage: UsageAtEnd, IDs: "a-",
			Body: json.RawMessage(`{"stop":[],"a.b":1,"a":{"b":2},"user":null,"temperature":1e6}`),
		},
		Load: []Stream{{
			Arrival: Typed{"constant", json.RawMessage(`{"rate":20}`)}, Dataset: Typed{"random", json.RawMessage(`{"output_len":32,"name":"x"}`)},
			Override: Override{Model: "m"},
		}},
		Before:     Before{WarmUp: WarmUp{Requests: 1, From: WarmOther}},
		Objectives: []Objective{{Metric: "ttft", Limit: Duration(time.Second)}},
		Client:     Client{Timeout: Duration(time.Minute)},
		Dialect:    Dialect{Name: "vllm", Settings: json.RawMessage(`{"label":"l"}`)},
	}
}

func TestFlat(t *testing.T) {
	want := []Setting{
		{"before.warm_up.from", "other", ClientRole},
		{"before.warm_up.requests", "1", LoadRole},
		{"client.timeout", "1m0s", ClientRole},
		{"dialect.name", "vllm", SilentRole},
		{"dialect.settings.label", "l", SilentRole},
		{"load[0].arrival.kind", "constant", LoadRole},
		{"load[0].arrival.rate", "20", LoadRole},
		{"load[0].dataset.kind", "random", LoadRole},
		{"load[0].dataset.name", "x", LoadRole},
		{"load[0].dataset.output_len", "32", LoadRole},
		{"load[0].model", "m", LoadRole},
		{"name", "g-1", SilentRole},
		{"objectives[0]", "ttft=1s", ReportRole},
		{"request.body.a.b", "2", LoadRole},
		{`request.body.stop`, "[]", LoadRole},
		{"request.body.temperature", "1e6", LoadRole},
		{"request.body.user", "null", LoadRole},
		{`request.body["a.b"]`, "1", LoadRole},
		{"request.ids", "a-", SilentRole},
		{"request.ignore_eos", "false", LoadRole},
		{"request.protocol", "chat", LoadRole},
		{"request.stream", "true", LoadRole},
		{"request.usage", "end", ClientRole},
		{"requests", "20", LoadRole},
		{"seed", "12345678901234567", LoadRole},
		{"target.engine.output_len", "200", ServerRole},
		{"target.engine.seed", "3", ServerRole},
		{"target.headers[0].from.env", "TEAM", LoadRole},
		{"target.headers[0].name", "X-Team", LoadRole},
		{"target.simulated", "true", ServerRole},
		{"version", "1", SilentRole},
	}
	for range 1000 {
		if diff := cmp.Diff(want, Flat(simulated())); diff != "" {
			t.Fatal(diff)
		}
	}
	if Flat(nil) != nil {
		t.Error("settings of no Spec")
	}
}

func TestNamesOfSettings(t *testing.T) {
	names := map[string]string{
		"load[0].dataset.output_len": "output_len", "load[0].dataset.name": "load[0].dataset.name", "load[0].dataset.kind": "load[0].dataset.kind",
		"load[0].arrival.rate": "rate", "load[1].arrival.rate": "load[1].arrival.rate", "request.body.user": "body.user",
		"target.engine.output_len": "engine.output_len", "target.url": "target.url", "client.timeout": "client.timeout", "seed": "seed",
	}
	for path, want := range names {
		if got := (Setting{Path: path}).Name(); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// A role that no one knows would hide a setting.
func TestRolesOfFields(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var check func(reflect.Type)
	check = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		for _, f := range reflect.VisibleFields(of) {
			if r, ok := f.Tag.Lookup("role"); ok && !slices.Contains([]Role{LoadRole, ServerRole, ClientRole, ReportRole, SilentRole}, Role(r)) {
				t.Errorf("%s.%s has the role %s", of, f.Name, r)
			}
			check(f.Type)
		}
	}
	check(reflect.TypeFor[Spec]())
}
