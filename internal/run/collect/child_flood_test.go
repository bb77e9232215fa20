package collect

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// endless prints as long as it is let, and notices neither a missing reader nor a SIGTERM.
const endless = `trap "" PIPE TERM; while :; do printf %1000s 2>/dev/null; done`

// soon is a context for what must end long before it.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// A short command that prints without end, in lines or in one, has no answer, and is ended.
func TestAnAnswerWithoutEnd(t *testing.T) {
	for _, script := range []string{endless, "while :; do echo; done", "yes"} {
		ctx := soon(t)
		if out, err := Ask(ctx, "", "sh", "-c", script); err == nil || ctx.Err() != nil || len(out) > 4*mostAnswer {
			t.Errorf("%s: %d bytes, %v", script, len(out), err)
		}
	}
}

// A program that prints without end is ended as soon as that is seen, not when it has been silent for long.
func TestALineWithoutEnd(t *testing.T) {
	ctx := soon(t)
	f := Feed{Name: "smi", First: time.Hour, Start: func() (Process, error) {
		return StartProcess(Watched, "", []string{"sh", "-c", endless})
	}}
	err := f.Follow(ctx, Handler{Line: func(Line) Verdict { return Odd }, Trouble: func(plan.Message) {}})
	if ctx.Err() != nil || Why(err).Code != Flooded {
		t.Error(err)
	}
}

// The answer to a background question is cut, and a failure is reported after the output until then.
func TestWhatIsAskedAsideIsBounded(t *testing.T) {
	for command, want := range map[string]string{
		"yes":                   strings.Repeat("y;", 30000),
		"cat /dev/zero":         "",
		"ls -d / /no-such-file": "/;" + Failed,
	} {
		p, err := StartProcess(Watched, "", []string{"sleep", "600"})
		if err != nil {
			t.Fatal(err)
		}
		stop := context.AfterFunc(soon(t), func() { _ = p.End() })
		if line, _, err := p.Line(); err != nil || string(line) != Ready {
			t.Fatalf("%q, %v", line, err)
		}
		if err := p.Send(fmt.Sprintf("ask aside %s", command)); err != nil {
			t.Fatal(err)
		}
		line, _, err := p.Line()
		if got := strings.TrimPrefix(string(line), Answer+
			" aside "); strings.TrimSuffix(got, ";") != strings.TrimSuffix(want, ";") || err != nil {
			t.Errorf("%s: %d bytes, %.40q, %v", command, len(got), got, err)
		}
		if stop() {
			_ = p.End()
		}
	}
}
