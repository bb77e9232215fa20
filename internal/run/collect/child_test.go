package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A script is a process that prints lines, each after a wait, and then ends or stays silent.
type script struct {
	lines []string // "good", or anything else; "..." waits for a minute
	every time.Duration
	hangs bool
	size  int // of each line
	stop  chan struct{}
	n     int
}

func (s *script) Line() ([]byte, int, error) {
	wait := s.every
	if s.n < len(s.lines) && s.lines[s.n] == "..." {
		wait = time.Minute
	}
	if s.n >= len(s.lines) && s.hangs {
		<-s.stop
	}
	select {
	case <-time.After(wait):
	case <-s.stop:
	}
	if s.n >= len(s.lines) {
		return nil, 0, io.EOF
	}
	s.n++
	return []byte(s.lines[s.n-1]), max(s.size, 1), nil
}

func (s *script) Send(string) error { return nil }

func (s *script) End() error {
	close(s.stop)
	if s.hangs {
		return nil
	}
	return errors.New("exit status 3")
}

// follow runs scripts, one at each start, the last one again and again; it returns what
// happened, with the second in which it did.
func follow(t *testing.T, f Feed, limit time.Duration, scripts ...script) (events []string, err error) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	began, starts := time.Now(), 0
	say := func(format string, args ...any) {
		events = append(events, fmt.Sprintf("%v ", time.Since(began).Round(time.Second))+fmt.Sprintf(format, args...))
	}
	f.Name = "smi"
	f.Start = func() (Process, error) {
		s := scripts[min(starts, len(scripts)-1)]
		starts++
		say("start")
		s.stop = make(chan struct{})
		return &s, nil
	}
	err = f.Follow(ctx, Handler{
		Line:    func(l Line) Verdict { return map[bool]Verdict{true: Good}[l.Text == "good"] },
		Trouble: func(m plan.Message) { say("%s %v", m.Code, m.Args) },
	})
	return events, err
}

// One that dies is started again after 1, 2, 4 ... 30 s; one that fell silent is ended, and had
// 30 s for its first line, 10 s for each after that. Garbage is no sign of life.
func TestItIsStartedAgain(t *testing.T) {
	one := script{lines: []string{"good", "good", "lost it"}, every: time.Second}
	for _, x := range []struct {
		name    string
		limit   time.Duration
		scripts []script
		want    []string
	}{
		{"dies", 12 * time.Second, []script{one}, []string{
			"0s start", "4s telemetry.exited map[program:smi why:exit status 3: lost it]",
			"5s start", "9s telemetry.exited map[program:smi why:exit status 3: lost it]", "11s start",
		}},
		{"slow, then silent", 50 * time.Second, []script{
			{lines: []string{"good", "good"}, every: 5 * time.Second, hangs: true},
		}, []string{
			"0s start", "20s telemetry.silent map[for:10 program:smi]", "21s start",
			"41s telemetry.silent map[for:10 program:smi]", "43s start",
		}},
		{"garbage after a while", 20 * time.Second, []script{
			{lines: append([]string{"good"}, strings.Split(strings.Repeat("x ", 100), " ")...), every: time.Second},
		}, []string{
			"0s start", "11s telemetry.silent map[for:10 program:smi]", "12s start",
		}},
		{"a flood", 3 * time.Second, []script{
			{lines: []string{"good", "x", "x", "x", "x", "x"}, size: 4 << 20, every: time.Millisecond},
		}, []string{
			"0s start", "0s telemetry.flooded map[program:smi]", "1s start", "1s telemetry.flooded map[program:smi]",
		}},
		{"a flood of short lines", time.Second / 2, []script{
			{lines: slices.Repeat([]string{"good"}, 70000), hangs: true, every: time.Microsecond},
		}, []string{
			"0s start", "0s telemetry.flooded map[program:smi]",
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				events, err := follow(t, Feed{}, x.limit, x.scripts...)
				if d := cmp.Diff(x.want, events); d != "" || err != nil {
					t.Error(err, d)
				}
			})
		})
	}
}

// A program that ran well for a minute is started again after a second.
func TestWaitsBeginAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dies, well := script{lines: []string{"good"}}, script{lines: []string{"good", "...", "good"}}
		events, _ := follow(t, Feed{Between: time.Hour}, 72*time.Second, dies, dies, well, dies)
		want := []string{"0s start", "1s start", "3s start", "1m4s start", "1m6s start", "1m10s start"}
		var starts []string
		for _, e := range events {
			if strings.HasSuffix(e, "start") {
				starts = append(starts, e)
			}
		}
		if d := cmp.Diff(want, starts); d != "" {
			t.Error(d)
		}
	})
}

// A program that never gave a value is given up, with its words.
func TestItIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := script{lines: []string{"no devices were found"}}
		events, err := follow(t, Feed{Tries: 2}, time.Hour, bad)
		if err == nil || err.Error() != "smi: exit status 3: no devices were found" || len(events) != 3 {
			t.Error(err, events)
		}
		_, err = follow(t, Feed{First: 5 * time.Second}, time.Hour, script{hangs: true})
		if err == nil || err.Error() != "smi: no answer for 5s" {
			t.Error(err)
		}
		err = Feed{
			Name: "smi", Start: func() (Process, error) { return nil, errors.New("no such file") },
		}.Follow(t.Context(), Handler{})
		if err == nil || err.Error() != "smi: no such file" {
			t.Error(err)
		}
	})
}
