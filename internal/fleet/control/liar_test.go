package control_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/fleet/control"
	"github.com/pitot-bench/pitot/internal/fleet/delivery"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/test/fleettest"
)

// A liar is a worker that is broken, or that somebody wrote who has the token. It says that it has
// prepared what it was asked to, and sends what deliver makes of its share.
type liar struct {
	self    fleet.Worker
	key     fleet.Key
	share   int // in whose name it delivers; 0: its own, n: that of n-1
	pulse   func(*fleet.Pulse)
	ready   func(*fleet.Readiness)
	asked   func(fleet.Order)
	deliver func(s *delivery.Sender, mine []*trace.Record)

	mu     sync.Mutex
	order  fleet.Order
	due    []time.Duration
	state  fleet.State
	timer  *time.Timer // of the delivery
	sender *delivery.Sender
}

var began = time.Now()

// join has it answer until the test ends.
func (l *liar) join(t *testing.T, s fleettest.Server) {
	t.Helper()
	b := connect(t, s)
	l.key = fleet.NewKey()
	id := l.key.ID()
	l.self.ID = id
	l.self.Protocol, l.self.Pitot, l.state = fleet.Protocol, version, fleet.Idle
	must := func(end func(), err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(end)
	}
	readiness := func() fleet.Readiness {
		r := fleet.Readiness{State: l.state, Digest: l.order.Digest}
		if l.ready != nil {
			l.ready(&r)
		}
		return r
	}
	locked := func(do func()) {
		l.mu.Lock()
		defer l.mu.Unlock()
		do()
	}
	must(bus.Answer(b, bus.Everybody, func(fleet.Question) (any, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		w := l.self
		w.State = l.state
		return w, nil
	}))
	must(bus.Answer(b, bus.SubjectOf(id, bus.Order), func(o fleet.Order) (r any, err error) {
		due := l.prepare(t, o)
		locked(func() { l.order, l.due, l.state = o, due, fleet.Ready; r = readiness() })
		if l.asked != nil {
			l.asked(o)
			locked(func() { l.state = fleet.Idle }) // for the next
		}
		return r, nil
	}))
	must(bus.Answer(b, bus.SubjectOf(id, bus.Poll), func(fleet.Poll) (r any, err error) {
		locked(func() { r = readiness() })
		return r, nil
	}))
	must(bus.Answer(b, bus.SubjectOf(id, bus.Start), func(s fleet.Start) (r any, err error) {
		locked(func() {
			l.state = fleet.Armed
			r = readiness()
			as := s.Share
			if l.share > 0 {
				as = l.share - 1
			}
			l.sender = delivery.NewSender(b.Stream(), l.order.Run, as, l.key)
			l.began(s)
		})
		return r, nil
	}))
	must(bus.Answer(b, bus.SubjectOf(id, bus.Beat), func(fleet.Beat) (p any, err error) {
		at := int64(time.Since(began))
		pulse := fleet.Pulse{Arrived: at, Answered: at, Wall: time.Now().UnixNano()}
		locked(func() { pulse.State = l.state })
		if l.pulse != nil {
			l.pulse(&pulse)
		}
		return pulse, nil
	}))
	t.Cleanup(func() {
		locked(func() {
			if l.sender != nil {
				l.sender.Close()
			}
		})
	})
}

// prepare is when the requests of an order are due.
func (l *liar) prepare(t *testing.T, o fleet.Order) (due []time.Duration) {
	if l.deliver == nil {
		return nil
	}
	p, err := run.Prepare(t.Context(), o.Spec, deps())
	if err != nil {
		t.Error(err)
		return nil
	}
	defer p.Close()
	next, end := iter.Pull(p.Job().Due)
	defer end()
	for range p.Job().Requests.N {
		at, _ := next()
		due = append(due, at)
	}
	return due
}

