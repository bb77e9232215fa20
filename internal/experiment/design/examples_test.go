package design

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/model/apiserver"
)

// The examples are right, their profiles too, and are written back as they are.
func TestExamples(t *testing.T) {
	t.Chdir("../../..")
	files, err := filepath.Glob("examples/experiments/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		e, _, err := Read(name, data)
		if err != nil {
			t.Fatal(err)
		}
		again(t, e)
		for _, v := range e.Expanded() {
			for _, w := range e.Workloads {
				if _, err := v.Words(w); err != nil {
					t.Error(err)
				}
			}
			if profile := v.Server.Profile; profile != "" {
				if _, err := apiserver.ReadProfile(profile, os.ReadFile); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// The example of the docs is right, and so is the mistake they show.
func TestDocumented(t *testing.T) {
	docs, err := os.ReadFile("../../../docs/experiments.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(docs), "```yaml\n")
	example, rest, _ := strings.Cut(rest, "```")
	e, _, err := Read("eager.yaml", []byte(example))
	if err != nil || len(e.Expanded()) != 2 {
		t.Fatal(e, err)
	}
	_, rest, _ = strings.Cut(rest, "```\n")
	shown, _, _ := strings.Cut(rest, "```")
	_, _, err = Read("eager.yaml", []byte(strings.Replace(example, "${eager}", "${eagr}", 1)))
	if err == nil || err.Error()+"\n" != shown {
		t.Errorf("the docs show\n%sand it is\n%v", shown, err)
	}
}
