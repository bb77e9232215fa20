package engine

import (
	"cmp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawConfig draws a valid Config of any policy, with any mechanisms, and small
// enough that they interact.
func drawConfig(t *rapid.T) Config {
	c := Config{MaxModelLen: rapid.IntRange(6, 80).Draw(t, "context"), Seed: rapid.Uint64Range(1, 3).Draw(t, "seed")}
	c.Scheduler = drawScheduler(t, c.MaxModelLen, "vllm", "vllm", "sglang", "static")
	c.KV = drawKV(t, c.MaxModelLen)
	c.Cost = drawCosts(t)
	c.Frontend = drawFrontend(t)
	if rapid.Bool().Draw(t, "speculative") {
		c.Speculative = &Speculative{
			Drafts:     rapid.IntRange(1, 4).Draw(t, "drafts"),
			Acceptance: rapid.SampledFrom([]Acceptance{nil, {0.6}, {1}, {0.9, 0.3}}).Draw(t, "acceptance"),
		}
	}
	if rapid.Bool().Draw(t, "lora") {
		c.LoRA = &LoRA{Slots: rapid.IntRange(1, 2).Draw(t, "slots")}
	}
	if c.Scheduler.Policy != "static" && rapid.Bool().Draw(t, "disaggregation") {
		c.Disaggregation = &Disaggregation{
			PrefillServers: rapid.IntRange(1, 3).Draw(t, "servers"),
			Scheduler:      drawScheduler(t, c.MaxModelLen, "vllm", "sglang", "static"),
			KV:             drawKV(t, c.MaxModelLen),
			Cost:           drawCosts(t),
			Link: Link{
				Latency: drawTime(t, "latency"), Bandwidth: 1e4, TokenSize: rapid.IntRange(1, 10).Draw(t, "token"),
			},
		}
	}
	c.Replicas.Count = rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(t, "replicas")
	c.Replicas.Router = rapid.SampledFrom([]string{"round-robin", "least-loaded", "prefix-aware"}).Draw(t, "router")
	return c
}

func drawScheduler(t *rapid.T, context int, policies ...string) Scheduler {
	s := Scheduler{
		Policy:        rapid.SampledFrom(policies).Draw(t, "policy"),
		MaxSequences:  rapid.IntRange(1, 6).Draw(t, "sequences"),
		EncoderBudget: rapid.IntRange(1, 20).Draw(t, "encoder"),
		WholePrompts:  rapid.IntRange(0, 3).Draw(t, "whole") == 0,
	}
	s.TokenBudget = s.MaxSequences + rapid.IntRange(0, 30).Draw(t, "budget")
	if s.Async = s.Policy != "static" && rapid.Bool().Draw(t, "async"); s.Policy == "vllm" &&
		rapid.Bool().Draw(t, "beside") {
		s.PrefillBudget = rapid.IntRange(1, 20).Draw(t, "prefill budget")
	}
	if s.WholePrompts {
		s.TokenBudget += context
		s.PrefillBudget = min(s.PrefillBudget, 1) * (context + s.PrefillBudget)
	} else {
		s.Chunk = rapid.IntRange(0, 20).Draw(t, "chunk")
	}
	switch s.Policy {
	case "vllm":
		s.Order = rapid.SampledFrom([]string{"fcfs", "priority"}).Draw(t, "order")
		s.EvenPrompts = !s.WholePrompts && rapid.Bool().Draw(t, "even")
	case "sglang":
		s.Order = rapid.SampledFrom([]string{"fcfs", "longest-prefix"}).Draw(t, "order")
		s.Mixed = rapid.Bool().Draw(t, "mixed")
		s.Reserve = rapid.SampledFrom([]float64{0.01, 0.7, 1}).Draw(t, "reserve")
	}
	return s
}

func drawKV(t *rapid.T, context int) KVCache {
	k := KVCache{Block: rapid.SampledFrom([]int{1, 3, 8}).Draw(t, "block"), PrefixCache: rapid.Bool().Draw(t, "prefix")}
	if k.PrefixCache || rapid.IntRange(0, 3).Draw(t, "limited") > 0 {
		k.Tokens = (context+k.Block-1)/k.Block*k.Block + rapid.IntRange(0, 2*context).Draw(t, "more")
	}
	if rapid.Bool().Draw(t, "elastic") {
		k.Elastic = &Elastic{
			PageTokens: k.Block * rapid.IntRange(1, 4).Draw(t, "page"), SparePages: rapid.IntRange(0, 2).Draw(t, "spare"),
		}
	}
	return k
}

// drawTime returns mostly a few milliseconds, so that instants coincide.
func drawTime(t *rapid.T, name string) Seconds {
	return rapid.SampledFrom([]Seconds{0, 0, 1e-3, 2e-3, 5e-3, 0.3e-3}).Draw(t, name)
}

func drawCosts(t *rapid.T) Costs {
	c := Costs{
		PrefillPair: drawTime(t, "pair") / 100, ContextToken: drawTime(t, "context") / 10, DraftToken: drawTime(t, "draft"),
		Image: drawTime(t, "image"), Block: drawTime(t, "block"), Page: drawTime(t, "page"), Adapter: drawTime(t, "adapter"),
		Cold: drawTime(t, "cold"),
	}
	switch rapid.IntRange(0, 3).Draw(t, "jitter") {
	case 0:
		c.Jitter = 0.3
	case 1:
		c.JitterQuantiles = []float64{0.5, 1, 1, 2}
	}
	if rapid.Bool().Draw(t, "slow") {
		c.SlowSteps = &SlowSteps{Share: 0.2, Extra: []Seconds{1e-3, 1e-3, 4e-3}}
	}
	if rapid.Bool().Draw(t, "mixed table") {
		c.MixedTable = []Point{{0, 1e-3}, {3, 5e-3}}
	}
	if rapid.Bool().Draw(t, "tables") {
		c.DecodeTable = []Point{{1, 1e-3}, {4, 2e-3}}
		c.PrefillTable = []Point{{0, 0}, {100, 20e-3}}
	} else {
		c.Step, c.Sequence, c.Prefill, c.PrefillToken = drawTime(t, "step"), drawTime(t, "sequence"), drawTime(t, "prefill"),
			drawTime(t, "token")
	}
	if rapid.Bool().Draw(t, "launches") {
		c.Launch, c.LaunchSequence = drawTime(t, "launch"), drawTime(t, "launch sequence")/10
		c.LaunchPrefill, c.LaunchPrompt = drawTime(t, "launch prefill"), drawTime(t, "launch prompt")
		c.LaunchPrefillToken, c.TailToken = drawTime(t, "launch token")/10, drawTime(t, "tail")/10
		c.LaunchShare = rapid.SampledFrom([]float64{0, 0, 0.5, 1}).Draw(t, "launch share")
	}
	if rapid.IntRange(0, 2).Draw(t, "host") == 0 {
		c.Host = &Host{Factors: []float64{0.5, 1, 3}, Hold: 5e-3, Run: 0.1}
	}
	return c
}

func drawFrontend(t *rapid.T) Frontend {
	f := Frontend{
		Request: drawTime(t, "request"), ImageToken: drawTime(t, "image") / 10, Delay: drawTime(t, "delay"),
		Chunk: drawTime(t, "chunk"),
	}
	if f.Blocking = rapid.Bool().Draw(t, "blocking"); !f.Blocking {
		f.Workers = rapid.IntRange(0, 2).Draw(t, "workers")
	}
	if f.Workers < 2 && rapid.Bool().Draw(t, "loop") {
		f.Flush, f.Token, f.Finish = drawTime(t, "flush"), drawTime(t, "out")/10, drawTime(t, "finish")
		f.Head, f.Tokenize, f.Passes = drawTime(t, "head"), drawTime(t, "tokenize")/10, rapid.IntRange(1, 4).Draw(t, "passes")
		f.Host = rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "exponent")
	}
	return f
}

