package ingest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/pitot-bench/pitot/internal/tool/result"
)

// fuzzJSON holds for whatever the bytes are: nothing is worse than a problem with
// its place.
func fuzzJSON(f *testing.F, files ...string) {
	for _, pattern := range files {
		all, err := filepath.Glob("testdata/" + pattern)
		if err != nil || len(all) == 0 {
			f.Fatal(pattern, err)
		}
		for _, file := range all {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(b))
			f.Add(string(b[:len(b)*2/3]) + "\n" + small)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := FromText("a.json", text)
		found, problems := result.Read(s, known.formats...)
		if len(found) == 0 && len(problems) == 0 {
			t.Fatal("no result, and no problem either")
		}
		for _, p := range problems {
			if p.File == "" || p.Reason == "" || p.Line < 0 {
				t.Errorf("problem without a place: %+v", p)
			}
		}
		ids := map[string]bool{}
		for _, r := range found {
			if ids[r.Run.ID] {
				t.Errorf("%s twice", r.Run.ID)
			}
			ids[r.Run.ID] = true
			checkFound(t, r)
		}
	})
}

// checkFound holds a result against what is promised of all.
func checkFound(t *testing.T, f result.Found) {
	o := f.Run.Origin
	for _, figure := range o.Figures {
		if !result.IsFinite(figure.Value) || figure.Name == "" {
			t.Errorf("figure %q is %v", figure.Name, figure.Value)
		}
	}
	if f.Run.Plan.Rate < 0 || !result.IsFinite(f.Run.Plan.Rate) || f.Run.Plan.Concurrency < 0 || f.Run.Plan.Requests < 0 {
		t.Errorf("plan %+v", f.Run.Plan)
	}
	if _, err := json.Marshal(f.Run); err != nil {
		t.Error(err)
	}
	if f.Records == nil {
		return
	}
	n := 0
	for r, err := range f.Records {
		if err != nil {
			return
		}
		if r.Index != n || r.Due < 0 || r.Released < r.Due || r.Done < r.Released {
			t.Fatalf("record %d: %+v", n, r)
		}
		last := r.Released
		for _, c := range r.Chunks {
			if c.At < last {
				t.Fatalf("record %d goes back in time: %+v", n, r.Chunks)
			}
			last = c.At
		}
		n++
	}
	if n != f.Run.Plan.Requests {
		t.Errorf("%d records of %d requests", n, f.Run.Plan.Requests)
	}
}

func FuzzVLLM(f *testing.F) { fuzzJSON(f, "vllm/*.json", "tools/vllm*.json") }

func FuzzSGLang(f *testing.F) { fuzzJSON(f, "tools/sglang*.jsonl") }

func FuzzGuideLLM(f *testing.F) { fuzzJSON(f, "tools/guidellm*.json") }

func FuzzAIPerf(f *testing.F) { fuzzJSON(f, "tools/*-perf.json", "tools/aiperf*.json") }

func FuzzInferencePerf(f *testing.F) { fuzzJSON(f, "tools/inference-perf*.json") }
