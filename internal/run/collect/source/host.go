package source

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// Program is the name of these sources.
const Program = "host"

// Known reports whether this machine can be sampled.
func Known() bool { return machine.Text(stat) != "" }

// Host samples this machine, and the control groups of this process.
type Host struct{}

// Describe is the source.
func (Host) Describe() telemetry.Source { return telemetry.Source{Name: Program, Via: "/proc"} }

// Collect reads files every period.
func (Host) Collect(ctx context.Context, every time.Duration, give func(collect.Reading)) error {
	if !Known() {
		return errors.New("this system has no /proc/stat: hosts are sampled on Linux")
	}
	s := sampler{groups: machine.GroupsOf(machine.Text("/proc/self/cgroup"))}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		give(s.here(time.Now()))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *sampler) here(began time.Time) collect.Reading {
	values := s.values(machine.Text, began)
	took := time.Since(began)
	for i := range values {
		values[i].At = began.Add(took / 2)
	}
	return collect.Reading{Values: values, Clock: telemetry.Clock{Bound: took/2 + 1}, Busy: took}
}

// RemoteHost samples another host, through one connection. Limits of control groups are those of a
// container that ssh leads into; a host has none.
type RemoteHost struct {
	Host  string
	Start func() (collect.Process, error) // nil: ssh
	Feed  collect.Feed                    // its waits; those that are 0 have defaults
}

// Describe is the source.
func (t RemoteHost) Describe() telemetry.Source {
	return telemetry.Source{Name: collect.Name(Program, t.Host), Via: "ssh " + t.Host + ": /proc", Host: t.Host}
}

// command prints files with their names before each line, but for the long lines of /proc/stat
// that nothing is read of.
func command() []string {
	files := append(fixed(), machine.Outermost().Files()...)
	return append([]string{"grep", "-sHv", "-e", "^intr ", "-e", "^softirq "}, files...)
}

// Collect asks for a sample every period.
func (t RemoteHost) Collect(ctx context.Context, every time.Duration, give func(collect.Reading)) error {
	x := exchanges{sampler: sampler{groups: machine.Outermost()}}
	f := t.Feed
	f.Name, f.Every, f.Start, f.Tries = collect.Name(Program, t.Host), every, t.Start, max(3, f.Tries)
	if f.Between == 0 {
		f.Between = collect.SilenceLimit(every)
	}
	if f.Start == nil {
		f.Start = func() (collect.Process, error) { return collect.StartProcess(collect.Asked, t.Host, command()) }
	}
	return f.Follow(ctx, collect.Handler{
		Tick: x.ask,
		Line: func(l collect.Line) collect.Verdict {
			r, whole := x.take(l)
			if whole {
				give(r)
			}
			if len(r.Values) > 0 {
				return collect.Good
			}
			return collect.Part
		},
		Trouble: func(m plan.Message) {
			x.pending, x.files = "", nil
			give(collect.Reading{Trouble: m})
		},
	})
}

// exchanges are questions to a host, one after the other, and the answers.
type exchanges struct {
	sampler
	n       int
	pending string // the number of the question that is out; empty: none
	sent    time.Time
	files   map[string]*strings.Builder
	size    int
}

// mostAnswer bounds an answer, with so much for each line that lines of one file each are bounded
// too.
const (
	mostAnswer = 4 << 20
	perLine    = 256
)

// ask asks the next question, unless the host still owes an answer.
func (x *exchanges) ask(send func(string) error) {
	if x.pending != "" {
		return
	}
	x.n++
	x.pending, x.sent = strconv.Itoa(x.n), time.Now()
	if send(x.pending) != nil {
		x.pending = ""
	}
}

// take takes a line of an answer; whole is true with the last one.
func (x *exchanges) take(l collect.Line) (r collect.Reading, whole bool) {
	began := time.Now()
	word, rest, _ := strings.Cut(l.Text, " ")
	switch {
	case word == collect.Begin && rest == x.pending:
		x.files, x.size = map[string]*strings.Builder{}, 0
	case word == collect.End && rest == x.pending && x.files != nil:
		half := l.At.Sub(x.sent) / 2
		if r.Values = x.values(x.read, x.sent.Add(half)); len(r.Values) == 0 {
			r.Trouble = plan.Msg(collect.Unreadable, "program", Program, "line", "no "+stat)
		}
		r.Clock = telemetry.Clock{Bound: half + 1}
		r.Busy = time.Since(began)
		x.files, x.pending = nil, ""
		return r, true
	case x.files != nil && x.size < mostAnswer:
		file, line, _ := strings.Cut(l.Text, ":")
		text := x.files[file]
		if text == nil {
			text = &strings.Builder{}
			x.files[file] = text
		}
		text.WriteString(line + "\n")
		x.size += len(l.Text) + perLine
	}
	return collect.Reading{}, false
}

func (x *exchanges) read(file string) string {
	if text := x.files[file]; text != nil {
		return text.String()
	}
	return ""
}