// drawJobs draws jobs that fit c, many with a common prefix, as moves; some are
// cancelled.
func drawJobs(t *rapid.T, c Config, cancels bool) []move {
	var moves []move
	var at time.Duration
	for id := range uint64(rapid.IntRange(1, 12).Draw(t, "jobs")) {
		at += time.Duration(rapid.IntRange(0, 12).Draw(t, "gap")) * ms
		moves = append(moves, move{at: at, add: drawJob(t, c, id+1)})
		if cancels && rapid.IntRange(0, 2).Draw(t, "cancel") == 0 {
			later := at + time.Duration(rapid.IntRange(0, 80).Draw(t, "later"))*ms
			moves = append(moves, move{at: later, cancel: id + 1})
		}
	}
	slices.SortStableFunc(moves, func(a, b move) int { return cmp.Compare(a.at, b.at) })
	return moves
}

func drawJob(t *rapid.T, c Config, id uint64) Job {
	most := c.MaxModelLen
	text := rapid.IntRange(1, most-1).Draw(t, "text")
	j := Job{
		ID: id, PromptTokens: text, Priority: rapid.IntRange(0, 2).Draw(t, "priority"),
		Adapter: rapid.SampledFrom([]string{"", "", "a", "b", "c"}).Draw(t, "adapter"),
	}
	for j.PromptTokens < most-1 && rapid.IntRange(0, 2).Draw(t, "image") == 0 {
		i := Image{
			Tokens: rapid.IntRange(1, most-1-j.PromptTokens).Draw(t, "tokens"), Hash: rapid.Uint64Range(1, 2).Draw(t, "hash"),
		}
		j.Images = append(j.Images, i)
		j.PromptTokens += i.Tokens
	}
	j.OutputTokens = rapid.IntRange(1, most-j.PromptTokens).Draw(t, "out")
	if rapid.IntRange(0, 3).Draw(t, "known") > 0 {
		j.Prompt = make([]int32, text)
		for i := rapid.IntRange(0, text).Draw(t, "shared"); i < text; i++ {
			j.Prompt[i] = int32(id)
		}
	}
	return j
}