// began delivers records that can be, once the last request is due. A start that does not come about is followed by
// another one.
func (l *liar) began(s fleet.Start) {
	if l.deliver == nil || len(l.due) == 0 {
		return
	}
	var mine []*trace.Record
	for i, due := range l.due {
		at := trace.Instant(due)
		r := trace.NewRecord(i)
		r.ID = fmt.Sprint("r-", i)
		r.Due, r.Released, r.Sent, r.FirstByte, r.Done = at, at+1, at+2, at+3, at+4
		if i%s.Of == s.Share || l.share > 0 && i%s.Of == l.share-1 {
			mine = append(mine, r)
		}
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	sender := l.sender
	l.timer = time.AfterFunc(time.Until(began.Add(time.Duration(s.At)+l.due[len(l.due)-1])), func() { l.deliver(sender, mine) })
}

func sendAll(s *delivery.Sender, all []*trace.Record) {
	for _, r := range all {
		s.Record(r)
	}
}

// A worker that delivers what cannot be is lost and named, and the requests of the others are as they
// should be.
func TestLiesInTheStream(t *testing.T) {
	t.Parallel()
	one := func(change func(*trace.Record)) func(*delivery.Sender, []*trace.Record) {
		return func(s *delivery.Sender, mine []*trace.Record) {
			change(mine[1])
			sendAll(s, mine)
			s.End(fleet.End{Records: len(mine), End: 5})
		}
	}
	end := func(change func(*fleet.End)) func(*delivery.Sender, []*trace.Record) {
		return func(s *delivery.Sender, mine []*trace.Record) {
			sendAll(s, mine)
			e := fleet.End{Records: len(mine), End: 5}
			change(&e)
			s.End(e)
		}
	}
	lies := map[string]func(*delivery.Sender, []*trace.Record){
		"sent before due": one(func(r *trace.Record) { r.Released = r.Due - 1 }),
		"another due":     one(func(r *trace.Record) { r.Due-- }),
		"done before sent": one(func(r *trace.Record) {
			r.Done, r.FirstByte = r.Sent-trace.Instant(time.Second), r.Sent-trace.Instant(time.Second)
		}),
		"never done":       one(func(r *trace.Record) { r.Done = trace.Never }),
		"chunks backwards": one(func(r *trace.Record) { r.Chunks = []trace.Chunk{{At: r.Done + 2e7}, {At: r.Sent}} }),
		"near future":      one(func(r *trace.Record) { r.Done += trace.Instant(20 * time.Second) }),
		"another id":       one(func(r *trace.Record) { r.ID = "r-1000" }),
		"another tenant":   one(func(r *trace.Record) { r.Tenant = "\x1b[2J" }),
		"a class":          one(func(r *trace.Record) { r.Class = "no-such-class" }),
		"far future":       one(func(r *trace.Record) { r.Done = 1e18 }),
		"far past":         one(func(r *trace.Record) { r.Sent = math.MinInt64 }),
		"a chunk":          one(func(r *trace.Record) { r.Chunks = []trace.Chunk{{At: math.MaxInt64 - 1}} }),
		"no number":        one(func(r *trace.Record) { r.Accept = math.NaN() }),
		"negative tokens":  one(func(r *trace.Record) { r.OutputTokens = math.MinInt64 }),
		"an absurd index":  one(func(r *trace.Record) { r.Index = math.MaxInt64 }),
		"another's index":  one(func(r *trace.Record) { r.Index++ }),
		"fewer than said":  end(func(e *fleet.End) { e.Records++ }),
		"a negative count": end(func(e *fleet.End) { e.Records = -1 }),
		"an end to come":   end(func(e *fleet.End) { e.End = 1e18 }),
		"probes":           end(func(e *fleet.End) { e.Probes = []*trace.Record{trace.NewRecord(0)} }),
	}
	s := fleettest.Embedded(t, fleettest.Options{})
	server, url := fleettest.Truth(t, truth.Config{})
	hire(t, s, 1, nil)
	for name, deliver := range lies {
		l := &liar{self: fleet.Worker{Name: "z " + name, Host: "there"}, deliver: deliver}
		l.join(t, s)
	}
	truthful := &liar{self: fleet.Worker{Name: "zz", Host: "there"}, deliver: end(func(*fleet.End) {})}
	truthful.join(t, s)
	result, err := execute(t, spec(t, url, open), control.New(options(t, s, 0)))
	if err != nil {
		t.Fatal(err)
	}
	f := result.Trace.Run.Fleet
	if f == nil || len(f.Workers) != 2+len(lies) || result.Trace.Run.Verdict.Validity != trace.Invalid {
		t.Fatalf("fleet %+v, verdict %+v", f, result.Trace.Run.Verdict)
	}
	if w := f.Workers[1+len(lies)]; w.IsLost() || w.Records != w.Requests {
		t.Errorf("one that does not lie is lost: %v", w.LostWhy)
	}
	for _, w := range f.Workers[1 : 1+len(lies)] {
		if w.LostWhy.Code != "fleet.lost-damaged" {
			t.Errorf("%s: lost %t, %v", w.Name, w.IsLost(), w.LostWhy)
		}
	}
	checkHonest(t, result.Trace, len(server.Log().Requests))
}

// checkHonest checks the share of the first worker, and that of the others nothing absurd is left.
func checkHonest(t *testing.T, tr *trace.Trace, sent int) {
	t.Helper()
	first := tr.Run.Fleet.Workers[0]
	ok := 0
	for _, r := range tr.Records {
		if r.Index%len(tr.Run.Fleet.Workers) == 0 && r.OK() {
			ok++
		}
	}
	if first.IsLost() || ok != first.Requests || sent != ok || len(tr.Records) != 60 || tr.Run.End > trace.Instant(time.Minute) {
		t.Errorf("%+v: %d answers, %d were sent, %d records; the end is %v", first, ok, sent, len(tr.Records), tr.Run.End)
	}
}

// What workers say of themselves is kept as text of one line, and as numbers that can be; one whose id is
// none is not heard.
func TestLiesOfAWorker(t *testing.T) {
	t.Parallel()
	s := fleettest.Embedded(t, fleettest.Options{})
	b := connect(t, s)
	say := func(w fleet.Worker) {
		end, err := bus.Answer(b, bus.Everybody, func(fleet.Question) (any, error) { return w, nil })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(end)
	}
	for _, id := range []string{"", "*", ">", "a.b", "a b", "x\r\nPUB", strings.Repeat("a", 1000), "ü"} {
		say(fleet.Worker{ID: id, Name: "of no id"})
	}
	ids := []string{strings.Repeat("a1", 32), strings.Repeat("b1", 32), strings.Repeat("c1", 32)}
	absurd := fleet.Worker{ID: ids[0], Name: "\x1b[2Jclear\nsecond line" + strings.Repeat("x", 1<<19), Zone: "\u202eturned", Host: "h\x07", OS: "o\n", Pitot: "p\r", State: "st\x1bate", Run: "../x", CPUs: math.MaxInt, PID: -1, Files: math.MaxUint64, Capacity: 1e300}
	say(absurd)
	say(absurd)
	twin := absurd
	twin.Name = "another name"
	say(twin)
	say(fleet.Worker{ID: ids[1], Name: "same"})
	say(fleet.Worker{ID: ids[2], Name: "same"})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	seen, err := control.Look(ctx, b, version, 2*time.Second)
	if err != nil || len(seen) != 3 {
		t.Fatalf("%d are seen, %v", len(seen), err)
	}
	names := map[string]bool{}
	for _, w := range seen {
		names[w.Name] = true
		for _, text := range []string{w.Name, w.Zone, w.Host, w.OS, w.Pitot, string(w.State)} {
			if len(text) > 400 || strings.ContainsAny(text, "\x1b\n\r\x07\u202e") {
				t.Errorf("%q", text)
			}
		}
		if w.Run != "" || w.CPUs > 1<<40 || w.PID < 0 || w.Files > 1<<40 || w.Capacity > 1<<40 {
			t.Errorf("%+v", w)
		}
	}
	if !names["same b1b1"] || !names["same c1c1"] {
		t.Errorf("names %v", names)
	}
}

// A worker with an absurd clock, or a state that is none, is not started; the run is made without it.
func TestLiesBeforeTheStart(t *testing.T) {
	t.Parallel()
	s := fleettest.Embedded(t, fleettest.Options{})
	_, url := fleettest.Truth(t, truth.Config{})
	hire(t, s, 1, nil)
	for name, l := range map[string]*liar{
		"clock beyond":    {pulse: func(p *fleet.Pulse) { p.Arrived, p.Answered = math.MaxInt64, math.MaxInt64 }},
		"clock backwards": {pulse: func(p *fleet.Pulse) { p.Answered = p.Arrived - 1e9 }},
		"clock of hours":  {pulse: func(p *fleet.Pulse) { p.Answered = p.Arrived + int64(time.Hour) }},
		"not armed":       {ready: func(r *fleet.Readiness) { r.State = "w\x1bhatever" }},
		"failed":          {pulse: func(p *fleet.Pulse) { p.State, p.Why = fleet.Failed, strings.Repeat("why\n", 1<<16) }},
	} {
		l.self = fleet.Worker{Name: "z " + name, Host: "there"}
		l.join(t, s)
	}
	o := options(t, s, 0)
	o.Wait, o.Fewer = 0, true
	result, err := execute(t, spec(t, url, open), control.New(o))
	if err != nil {
		t.Fatal(err)
	}
	if f := result.Trace.Run.Fleet; result.Summary.Requests.OK != 60 || len(f.Workers) != 1 {
		t.Errorf("%d answers, fleet %+v", result.Summary.Requests.OK, f)
	}
}

// A worker that delivers in the name of another one is lost and named, and nothing of it is taken: the other's requests
// are as they should be.
func TestAWorkerInTheNameOfAnother(t *testing.T) {
	t.Parallel()
	s := fleettest.Embedded(t, fleettest.Options{})
	server, url := fleettest.Truth(t, truth.Config{TTFT: 50 * time.Millisecond})
	hire(t, s, 1, nil)
	l := &liar{self: fleet.Worker{Name: "z", Host: "there"}, share: 1, deliver: func(s *delivery.Sender, both []*trace.Record) {
		sendAll(s, both)
		s.End(fleet.End{Records: len(both), End: 5})
	}}
	l.join(t, s)
	result, err := execute(t, spec(t, url, open), control.New(options(t, s, 0)))
	if err != nil {
		t.Fatal(err)
	}
	w := result.Trace.Run.Fleet.Workers[1]
	if w.LostWhy.Code != "fleet.lost-damaged" || !strings.Contains(fmt.Sprint(w.LostWhy), "in the name of worker worker-0") || w.Records != 0 {
		t.Errorf("%+v", w)
	}
	checkHonest(t, result.Trace, len(server.Log().Requests))
}

// A worker that says for ever that it sends, or anything else, is waited for as long as its requests can take; one that
// does not stop is not said to be silent.
func TestAWorkerThatGoesOn(t *testing.T) {
	t.Parallel()
	for _, state := range []fleet.State{fleet.Sending, fleet.Armed, "w\x1bhatever"} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			f := goOn(t, state, nil)
			if w := f.Workers[1]; w.LostWhy.Code != "fleet.lost-overdue" || w.Missing() != 30 {
				t.Errorf("%+v", w)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		stop := errors.New("enough")
		if w := goOn(t, fleet.Sending, stop).Workers[1]; w.LostWhy.Code != "fleet.lost-goes-on" || fmt.Sprint(w.LostWhy.Args["seconds"]) == "0" {
			t.Errorf("%+v", w)
		}
	})
}

