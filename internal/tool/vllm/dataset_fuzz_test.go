package vllm

import (
	"bytes"
	"os"
	"testing"
	"testing/fstest"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// What comes out of a WAV file goes in again as it is.
func FuzzWAV(f *testing.F) {
	for _, name := range []string{"0", "2", "4"} {
		b, err := os.ReadFile("testdata/files/sounds/" + name + ".wav")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decodeWAV(b)
		if err != nil {
			return
		}
		once := s.encodeWAV()
		again, err := decodeWAV(once)
		if s.channels > 1<<15 || s.rate > 1<<20 {
			return // more than the header has room for
		}
		if err != nil || !bytes.Equal(once, again.encodeWAV()) {
			t.Fatalf("%d samples come back otherwise: %v", len(s.samples), err)
		}
	})
}

func FuzzLines(f *testing.F) {
	for _, name := range []string{"images.jsonl", "sounds.jsonl", "trace.jsonl", "spec_bench.jsonl", "bfcl/BFCL_v3_simple.json", "burstgpt.csv"} {
		b, err := os.ReadFile("testdata/files/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("{\"prompt\": \"hello\", \"output_tokens\": 3}\n{\"prompt\": [1, 2], \"output_tokens\": -1}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		custom := new(Custom)
		_ = custom.Read(t.Context(), reading(string(b)))
		for _, l := range custom.lines {
			if l.output < 0 {
				t.Fatalf("%q -> %+v", b, l)
			}
		}
		trace := newTimedTrace()
		for _, d := range []workload.Dataset{new(CustomImage), new(CustomAudio), new(SpecBench), &SpeedBench{questions: questions{Category: "x"}}, new(burstGPT), trace} {
			_ = d.Read(t.Context(), reading(string(b)))
		}
		_ = eachLine(bytes.NewReader(b), func(row rows.Row) error {
			_, err := readToolQuestion(row)
			return err
		})
	})
}

func FuzzCard(f *testing.F) {
	f.Add([]byte("---\nconfigs:\n- config_name: main\n  data_files:\n  - split: train\n    path: [a/*, '**/b?.jsonl']\n---\n"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		c, err := snapshot{fs: fstest.MapFS{"README.md": {Data: b}}}.card()
		if err == nil {
			_, _, _ = c.files([]string{"a/x.jsonl", "b/c/b1.jsonl"}, "", "train")
		}
	})
}
