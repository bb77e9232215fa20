package collect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// A Process is a program that runs: a *proc.Stream, or a stand-in of a test.
type Process interface {
	Line() (line []byte, size int, err error) // valid until the next call
	Send(line string) error
	End() error
}

// A Line is a line of output.
type Line struct {
	Text string
	At   time.Time // when it arrived
	size int       // bytes that were read of it
}

// A Handler receives the events of a program. Its functions are called from one goroutine.
type Handler struct {
	Line    func(Line) Verdict
	Tick    func(send func(string) error) // once a script is Ready, and every Feed.Every from then on; nil: none
	Trouble func(plan.Message)            // why a program is started again
}

// A Verdict is the kind of a line.
type Verdict int

// The verdicts.
const (
	Odd  Verdict = iota // perhaps the reason why the program ends
	Part                // of something, and not the last of it
	Good                // a sample: the program is alive
)

// Codes of troubles; their arguments are program and why, or for Silent for, in seconds.
const (
	Exited  plan.Code = "telemetry.exited"  // it ended
	Silent  plan.Code = "telemetry.silent"  // no good line
	Flooded plan.Code = "telemetry.flooded" // more output than anybody reads
	// Unreadable is for lines of unknown form: program, line.
	Unreadable plan.Code = "telemetry.unreadable"
)

// A Feed is a program that stays running.
type Feed struct {
	Name    string // for messages
	Start   func() (Process, error)
	First   time.Duration // how long it may take to print its first good line; 0: 30 s
	Between time.Duration // how long it may be silent from then on; 0: 10 s
	Every   time.Duration // between ticks
	Tries   int           // starts without any good line before Follow gives up; 0: 1
	Wait    time.Duration // before it is started again for the first time; 0: FirstWait
}

// Waits before a program is started again double, and begin anew once it has run well.
const (
	FirstWait   = time.Second
	longestWait = 30 * time.Second
	ranWell     = time.Minute
)

// Limits of silence.
const (
	firstLimit   = 30 * time.Second
	betweenLimit = 10 * time.Second
)

// SilenceLimit is how long a program with a period may be silent.
func SilenceLimit(period time.Duration) time.Duration { return max(betweenLimit, 5*period) }

// mostBytes is how many bytes a program may print in a second, with so much for each line that reading it does not
// take a processor from the server under test: 60 000 short lines. 16 devices at 100 samples a second print 1600.
const (
	mostBytes = 16 << 20
	perLine   = 256
)

// Follow keeps the program running until ctx ends. Its error says why the program gave nothing
// in Tries starts; one that ever gave a good line is started again for ever.
func (f Feed) Follow(ctx context.Context, h Handler) error {
	ever, wait := false, orDefault(f.Wait, FirstWait)
	for try := 1; ; try++ {
		began := time.Now()
		good, why := f.once(ctx, h)
		if ctx.Err() != nil {
			return nil
		}
		ever = ever || good
		if !ever && try >= f.Tries {
			return why
		}
		h.Trouble(why.message)
		if good && time.Since(began) >= ranWell {
			wait = orDefault(f.Wait, FirstWait)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		wait = min(2*wait, longestWait)
	}
}

// A failure is why a program is not running any more.
type failure struct {
	message plan.Message
	text    string
}

func (f *failure) Error() string { return f.text }

// Why is the reason in an error of Follow.
func Why(err error) plan.Message {
	if f := (*failure)(nil); errors.As(err, &f) {
		return f.message
	}
	return plan.Msg(Exited, "program", "", "why", err)
}

func (f Feed) exited(why string) *failure {
	return &failure{plan.Msg(Exited, "program", f.Name, "why", why), fmt.Sprintf("%s: %s", f.Name, why)}
}

// once runs the program until it ends, falls silent, or ctx ends, and ends it.
func (f Feed) once(ctx context.Context, h Handler) (good bool, why *failure) {
	p, err := f.Start()
	if err != nil {
		return false, f.exited(err.Error())
	}
	lines, stop := make(chan Line, 16), make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() { readLines(p, lines, stop) })
	last := ""
	good, why = f.watch(ctx, h, p, lines, &last)
	close(stop)
	ended := p.End()
	reading.Wait()
	if why != nil || ctx.Err() != nil {
		return good, why
	}
	switch {
	case ended != nil && last != "":
		return good, f.exited(fmt.Sprintf("%v: %s", ended, last))
	case ended != nil:
		return good, f.exited(ended.Error())
	case last != "":
		return good, f.exited(last)
	}
	return good, f.exited("it ended")
}

// watch hands lines on until there are no more, and returns why it stops before that. last is
// set to the last odd line since the last good one.
func (f Feed) watch(
	ctx context.Context, h Handler, p Process, lines <-chan Line, last *string,
) (good bool, why *failure) {
	limit := orDefault(f.First, firstLimit)
	quiet := time.NewTimer(limit)
	defer quiet.Stop()
	var second rate
	ticker := time.NewTicker(orDefault(f.Every, time.Hour))
	defer ticker.Stop()
	var ticks <-chan time.Time // from when the script is ready: an exchange before would last as long as connecting
	for {
		select {
		case <-ctx.Done():
			return good, nil
		case <-ticks:
			h.Tick(p.Send)
		case <-quiet.C:
			return good, &failure{
				plan.Msg(Silent, "program", f.Name, "for", limit), fmt.Sprintf("%s: no answer for %v", f.Name, limit),
			}
		case l, ok := <-lines:
			if !ok {
				return good, nil
			}
			if second.add(l) > mostBytes {
				return good, &failure{plan.Msg(Flooded, "program", f.Name), f.Name + ": prints too much"}
			}
			if l.Text == Ready {
				if h.Tick != nil && ticks == nil {
					ticks = ticker.C
					h.Tick(p.Send)
				}
				continue
			}
			switch h.Line(l) {
			case Odd:
				*last = Short(l.Text)
			case Good:
				good, *last = true, ""
				limit = orDefault(f.Between, betweenLimit)
				quiet.Reset(limit)
			}
		}
	}
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// A rate counts bytes within a second.
type rate struct {
	since time.Time
	bytes int
}

func (r *rate) add(l Line) int {
	if l.At.Sub(r.since) >= time.Second {
		*r = rate{since: l.At}
	}
	r.bytes += l.size + perLine
	return r.bytes
}

const shortBytes = 120

// Short is the part of a line that a message repeats.
func Short(text string) string {
	text = strings.TrimSpace(text)
	return strings.ToValidUTF8(text[:min(len(text), shortBytes)], "")
}

// readLines reads until the output ends, or is no longer wanted.
func readLines(p Process, lines chan<- Line, stop <-chan struct{}) {
	defer close(lines)
	for {
		text, size, err := p.Line()
		if err != nil {
			return
		}
		machine.Discard(perLine + 2*len(text)) // itself, and its values
		select {
		case lines <- Line{string(text), time.Now(), size}:
		case <-stop:
			return
		}
	}
}
