package engine

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"time"
)

// A Core is one engine: waiting sequences, running sequences, and memory. It
// proceeds step by step and has no clock: Begin plans a step and returns its
// duration, End is called when it is over.
type Core struct {
	policy  Policy
	kv      KV
	cost    Costs
	cold    Seconds // still to be added to the first step with a prompt
	pace    pace
	stalls  *standstill
	host    *processor
	drafts  int // draft tokens of a decoding sequence
	accept  Acceptance
	chunk   int  // maximum tokens of one prompt in a step, 0 = no limit
	part    int  // the same in the step being planned, where prompts share it evenly
	encoder int  // image tokens of a step
	block   int  // tokens per block of kv
	context int  // maximum tokens of a sequence that go through the model, including drafts
	ranked  bool // waiting is in order of priority
	async   bool // a step is planned while the one before it runs, without clocks
	varies  bool // steps of the same work differ

	waiting  queue
	running  []*Seq // in order of admission
	lanes    lanes  // the first of them
	ended    []*Seq // finished by the latest step, in order
	rested   bool   // there was nothing to do after the previous step
	plan     StepPlan
	adapters adapters
	rand     *rand.Rand
	arrivals uint64
	known    uint64 // arrivals when the previous step began
	open     uint64 // arrivals that the step being planned may admit; with async
	counters Counters
	now      time.Duration // of the last Begin
	step     uint32        // number of the step being planned, from 1
	watch    func(Step)    // nil: no watcher
}

// A Policy determines the tokens of each sequence in the next step: it gives shares
// to running sequences and admits waiting ones, until the step is full.
type Policy interface {
	Plan(c *Core)
	// Repeat reports whether Plan would do nothing but give every running sequence the one
	// token that it decodes, as in the step before, and has memory for. It then counts as
	// called.
	Repeat(c *Core) bool
}

// A StepPlan is the next step.
type StepPlan struct {
	Work
	decodes []share // of decoding sequences
	prompts []share // of prompts, and of recomputed sequences
	encoder int     // image tokens left
	lanes   bool    // each lane has a token
	before  int     // number of decodes that had theirs before the lanes
}

// clear makes p the plan of a step without shares.
func (p *StepPlan) clear(encoder int) {
	p.Work = Work{}
	p.decodes, p.prompts = p.decodes[:0], p.prompts[:0]
	p.encoder, p.lanes, p.before = encoder, false, 0
}

// empty reports whether no sequence has a share.
func (p *StepPlan) empty() bool { return !p.lanes && len(p.decodes) == 0 && len(p.prompts) == 0 }

// A share is one sequence's part of a step.
type share struct {
	seq    *Seq
	tokens int32 // computed, including draft tokens
}

type coreConfig struct {
	scheduler   Scheduler
	kv          KVCache
	cost        Costs
	speculative *Speculative
	lora        *LoRA
	pace        pace
	stalls      *standstill
	host        *processor
	context     int
	dice        rand.PCG
}

func newCore(c coreConfig) *Core {
	core := &Core{
		policy: c.scheduler.policy(), kv: newKV(c.kv), cost: c.cost, cold: c.cost.Cold, pace: c.pace, stalls: c.stalls,
		host: c.host, async: c.scheduler.Async && !c.cost.launches(),
		chunk: c.scheduler.Chunk, encoder: c.scheduler.EncoderBudget,
		block: c.kv.Block, context: c.context, ranked: c.scheduler.Order == "priority",
		varies: c.cost.vary(), rand: rand.New(&c.dice),
	}
	if c.speculative != nil {
		core.drafts, core.accept = c.speculative.Drafts, c.speculative.Acceptance
	}
	if c.lora != nil {
		core.adapters.slots = c.lora.Slots
	}
	core.lanes.soonest = math.MaxInt
	return core
}

// Add enqueues s.
func (c *Core) Add(s *Seq) {
	s.status = waiting
	s.arrived = c.arrivals
	c.arrivals++
	c.enqueue(s)
}

// enqueue puts s at the end of the queue, or at its place by priority.
func (c *Core) enqueue(s *Seq) {
	if !c.ranked {
		c.waiting.pushLast(s)
		return
	}
	i := sort.Search(c.waiting.len(), func(i int) bool { return s.before(c.waiting.at(i)) })
	c.waiting.insert(i, s)
}