func mustNew(t rapid.TB, c Config) *Deployment {
	d, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A watch inspects every planned step of one core.
type watch struct {
	Policy
	t         rapid.TB
	steps     int
	prefilled int           // prompt tokens, in total
	computed  map[*Seq]int  // tokens that each running sequence will have computed
	decoding  map[*Seq]bool // its last share was a decode, with drafts that may be rejected
	arrived   uint64        // arrivals when the previous step began
}

// spy watches all cores of d.
func spy(t rapid.TB, d *Deployment) []*watch {
	var all []*watch
	for _, r := range d.replicas {
		for _, s := range r.servers {
			w := &watch{Policy: s.policy, t: t, computed: make(map[*Seq]int), decoding: make(map[*Seq]bool)}
			s.policy = w
			all = append(all, w)
		}
	}
	return all
}

// Repeat has every step planned, and inspected.
func (w *watch) Repeat(*Core) bool { return false }

// Plan lets the policy plan, and inspects the result.
func (w *watch) Plan(c *Core) {
	for s := range w.computed {
		if s.status != running || s.computed < w.computed[s] && !w.decoding[s] {
			delete(w.computed, s)
		}
	}
	before, busy, known := c.counters.Preemptions, slices.Clone(c.running), w.arrived
	w.arrived = c.arrivals
	w.Policy.Plan(c)
	c.dissolve() // every sequence with its own share
	for _, s := range c.running {
		if c.async && len(busy) > 0 && s.arrived >= known && !slices.Contains(busy, s) {
			w.t.Fatalf("job %d is in a step that was planned before it came", s.ID)
		}
	}
	for s := range w.computed { // preempted, and admitted again by the step after an empty one
		if c.counters.Preemptions > before && s.computed < w.computed[s] {
			delete(w.computed, s)
		}
	}
	if w.steps++; w.steps > 100_000 {
		w.t.Fatalf("no end of steps: %d running, %d waiting", len(c.running), c.waiting.len())
	}
	given := make(map[*Seq]bool)
	for _, sh := range slices.Concat(c.plan.decodes, c.plan.prompts) {
		if given[sh.seq] {
			w.t.Fatalf("job %d has two shares of a step", sh.seq.ID)
		}
		given[sh.seq] = true
		w.share(sh.seq, int(sh.tokens))
	}
	w.memory(c)
	w.limits(c)
}

// share checks that every share begins at the end of the previous one.
func (w *watch) share(s *Seq, n int) {
	if s.status != running || n < 1 || s.computed+n > s.room {
		w.t.Fatalf("job %d: %d tokens after %d, room for %d, status %d", s.ID, n, s.computed, s.room, s.status)
	}
	decodes := s.decodes()
	if !decodes {
		w.prefilled += n
		if s.computed+n > s.length {
			w.t.Fatalf("job %d: computes %d of %d", s.ID, s.computed+n, s.length)
		}
	}
	if before, ok := w.computed[s]; ok && (s.computed > before || s.computed < before && !w.decoding[s]) {
		w.t.Fatalf("job %d goes on at %d, and ended at %d", s.ID, s.computed, before)
	}
	w.computed[s], w.decoding[s] = s.computed+n, decodes && n > 1
}

// memory checks that the held blocks are those of the running sequences.
func (w *watch) memory(c *Core) {
	held, total := c.kv.Blocks()
	private, shared := 0, make(map[blockID]bool)
	for _, s := range c.running {
		private += s.blocks - len(s.shared)
		for _, e := range s.shared {
			shared[e] = true
		}
	}
	if held != private+len(shared) || held > total || c.kv.Allocated() > total || c.kv.Allocated() < held {
		w.t.Fatalf("%d blocks held of %d, %d kept, but sequences have %d and share %d", held, total, c.kv.Allocated(), private,
			len(shared))
	}
	for s := range c.waiting.len() {
		if s := c.waiting.at(s); s.blocks != 0 || s.status != waiting {
			w.t.Fatalf("job %d waits, status %d, with %d blocks", s.ID, s.status, s.blocks)
		}
	}
}

// limits checks that no step exceeds the limits of the policy.
func (w *watch) limits(c *Core) {
	decoded, prefilled, images, largest := 0, 0, 0, 0
	for _, sh := range c.plan.decodes {
		decoded += int(sh.tokens)
	}
	for _, sh := range c.plan.prompts {
		prefilled += int(sh.tokens)
		n := sh.seq.imageTokens(int(sh.tokens))
		images, largest = images+n, max(largest, n)
	}
	if images > c.encoder && images > largest {
		w.t.Fatalf("%d image tokens in a step of at most %d", images, c.encoder)
	}
	adapters := make(map[string]bool)
	for _, s := range c.running {
		adapters[s.Adapter] = true
	}
	delete(adapters, "")
	if slots := c.adapters.slots; slots > 0 &&
		(len(adapters) > slots || len(adapters) != len(c.adapters.users) || len(c.adapters.loaded) > slots) {
		w.t.Fatalf("%d adapters in %d slots, %v in use, %v loaded", len(adapters), slots, c.adapters.users, c.adapters.loaded)
	}
	most, fits := 0, true
	switch p := w.Policy.(type) {
	case *vllm:
		most, fits = p.MaxSequences, decoded+prefilled <= p.TokenBudget
		if p.PrefillBudget > 0 { // a prompt cached up to its last token is admitted as a prompt, and decodes
			fits = prefilled <= p.PrefillBudget && decoded+prefilled <= p.TokenBudget+p.PrefillBudget
		}
	case *sglang:
		most = p.MaxSequences
	case *static:
		most = p.MaxSequences
	}
	if len(c.running) > most || !fits {
		w.t.Fatalf("%d sequences, %d tokens to decode and %d of prompts", len(c.running), decoded, prefilled)
	}
}

// ways are the ways in which a caller can advance a model to an instant.
var ways = map[string]func(t rapid.TB, d *Deployment, now time.Duration, out []Emission) []Emission{
	"in one go": func(_ rapid.TB, d *Deployment, now time.Duration, out []Emission) []Emission {
		return d.Step(now, out)
	},
	"event by event": func(t rapid.TB, d *Deployment, now time.Duration, out []Emission) []Emission {
		var last time.Duration
		for at, ok := d.Next(); ok && at <= now; at, ok = d.Next() {
			if at < last {
				t.Fatalf("next at %v, after %v", at, last)
			}
			out = d.Step((last+at)/2, out) // nothing can be due there
			out = d.Step(at, out)
			if last = at; len(out) > 0 && out[len(out)-1].At > at {
				t.Fatalf("stepped to %v, emitted %+v", at, out[len(out)-1])
			}
			if next, ok := d.Next(); ok && next <= at {
				t.Fatalf("stepped to %v, next at %v", at, next)
			}
		}
		return out
	},
	"run by run": func(t rapid.TB, d *Deployment, now time.Duration, out []Emission) []Emission {
		var last time.Duration
		for {
			got, at := d.Run(now, make([]Emission, 0, 8))
			for i, e := range got {
				if e.At > at || e.At < last || e.Done && e.At < at {
					t.Fatalf("ran from %v to %v: emission %d is %+v", last, at, i, e)
				}
			}
			out, last = append(out, got...), at
			if next, ok := d.Next(); !ok || next > now {
				return out
			}
		}
	},
}

// A deployment emits every token, under any configuration, and retains no finished
// or cancelled job.
func TestDeploymentKeepsEveryToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfig(t)
		cancels := rapid.Bool().Draw(t, "cancels")
		moves := drawJobs(t, c, cancels)
		d := mustNew(t, c)
		watches := spy(t, d)
		var all []Emission
		played := make(map[uint64]int) // emissions until a job was cancelled
		for _, m := range moves {
			all = d.Step(m.at, all)
			if m.cancel != 0 {
				d.Cancel(m.at, m.cancel)
				played[m.cancel] = len(all)
			} else {
				d.Add(m.at, m.add)
			}
		}
		all = d.Step(forever-1, all)
		checkTokens(t, moves, all, played, d.Heads())
		checkEmpty(t, d)
		if load := d.Load(); !cancels {
			checkWork(t, moves, all, watches, load)
		}
	})
}

