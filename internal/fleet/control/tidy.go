package control

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/plain"
)

// The run stores and shows what workers report about themselves, and adds some of it up. The functions here force
// it into the possible range: a broken worker must be named, and must not break the run of the others.

const (
	// maxWorkers is how many workers are listened to.
	maxWorkers = 10_000
	// longest is the length of a text of a worker, in bytes.
	longest = 300
	// most is the highest count of anything.
	most = 1 << 40
)

// words is a text in one line, without control sequences.
func words(text string) string {
	if text = plain.Line(text); len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return text
}

func tidy(w fleet.Worker) fleet.Worker {
	for _, text := range []*string{&w.Name, &w.Zone, &w.Pitot, &w.Host, &w.OS, (*string)(&w.State)} {
		*text = words(*text)
	}
	if !fleet.IsRun(w.Run) {
		w.Run = ""
	}
	w.CPUs, w.PID, w.Files, w.Capacity = count(w.CPUs), count(w.PID), min(w.Files, most), min(max(w.Capacity, 0), most)
	return w
}

func count(n int) int { return min(max(n, 0), most) }

// disambiguate gives workers with the same name the beginning of their id as well.
func disambiguate(all []fleet.Worker) {
	times := map[string]int{}
	for _, w := range all {
		times[w.Name]++
	}
	for i := range all {
		if w := &all[i]; times[w.Name] > 1 || w.Name == "" {
			w.Name = strings.TrimSpace(w.Name + " " + w.ID[:min(4, len(w.ID))])
		}
	}
}

// tidyPulse is how a worker says it gets on.
func tidyPulse(p fleet.Pulse) fleet.Pulse {
	p.Why, p.State = words(p.Why), fleet.State(words(string(p.State)))
	s := &p.Progress
	for _, n := range []*int{&s.Released, &s.Done, &s.Failed, &s.Tokens} {
		*n = count(*n)
	}
	s.Done = min(s.Done, s.Released)
	return p
}

// spare is how far the instants of a worker may be from those of the controller where its clock is not known: far more
// than clocks differ.
const spare = trace.Instant(time.Minute)

var (
	errOther   = errors.New("a record is that of another request")
	errClass   = errors.New("the class of a record is unknown")
	errNumber  = errors.New("a number of a record is none")
	errText    = errors.New("a text of a record is too long")
	errInstant = errors.New("an instant is before the run or after now")
	errDue     = errors.New("a record is due at another instant than its request")
	errOrder   = errors.New("the instants of a record are not in order: due, sent, answered, done")
	errProbes  = errors.New("there are probes of a worker that was to send none")
)

// checkRecord reports problems with a record as that of a request, which is due at an instant unless it waits for
// an answer, when no instant can be later than the latest. The server's answer is judged elsewhere.
func checkRecord(r *trace.Record, req *workload.Request, due, latest trace.Instant) error {
	switch {
	case r.ID != req.ID || r.Tenant != req.Tenant || r.Session != req.Session || r.Turn != req.Number:
		return errOther
	case req.After == 0 && r.Due != due:
		return errDue
	}
	return checkForm(r, latest)
}

// tooMuch reports a number that cannot be.
func tooMuch(x *float64) bool { return x != nil && !(math.Abs(*x) <= most) }

func checkForm(r *trace.Record, latest trace.Instant) error {
	switch {
	case r.Class != "" && !slices.Contains(trace.Classes(), r.Class):
		return errClass
	case !(r.AudioSeconds >= 0 && r.AudioSeconds <= most) || !(r.Accept >= 0 && r.Accept <= most) || r.PromptTokens < 0 || r.WantTokens < 0 || r.OutputTokens < 0:
		return errNumber
	case r.Server != nil && (tooMuch(r.Server.Queue) || tooMuch(r.Server.TTFT)):
		return errNumber
	case len(r.Stamps) > longest || len(r.CountedFrom) > longest || len(r.Error) > 64<<10:
		return errText
	}
	for _, t := range []trace.Instant{r.Due, r.Free, r.Released, r.Dialed, r.Connected, r.Sent, r.FirstByte, r.Done, r.FirstSent, r.Usage.At} {
		if outside(t, latest) {
			return errInstant
		}
	}
	if slices.ContainsFunc(r.Chunks, func(c trace.Chunk) bool { return outside(c.At, latest) }) {
		return errInstant
	}
	if !inOrder(r) {
		return errOrder
	}
	return nil
}

// jitter is how far instants may be out of order. Those that the kernel gives what arrives are off by as much as the
// wall clock was set, for up to a second: of them spare is asked.
const jitter = trace.Instant(10 * time.Millisecond)

// inOrder reports whether the instants of a record can follow one another. Those of an answer that came have all
// happened.
func inOrder(r *trace.Record) bool {
	if r.OK() && (!r.Sent.Happened() || !r.FirstByte.Happened() || !r.Done.Happened()) {
		return false
	}
	last, allowance := trace.Never, jitter
	follows := func(t trace.Instant) bool {
		ok := !t.Happened() || t >= last-allowance
		last = max(last, t)
		return ok
	}
	ok := r.Due.Happened() && r.Released >= r.Due && r.Free <= r.Released+jitter &&
		r.FirstSent <= max(r.Sent, 0)+jitter
	for _, t := range []trace.Instant{r.Released, r.Dialed, r.Connected, r.Sent} {
		ok = ok && follows(t)
	}
	if r.Stamps == trace.KernelStamps {
		allowance = spare
	}
	ok = ok && follows(r.FirstByte)
	for _, c := range r.Chunks {
		ok = ok && follows(c.At)
	}
	return ok && follows(r.Usage.At) && follows(r.Done)
}

// outside reports an instant that cannot be.
func outside(t, latest trace.Instant) bool { return t < -spare || t > latest }

// checkEnd reports problems with the end of a share of which so many records came.
func checkEnd(e *fleet.End, s fleet.Start, records int, latest trace.Instant) error {
	switch {
	case e.Records != records:
		return fmt.Errorf("its end speaks of %d records, and %d came", e.Records, records)
	case outside(e.End, latest):
		return errInstant
	case len(e.Probes) > 0 && !s.Probe:
		return errProbes
	}
	for _, p := range e.Probes {
		if err := checkForm(p, latest); err != nil {
			return err
		}
	}
	return nil
}