// before compares by priority, then by arrival.
func (s *Seq) before(t *Seq) bool {
	return s.Priority < t.Priority || s.Priority == t.Priority && s.arrived < t.arrived
}

// Cancel removes s and frees its resources; false if it is not here.
func (c *Core) Cancel(s *Seq) bool {
	switch s.status {
	case waiting:
		c.waiting.remove(s)
	case running:
		c.withdraw(s)
	default:
		return false
	}
	s.status = gone
	return true
}

// Begin plans a step at now and returns its duration; false if there is nothing to
// do, or nothing that can be done.
func (c *Core) Begin(now time.Duration) (time.Duration, bool) {
	if !c.prepare(now) {
		return 0, false
	}
	t := c.deviceTime()
	if c.cost.launches() {
		t = max(t, c.cost.launch(&c.plan.Work).times(c.host.at(now)))
	}
	took := c.stalls.stretch(now, c.pace.apply(t+c.tail(), now).Duration())
	c.show(took)
	return took, true
}

// prepare plans a step at now; false as for Begin.
func (c *Core) prepare(now time.Duration) bool {
	c.now = now
	c.step++
	c.plan.clear(c.encoder)
	if c.async {
		c.look()
	}
	if !c.quiet() || !c.policy.Repeat(c) {
		c.policy.Plan(c)
	} else {
		c.decodeLanes()
	}
	c.rested = false
	if c.plan.empty() {
		c.known = math.MaxUint64 // a step that was not made hides no sequence from the next
		return false
	}
	c.plan.Decodes += len(c.plan.decodes)
	if c.plan.lanes {
		c.plan.Decodes += c.lanes.len()
	}
	c.account()
	c.counters.Steps++
	c.counters.Prefilled += uint64(c.plan.PrefillTokens)
	return true
}

// deviceTime is the time that the device takes for the planned step, as drawn.
func (c *Core) deviceTime() Seconds {
	t := c.cost.time(&c.plan.Work)
	if c.cold > 0 && c.plan.PrefillTokens > 0 {
		t, c.cold = t+c.cold, 0
	}
	if c.varies {
		t = c.cost.varied(t, c.rand)
	}
	return t
}

// launchTime is the time that the host takes to launch the planned step at now.
func (c *Core) launchTime(now time.Duration) time.Duration {
	return c.pace.apply(c.cost.launch(&c.plan.Work).times(c.host.at(now)), now).Duration()
}

// tail is the device's time for the planned step after its launch.
func (c *Core) tail() Seconds { return c.cost.TailToken.times(float64(c.plan.PrefillTokens)) }

func (c *Core) show(took time.Duration) {
	if c.watch != nil {
		c.watch(Step{took, c.plan.Work})
	}
}

// look notes which arrivals the next step may admit: those that had come when the previous
// step began, or all if there is nothing else to do.
func (c *Core) look() {
	known := c.known
	c.known, c.open = c.arrivals, c.arrivals
	if !c.rested && (len(c.running) > 0 || c.waits(known)) {
		c.open = known
	}
}

// waits reports whether one of the first n arrivals is waiting.
func (c *Core) waits(n uint64) bool {
	return slices.ContainsFunc(c.waiting.all(), func(s *Seq) bool { return s.arrived < n })
}

// eligible reports whether s, which waits, was there when the step was planned and has a
// slot for its adapter.
func (c *Core) eligible(s *Seq) bool {
	return (!c.async || s.arrived < c.open) && c.adapters.fit(s.Adapter)
}

// account adds up the work of prompt shares. Pairs are multiples of one half, so
// their sums are exact.
func (c *Core) account() {
	w := &c.plan.Work
	for _, sh := range c.plan.prompts {
		s, n := sh.seq, int(sh.tokens)
		w.Prefills++
		w.PrefillTokens += n
		w.PrefillPairs += float64(n) * (float64(s.computed) + float64(n)/2)
		for ; s.images < len(s.Images) && s.at < s.computed+n; s.nextImage() {
			tokens := s.Images[s.images].Tokens
			w.Images++
			w.ImageTokens += tokens
			w.ImagePairs += float64(tokens) * float64(tokens)
		}
	}
}

