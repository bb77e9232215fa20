package source

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// Of an answer of another host 4 MiB are kept, whatever its lines are: long ones, empty ones, or
// each of a file of its own.
func TestAnAnswerIsBounded(t *testing.T) {
	for what, line := range map[string]func(n int) string{
		"long":  func(int) string { return stat + ":" + strings.Repeat("x", 10_000) },
		"empty": func(int) string { return "" },
		"files": func(n int) string { return fmt.Sprintf("%d:", n) },
	} {
		x := exchanges{sampler: sampler{groups: machine.Outermost()}}
		x.ask(func(string) error { return nil })
		x.take(collect.Line{Text: collect.Begin + " 1", At: time.Now()})
		for n := range 100_000 {
			x.take(collect.Line{Text: line(n), At: time.Now()})
		}
		held := 0
		for file, text := range x.files {
			held += len(file) + text.Len() + perLine
		}
		if held > mostAnswer+mostAnswer/2 {
			t.Errorf("%s: %d bytes of %d files", what, held, len(x.files))
		}
		if r, whole := x.take(collect.Line{Text: collect.End + " 1", At: time.Now()}); !whole || r.Trouble.Code != collect.Unreadable {
			t.Errorf("%s: %+v", what, r)
		}
	}
}
