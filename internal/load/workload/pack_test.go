package workload

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The requests of a file are the same whether they are in memory or in a spool.
func TestPackedRequestsAreTheSame(t *testing.T) {
	var file strings.Builder
	for i := range 30 {
		fmt.Fprintf(&file, "{\"prompt\": \"w%d w%d\", \"output_tokens\": %d, \"timestamp\": %d}\n", i, 2*i, i+1, i)
	}
	file.WriteString("{\"prompt\": [1, 2, 3], \"output_tokens\": 4}\n{\"messages\": [{\"role\" : \"user\",  \"content\": \"hello\"}], \"output_tokens\": 4}\n" +
		"{\"texts\": [\"w1\", \"w2 w3\"]}\n{\"audio\": \"QUJD\"}\n")
	for _, c := range []Custom{{IDPrefix: "p-"}, {Shuffle: true, Seed: 3}, {Requests: 50, Seed: 4}, {Requests: 9, Shuffle: true}, {Requests: 90, NoOversample: true}} {
		build := func(p *Pack) (Workload, []Request) {
			p, err := c.Read(strings.NewReader(file.String()), p)
			if err != nil {
				t.Fatal(err)
			}
			w, err := c.Build(t.Context(), p, &words{})
			if err != nil {
				t.Fatal(err)
			}
			all, err := w.All().Make(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return w, all
		}
		plain, want := build(new(Pack))
		packed, got := build(&Pack{spool: NewSpool(new(memory), 0), window: 5})
		if plain.List != nil || packed.List == nil {
			t.Fatal("not packed")
		}
		if diff := cmp.Diff(want, got) + cmp.Diff(plain.Notes, packed.Notes); diff != "" {
			t.Errorf("%+v: %s", c, diff)
		}
		for i := range want {
			if b := packed.List.Brief(i); b != want[i].brief() {
				t.Errorf("%+v: request %d: %+v", c, i, b)
			}
		}
		if a, b := plain.Python.Float64(), packed.Python.Float64(); a != b {
			t.Errorf("%+v: the next draws are %v and %v", c, a, b)
		}
	}
}

// A spool that cannot be written is an error, and not a mistake in the file.
func TestAFullSpool(t *testing.T) {
	full := errors.New("no space left")
	file := strings.Repeat("{\"prompt\": \"w1\", \"output_tokens\": 1}\n", 9)
	if _, err := (Custom{}).Read(strings.NewReader(file), &Pack{spool: NewSpool(fullFile{full}, 0), window: 2}); !errors.Is(err, full) {
		t.Error(err)
	}
}

type fullFile struct{ err error }

func (f fullFile) WriteAt([]byte, int64) (int, error) { return 0, f.err }

func (f fullFile) ReadAt([]byte, int64) (int, error) { return 0, f.err }
