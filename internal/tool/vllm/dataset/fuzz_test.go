package dataset

import (
	"bytes"
	"os"
	"testing"
	"testing/fstest"

	"github.com/pitot-bench/pitot/internal/load/rows"
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
	trace := TimedTrace{Chunk: 16, Multiplier: 1, Timestamp: "timestamp", InputLength: "input_length", OutputLength: "output_length", HashIDs: "hash_ids"}
	f.Fuzz(func(_ *testing.T, b []byte) {
		_ = CustomImage{}.Check(bytes.NewReader(b))
		_ = CustomAudio{}.Check(bytes.NewReader(b))
		_ = SpecBench{}.Check(bytes.NewReader(b))
		_ = SpeedBench{Category: "x"}.Check(bytes.NewReader(b))
		_ = BurstGPT{}.Check(bytes.NewReader(b))
		_ = trace.Check(bytes.NewReader(b))
		_ = eachLine(bytes.NewReader(b), func(row rows.Row) error {
			_, err := readToolQuestion(row)
			return err
		})
	})
}

func FuzzCard(f *testing.F) {
	f.Add([]byte("---\nconfigs:\n- config_name: main\n  data_files:\n  - split: train\n    path: [a/*, '**/b?.jsonl']\n---\n"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		c, err := HF{Copy: Folder{fstest.MapFS{"README.md": {Data: b}}}}.readCard()
		if err == nil {
			_, _, _ = c.files([]string{"a/x.jsonl", "b/c/b1.jsonl"}, "", "train")
		}
	})
}