// goOn makes a run with a worker that says that it is in a state until the run is over. Its requests take a second at
// most; with a cause the run is cancelled after the first record.
func goOn(t *testing.T, state fleet.State, cause error) *trace.Fleet {
	s := fleettest.Embedded(t, fleettest.Options{})
	server, url := fleettest.Truth(t, truth.Config{})
	hire(t, s, 1, nil)
	l := &liar{self: fleet.Worker{Name: "z", Host: "there"}}
	armed := false
	l.pulse = func(p *fleet.Pulse) {
		if armed = armed || p.State == fleet.Armed; armed {
			p.State = state
		}
	}
	l.join(t, s)
	o := options(t, s, 0)
	o.Grace = 600 * time.Millisecond
	sp := spec(t, url, open)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	if cause == nil {
		sp.Client.Timeout = plan.Duration(time.Second)
	} else {
		sp.Client.Timeout = plan.Duration(time.Hour)
	}
	d := deps()
	d.Fleet = control.New(o)
	p, err := run.Prepare(ctx, sp, d)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var sinks []run.Sink
	if cause != nil {
		sinks = append(sinks, after(t, 1, func() { cancel(cause) }))
	}
	result, err := p.Execute(ctx, nil, sinks...)
	if result == nil {
		t.Fatal(err)
	}
	if cause == nil {
		checkHonest(t, result.Trace, len(server.Log().Requests))
	}
	return result.Trace.Run.Fleet
}

// A worker whose run somebody else has ended is not waited for without end.
func TestAWorkerWithoutAnEnd(t *testing.T) {
	t.Parallel()
	s := fleettest.Embedded(t, fleettest.Options{})
	server, url := fleettest.Truth(t, truth.Config{})
	hire(t, s, 1, nil)
	l := &liar{self: fleet.Worker{Name: "z", Host: "there"}, deliver: func(s *delivery.Sender, mine []*trace.Record) { sendAll(s, mine[:3]) }}
	armed := false
	l.pulse = func(p *fleet.Pulse) {
		if armed = armed || p.State == fleet.Armed; armed {
			p.State = fleet.Idle
		}
	}
	l.join(t, s)
	o := options(t, s, 0)
	o.Grace = 600 * time.Millisecond
	result, err := execute(t, spec(t, url, open), control.New(o))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(result.Trace.Run.Fleet.Workers); n != 2 {
		t.Fatalf("%d workers", n)
	}
	w := result.Trace.Run.Fleet.Workers[1]
	if w.LostWhy.Code != "fleet.lost-failed" || w.Records != 3 || w.Missing() != 27 {
		t.Errorf("%+v", w)
	}
	checkHonest(t, result.Trace, len(server.Log().Requests))
}