// checkTokens checks that every job emits all its tokens in order and is then done,
// unless it was cancelled, and emits nothing after that. With heads, that of a response comes first.
func checkTokens(t *rapid.T, moves []move, all []Emission, cancelled map[uint64]int, heads bool) {
	got, done, begun := map[uint64]int{}, map[uint64]bool{}, map[uint64]bool{}
	for i, e := range all {
		head := heads && !begun[e.ID]
		if i > 0 && e.At < all[i-1].At || e.At < e.Start || head != (e.Tokens == 0) || e.Tokens < 0 || done[e.ID] {
			t.Fatalf("emission %d: %+v after %+v", i, e, all[max(i-1, 0)])
		}
		begun[e.ID] = true
		if at, ok := cancelled[e.ID]; ok && i >= at {
			t.Fatalf("emission %d of a cancelled job: %+v", i, e)
		}
		got[e.ID] += int(e.Tokens)
		done[e.ID] = e.Done
	}
	for _, m := range moves {
		if m.cancel != 0 {
			continue
		}
		_, gone := cancelled[m.add.ID]
		if id := m.add.ID; got[id] > m.add.OutputTokens || done[id] != (got[id] == m.add.OutputTokens) || !gone && !done[id] {
			t.Fatalf("job %d: %d tokens of %d, done %v, cancelled %v", id, got[id], m.add.OutputTokens, done[id], gone)
		}
	}
}