// End ends at now the step planned by Begin: it appends the emissions to out, and releases
// finished sequences.
func (c *Core) End(now time.Duration, out []Emission) []Emission {
	c.ended = c.ended[:0]
	out = c.endDecodes(now, c.plan.decodes[:c.plan.before], out)
	if c.plan.lanes {
		out = c.endLanes(now, out)
	}
	out = c.endDecodes(now, c.plan.decodes[c.plan.before:], out)
	out = c.endPrompts(now, out)
	if len(c.ended) > 0 {
		c.running = slices.DeleteFunc(c.running, func(s *Seq) bool { return s.status == gone })
	}
	c.join()
	return out
}

func (c *Core) endDecodes(now time.Duration, shares []share, out []Emission) []Emission {
	for _, sh := range shares {
		s, made := sh.seq, int32(1)
		if s.status != running { // cancelled in between
			continue
		}
		if sh.tokens > 1 {
			made = min(1+c.verify(sh.tokens-1), s.last-s.emitted)
		}
		s.computed += int(made)
		out = append(out, c.produce(now, s, made))
	}
	return out
}

func (c *Core) endPrompts(now time.Duration, out []Emission) []Emission {
	for _, sh := range c.plan.prompts {
		s := sh.seq
		if s.status != running {
			continue
		}
		if s.computed += int(sh.tokens); s.computed == s.length {
			out = append(out, c.produce(now, s, 1))
		}
	}
	return out
}

// produce adds tokens to the output of s at now.
func (c *Core) produce(now time.Duration, s *Seq, tokens int32) Emission {
	s.length += int(tokens)
	s.emitted += tokens
	c.counters.Decoded += uint64(tokens)
	if s.emitted == s.last {
		c.finish(s)
	}
	return s.emission(now, tokens)
}

func (c *Core) finish(s *Seq) {
	s.done = int(s.last) == s.OutputTokens
	s.status = gone
	c.ended = append(c.ended, s)
	c.release(s)
}

// verify draws the number of accepted draft tokens.
func (c *Core) verify(drafted int32) int32 {
	n := int32(0)
	for n < drafted && c.rand.Float64() < c.accept.at(int(n)) {
		c.counters.AcceptedAt[n]++
		n++
	}
	c.counters.Drafts++
	c.counters.Drafted += uint64(drafted)
	c.counters.Accepted += uint64(n)
	return n
}

// wants is the number of tokens that s would take of a step with this remaining
// budget: draft tokens in addition to the one to decode, within the longest
// context, or as much of the prompt as its chunk, the budget and the encoder allow.
func (c *Core) wants(s *Seq, budget int) int {
	if s.decodes() {
		return min(1+c.drafts, budget, max(c.context-s.computed, 1))
	}
	n := min(s.length-s.computed, budget)
	if c.chunk > 0 {
		n = min(n, c.chunk)
	}
	if c.part > 0 {
		n = min(n, c.part)
	}
	return c.encodable(s, n)
}

// encodable cuts n tokens of s before the first image that exceeds the encoder's
// remaining budget in this step. An image larger than the full budget is taken
// alone.
func (c *Core) encodable(s *Seq, n int) int {
	at, left := s.at, c.plan.encoder
	for i := s.images; i < len(s.Images) && at < s.computed+n; i++ {
		tokens := s.Images[i].Tokens
		if tokens > left && (left < c.encoder || left == 0) {
			return max(at-s.computed, 0)
		}
		left = max(left-tokens, 0)
		at += tokens
	}
	return n
}

// decode gives tokens to running sequences from number i on, while they decode and
// memory and budget last. It returns the number of the first without tokens, and
// the remaining budget.
func (c *Core) decode(i, budget int) (next, left int) {
	if i == 0 {
		i = c.decodeLanes()
		budget -= i
	}
	n, had := 1+c.drafts, len(c.plan.decodes)
	for ; i < len(c.running) && budget >= n; i++ {
		s := c.running[i]
		if s.computed+n > s.room || !s.decodes() || s.step == c.step {
			break
		}
		s.step = c.step
		c.plan.decodes = append(c.plan.decodes, share{s, int32(n)})
		c.plan.Context += int64(s.computed)
		budget -= n
	}
	c.plan.Drafted += c.drafts * (len(c.plan.decodes) - had)
	return i, budget
}

