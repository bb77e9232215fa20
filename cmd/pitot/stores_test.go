package main

import (
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A store of each release opens, as docs/compatibility.md promises. They were made by
//
//	pitot sim -n 40 --rate 20 --seed 1 --name before
//	pitot sim -n 40 --rate 20 --seed 1 --name after --slower 5%
//	pitot bench -n 10 -c 2 --seed 1 --output-len 8 --name texts --keep-text
//	pitot runs tag before +baseline --remark 'a remark'
func TestStoresOfReleases(t *testing.T) {
	t.Parallel()
	stores, err := filepath.Glob("testdata/stores/*.db.gz")
	if err != nil || len(stores) == 0 {
		t.Fatal(stores, err)
	}
	pitot := build(t)
	for _, name := range stores {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "runs.db")
			unzip(t, name, file)
			for _, want := range []struct {
				line string
				says []string
			}{
				{"runs list", []string{"before", "after", "texts"}},
				{"runs list --tag baseline --json", []string{`"remark":"a remark"`, `"requests":40,"failed":0`}},
				{"runs report before --dialect vllm", []string{"Successful requests:                     40", "Mean TTFT (ms):"}},
				{"runs show texts", []string{"10 of 10"}},
				{"runs export texts -f csv", []string{",mol tideba vuk nibutu pogubi,kernel,"}},
				{"plan after", []string{"slower: 5%"}},
				{"compare before after", []string{"engine.slower", "mean TPOT (ms)"}},
				{"runs check", []string{"no damage"}},
			} {
				words := append(strings.Fields(want.line), "--store", file)
				out, err := exec.Command(pitot, words...).CombinedOutput()
				if err != nil {
					t.Errorf("%s: %v\n%s", want.line, err, out)
				}
				for _, text := range want.says {
					if !strings.Contains(string(out), text) {
						t.Errorf("%s: no %q in\n%.2000s", want.line, text, out)
					}
				}
			}
		})
	}
}

// unzip writes what a compressed file holds.
func unzip(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(filepath.Clean(from))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	text, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, all, 0o600); err != nil {
		t.Fatal(err)
	}
}