// checkEmpty checks that nothing is left in d.
func checkEmpty(t *rapid.T, d *Deployment) {
	if at, ok := d.Next(); ok || len(d.jobs) > 0 {
		t.Fatalf("next at %v, %d jobs", at, len(d.jobs))
	}
	for _, r := range d.replicas {
		f := r.front
		if r.load != 0 || f.inbox.len()+len(f.outbox)+len(f.leaving)-f.sent+f.coming.Len() > 0 ||
			r.link != nil && r.link.coming.Len() > 0 ||
			f.loop != nil && len(f.loop.writes)+len(f.loop.passing)+f.loop.tokenizing.Len() > 0 {
			t.Fatalf("load %d, frontend %+v", r.load, f)
		}
		for _, s := range r.servers {
			if s.clocks != nil && s.clocks.n > 0 {
				t.Fatalf("%d steps in flight", s.clocks.n)
			}
			if held, _ := s.kv.Blocks(); held != 0 || len(s.running)+s.waiting.len() > 0 || s.work != 0 && s != r.decode ||
				len(s.adapters.users) > 0 {
				t.Fatalf("%d blocks held, %d running, %d waiting, work %d, adapters %v", held, len(s.running), s.waiting.len(),
					s.work, s.adapters.users)
			}
			if e, ok := s.kv.(*elasticKV); ok && (e.mapped > e.pages()+e.spare || e.mapped < e.pages()) {
				t.Fatalf("%d pages mapped for %d", e.mapped, e.pages())
			}
		}
	}
}

// checkWork checks that all prompts were computed once, except for cached parts and
// recomputation after a preemption.
func checkWork(t *rapid.T, moves []move, all []Emission, watches []*watch, load Utilization) {
	prompts, cached, prefilled := 0, map[uint64]int32{}, 0
	for _, m := range moves {
		prompts += m.add.PromptTokens
	}
	for _, e := range all {
		cached[e.ID] = e.Cached
	}
	for _, w := range watches {
		prefilled += w.prefilled
	}
	spared := 0
	for _, n := range cached {
		spared += int(n)
	}
	if int(load.PrefixHit) != spared || int(load.PrefixQueried) != prompts {
		t.Fatalf("prefix cache: %d of %d, but %d of %d were spared", load.PrefixHit, load.PrefixQueried, spared, prompts)
	}
	if again := prefilled - (prompts - spared); again < 0 || again > 0 && load.Preemptions == 0 {
		t.Fatalf("computed %d prompt tokens of %d, %d cached, %d preemptions", prefilled, prompts, spared, load.Preemptions)
	}
}

// The same jobs give the same emissions, however the caller advances time.
func TestDeploymentDoesNotMindHowItIsStepped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfig(t)
		moves := drawJobs(t, c, true)
		var want []Emission
		for i, way := range []string{"in one go", "in one go", "event by event", "run by run"} {
			d := mustNew(t, c)
			if i == 1 {
				spy(t, d) // every step is planned, share by share
			}
			var got []Emission
			play(d, moves, func(now time.Duration) { got = ways[way](t, d, min(now, forever-1), got) })
			if i == 0 {
				want = got
			} else if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("%s differs:\n%s", way, diff)
			}
		}
	})
}
