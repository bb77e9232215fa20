package engine

import (
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
)

// A replica is one complete server: a frontend, the core that decodes, and with
// disaggregation cores that prefill and a link between them.
//
//	          ┌ frontend ┐      ┌ prefill core ┐   link   ┌ core ┐
//	client ──▶│ requests │─────▶│    (if any)  │─────────▶│      │
//	       ◀──│  output  │◀─────│              │◀─────────│      │
//	          └──────────┘      └──────────────┘          └──────┘
//
// It proceeds from event to event: a request reaches the engine, a step ends, a
// transfer ends, the frontend finishes some work.
type replica struct {
	front   *frontend
	decode  *server
	prefill []*server
	link    *link
	servers []*server  // all of them: prefill, then decode
	outputs []Emission // of a step, on their way to the frontend
	load    int        // unfinished jobs
}

// A server is a core with the end of its current step.
type server struct {
	*Core
	end    time.Duration // forever when idle; with clocks, of what its host does
	work   int           // of a prefill server: prompt tokens of its jobs
	clocks *clocks       // nil: a step begins when the one before it has ended
}

func newServer(c coreConfig) *server {
	s := &server{Core: newCore(c), end: forever}
	if c.scheduler.Async && c.cost.launches() {
		s.clocks = new(clocks)
	}
	return s
}

// kick begins a step if the core is idle and has work.
func (s *server) kick(now time.Duration) {
	if s.end < forever {
		return
	}
	if s.clocks != nil {
		s.proceed(now)
		return
	}
	if len(s.running) == 0 && s.waiting.len() == 0 {
		s.rested = true
		return
	}
	if d, ok := s.Begin(now); ok {
		s.end = later(now, d)
	}
}

// newReplica returns replica number n of c, which has its defaults filled in.
func newReplica(c Config, n int) *replica {
	dice := func(core int, cost Costs) coreConfig {
		number := uint64(n)<<16 | uint64(core)
		return coreConfig{
			speculative: c.Speculative, lora: c.LoRA, context: c.MaxModelLen - 1, cost: cost,
			dice: arrival.Dice(c.Seed, "steps", number), host: newProcessor(cost.Host, arrival.Dice(c.Seed, "host", number)),
			pace: c.newPace(c.Seed), stalls: newStandstill(c.Stalls, c.Seed),
		}
	}
	d := dice(0, c.Cost)
	d.scheduler, d.kv = c.Scheduler, c.KV
	r := &replica{front: newFrontend(c.Frontend, d.host), decode: newServer(d)}
	if p := c.Disaggregation; p != nil {
		r.link = newLink(p.Link)
		for i := range p.PrefillServers {
			d := dice(1+i, p.Cost)
			d.scheduler, d.kv, d.speculative = p.Scheduler, p.KV, nil
			r.prefill = append(r.prefill, newServer(d))
		}
	}
	r.servers = append(append(r.servers, r.prefill...), r.decode)
	return r
}

// next is the instant of the next event or emission, or forever.
func (r *replica) next() time.Duration {
	t := r.nextEvent()
	if f := r.front; f.sent < len(f.leaving) {
		t = min(t, f.leaving[f.sent].At)
	}
	return t
}

func (r *replica) nextEvent() time.Duration {
	t := min(r.front.coming.next(), r.decode.end)
	if r.front.busy {
		t = min(t, r.front.free)
	}
	if l := r.front.loop; l != nil {
		t = min(t, l.tokenizing.next())
	}
	if r.link != nil {
		t = min(t, r.link.coming.next())
		for _, p := range r.prefill {
			t = min(t, p.end)
		}
	}
	return t
}

// advance advances to limit, or with early until there is enough output, and
// returns the instant it reached.
func (r *replica) advance(limit time.Duration, out []Emission, early bool) ([]Emission, time.Duration) {
	ended := r.front.ended
	for {
		t := r.nextEvent()
		out = r.front.flush(min(t, limit), out, early)
		if early && r.front.ended > ended {
			return out, out[len(out)-1].At
		}
		if t > limit || t == forever {
			return out, limit
		}
		if r.front.rest(t) {
			continue
		}
		out = r.handle(t, out)
		if early && (r.front.ended > ended || len(out) > cap(out)*3/4) {
			return out, t
		}
	}
}