// give gives s n tokens of the step if there is memory for them.
func (c *Core) give(s *Seq, n int) bool {
	if s.computed+n > s.room && !c.grow(s, s.computed+n) {
		return false
	}
	s.step = c.step
	if s.decodes() {
		c.plan.decodes = append(c.plan.decodes, share{s, int32(n)})
		c.plan.Context += int64(s.computed)
		c.plan.Drafted += n - 1
		return true
	}
	c.plan.encoder = max(c.plan.encoder-s.imageTokens(n), 0)
	c.plan.prompts = append(c.plan.prompts, share{s, int32(n)})
	return true
}

// grow allocates room for this many tokens of s. The part of a block beyond the
// longest context does not count: draft tokens do not go there.
func (c *Core) grow(s *Seq, tokens int) bool {
	g, ok := c.kv.Grow(s, tokens)
	c.plan.Blocks += g.Blocks
	c.plan.Pages += g.Pages
	s.room = min(s.room, c.context)
	return ok
}

// decodeAll gives tokens to every running sequence that decodes, while there is
// memory.
func (c *Core) decodeAll() {
	for i := 0; i < len(c.running); i++ {
		i, _ = c.decode(i, math.MaxInt)
		if i < len(c.running) && c.running[i].decodes() && c.running[i].step != c.step {
			c.give(c.running[i], c.wants(c.running[i], math.MaxInt))
		}
	}
}

// admit moves number i of the queue to the running ones and gives it a share of at
// most budget tokens: all its remaining work, or, unless whole, a first chunk. It
// returns 0 and changes nothing if that is impossible, or if fits, called when the
// cached part is known, returns false.
func (c *Core) admit(i, budget int, whole bool, fits func() bool) (tokens int) {
	s := c.waiting.at(i)
	fresh := s.computed == 0 // otherwise it was prefilled elsewhere
	if fresh {
		s.computed = max(c.kv.Match(s), min(s.Cached, s.PromptTokens-1))
		s.skipImages()
	}
	n := c.wants(s, budget)
	if n == 0 || whole && n < s.length-s.computed || fits != nil && !fits() || !c.give(s, n) {
		c.kv.Release(s)
		if fresh {
			s.forget()
		}
		return 0
	}
	c.waiting.removeAt(i)
	c.running = append(c.running, s)
	s.status = running
	c.plan.Adapters += c.adapters.take(s.Adapter)
	if !s.begun {
		s.begun, s.start, s.cached = true, c.now, int32(s.computed)
		c.counters.PrefixQueried += uint64(s.PromptTokens)
		c.counters.PrefixHit += uint64(s.computed)
	}
	return n
}

// preempt takes all resources of s, and its share of the step; s will recompute
// everything when it is admitted again. It returns the tokens of the share.
func (c *Core) preempt(s *Seq) (tokens int) {
	c.counters.Preemptions++
	c.dissolve()
	c.withdraw(s)
	tokens = c.plan.remove(s)
	c.plan.encoder = min(c.plan.encoder, c.encoder) // an image may be larger than the budget
	s.forget()
	s.status = waiting
	return tokens
}

// remove removes the share of s from the plan, and returns its tokens.
func (p *StepPlan) remove(s *Seq) (tokens int) {
	mine := func(sh share) bool { return sh.seq == s }
	if i := slices.IndexFunc(p.decodes, mine); i >= 0 {
		tokens = int(p.decodes[i].tokens)
		p.decodes = slices.Delete(p.decodes, i, i+1)
		p.Context -= int64(s.computed)
		p.Drafted -= tokens - 1
	}
	if i := slices.IndexFunc(p.prompts, mine); i >= 0 {
		tokens = int(p.prompts[i].tokens)
		p.encoder += s.imageTokens(tokens)
		p.prompts = slices.Delete(p.prompts, i, i+1)
	}
	return tokens
}

// withdraw removes s from the running sequences and releases it.
func (c *Core) withdraw(s *Seq) {
	i := slices.Index(c.running, s)
	if i < c.lanes.len() {
		c.lanes.settle(s)
		c.lanes.remove(i, s)
	}
	c.running = slices.Delete(c.running, i, i+1)
	c.release(s)
}

// release frees the memory and the adapter of s.
func (c *Core) release(s *Seq) {
	c.kv.Release(s)
	c.adapters.drop(s.Adapter)
}

// available is the number of further tokens that fit into memory.
func (c *Core) available() int {
	held, total := c.kv.Blocks()
	return (total - held) * c.block
}