// handle processes the events at t.
func (r *replica) handle(t time.Duration, out []Emission) []Emission {
	for _, s := range r.servers {
		if s.end == t {
			out = r.stepped(t, s, out)
		}
	}
	for r.link != nil && r.link.coming.next() == t {
		out = r.transferred(t, r.link.coming.Pop(), out)
	}
	for l := r.front.loop; l != nil && l.tokenizing.next() == t; {
		r.front.pass(l.tokenizing.Pop())
	}
	if r.front.busy && r.front.free == t {
		r.front.done(t)
	}
	for r.front.coming.next() == t {
		r.submit(r.front.coming.Pop())
	}
	r.front.next(t)
	for _, s := range r.servers {
		s.kick(t)
	}
	return out
}

// stepped ends a step and passes on its output: to the client, or from a prefill
// server to the link.
func (r *replica) stepped(t time.Duration, s *server, out []Emission) []Emission {
	s.end = forever
	switch f := r.front; {
	case s.clocks != nil:
		if l := s.handOut(t); l != nil && s != r.decode {
			return r.prefilled(t, s, l.outputs, l.ended, out)
		} else if l != nil {
			return f.take(l.outputs, out)
		}
	case s != r.decode:
		r.outputs = s.End(t, r.outputs[:0])
		return r.prefilled(t, s, r.outputs, s.ended, out)
	case f.instant():
		out = s.End(t, out)
		f.ended += len(s.ended)
	case len(f.outbox) == 0 && f.loop == nil:
		f.outbox = s.End(t, f.outbox)
	default:
		r.outputs = s.End(t, r.outputs[:0])
		f.take(r.outputs, nil)
	}
	return out
}

// prefilled passes on the outputs of a prefill server, each of which is its last for a sequence.
func (r *replica) prefilled(t time.Duration, s *server, outputs []Emission, ended []*Seq, out []Emission) []Emission {
	for i, q := range ended {
		s.work -= q.PromptTokens
		if q.done {
			out = r.front.put(outputs[i], out)
			continue
		}
		r.link.send(t, q)
	}
	return out
}

// transferred moves a prefilled sequence to its decoding core, with its first
// token.
func (r *replica) transferred(t time.Duration, s *Seq, out []Emission) []Emission {
	if s.status == gone {
		return out
	}
	out = r.front.put(s.emission(t, 1), out)
	s.last = int32(s.OutputTokens)
	s.hashed = false // the block size may differ here
	s.server = r.decode
	r.decode.Add(s)
	return out
}

// submit passes a request to the engine.
func (r *replica) submit(s *Seq) {
	if s.status == gone {
		return
	}
	if r.link == nil {
		s.server = r.decode
		r.decode.Add(s)
		return
	}
	s.last = 1
	least := r.prefill[0]
	for _, p := range r.prefill {
		if p.work < least.work {
			least = p
		}
	}
	least.work += s.PromptTokens
	s.server = least
	least.Add(s)
}

// cancel removes s, wherever it is. The current step goes on, and an idle core has
// no waiting sequence, so no step begins.
func (r *replica) cancel(s *Seq) {
	if p := s.server; p != nil {
		ended := p.clocks != nil && p.clocks.forget(s)
		if p.Cancel(s) || ended {
			p.work -= s.PromptTokens
		}
	}
	s.status = gone
	r.front.forget(s)
}

// A link transfers KV caches from prefill to decode, one sequence after the other.
type link struct {
	latency  time.Duration
	perToken Seconds
	free     time.Duration
	coming   arrivals
}

func newLink(l Link) *link {
	k := &link{latency: l.Latency.Duration()}
	if l.Bandwidth > 0 {
		k.perToken = Seconds(float64(l.TokenSize) / l.Bandwidth)
	}
	return k
}

func (l *link) send(now time.Duration, s *Seq) {
	s.status = outside
	l.free = later(max(now, l.free), (Seconds(s.PromptTokens) * l.perToken).Duration())
	l.coming.push(later(l.free, l.latency), s)
}
