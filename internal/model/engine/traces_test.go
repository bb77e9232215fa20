package engine_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

// traceJobs is the number of jobs of each load below.
const traceJobs = 60

// TestTraces holds digests of everything that engines do against testdata/traces.golden: of
// every profile and of engines that are short of memory, slow to send, or replicated, under
// closed and open loads. A change that makes the engine faster must leave the file as it is.
func TestTraces(t *testing.T) {
	var lines strings.Builder
	for _, name := range append(profile.Names(), "plain") {
		base := engine.Config{Cost: engine.Costs{
			Step: 7e-3, Sequence: 30e-6, ContextToken: 1e-9, Prefill: 1.4e-3, PrefillToken: 17e-6, Block: 1e-6,
		}}
		if name != "plain" {
			p, err := profile.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			base = p.Engine
		}
		for _, v := range variants {
			c := base
			v.change(&c)
			fmt.Fprintf(&lines, "%s/%s", name, v.name)
			if problems := c.Validate(); problems != nil {
				fmt.Fprintln(&lines, " -") // a combination that no engine has
				continue
			}
			for _, l := range traceLoads {
				fmt.Fprintf(&lines, " %s=%016x", l.name, l.digest(t, c))
			}
			fmt.Fprintln(&lines)
		}
	}
	golden.Check(t, "testdata/traces.golden", lines.String())
}

// variants are changes of an engine that make its mechanisms matter.
var variants = []struct {
	name   string
	change func(c *engine.Config)
}{
	{"as-is", func(*engine.Config) {}},
	{"short-of-memory", func(c *engine.Config) { c.KV.Tokens, c.MaxModelLen = 4096, 2000 }},
	{"prefix-cache", func(c *engine.Config) {
		c.KV.Tokens, c.KV.PrefixCache, c.MaxModelLen = 6144, true, 2000
		c.KV.Elastic = &engine.Elastic{PageTokens: 256, SparePages: 2}
	}},
	{"few-places", func(c *engine.Config) { c.Scheduler.MaxSequences = 8 }},
	{"async", func(c *engine.Config) { c.Scheduler.Async = true }},
	{"priority", func(c *engine.Config) {
		c.Scheduler = engine.Scheduler{Order: "priority", TokenBudget: 512, Async: true}
		c.KV.Tokens, c.MaxModelLen = 4096, 2000
	}},
	{"even-prompts", func(c *engine.Config) {
		c.Scheduler = engine.Scheduler{EvenPrompts: true, PrefillBudget: 300, MaxPrompts: 6}
	}},
	{"sglang", func(c *engine.Config) {
		c.Scheduler = engine.Scheduler{Policy: "sglang", Order: "longest-prefix", Async: true}
		c.KV.Tokens, c.KV.PrefixCache, c.MaxModelLen = 8192, true, 2000
	}},
	{"sglang-retracts", func(c *engine.Config) {
		c.Scheduler = engine.Scheduler{Policy: "sglang", Reserve: 0.05}
		c.KV.Tokens, c.MaxModelLen = 4096, 2000
	}},
	{"sglang-mixed", func(c *engine.Config) {
		c.Scheduler = engine.Scheduler{Policy: "sglang", Mixed: true, Chunk: 512, Reserve: 0.05}
		c.KV.Tokens, c.MaxModelLen = 4096, 2000
	}},
	{"static", func(c *engine.Config) { c.Scheduler = engine.Scheduler{Policy: "static", MaxSequences: 12} }},
	{"speculative", func(c *engine.Config) {
		c.Speculative = &engine.Speculative{Drafts: 3, Acceptance: engine.Acceptance{0.7}}
	}},
	{"lora", func(c *engine.Config) { c.LoRA = &engine.LoRA{Slots: 1} }},
	{"frontend", func(c *engine.Config) {
		c.Frontend = engine.Frontend{Request: 1e-3, Delay: 2e-3, Chunk: 50e-6, Blocking: true}
	}},
	{"slow-frontend", func(c *engine.Config) { c.Frontend = engine.Frontend{Request: 1e-3, Chunk: 700e-6} }},
	{"disaggregation", func(c *engine.Config) {
		c.Disaggregation = &engine.Disaggregation{
			PrefillServers: 2, Cost: engine.Costs{Step: 2e-3, PrefillToken: 20e-6},
			Link: engine.Link{Latency: 1e-3, Bandwidth: 1e9, TokenSize: 1e4},
		}
	}},
	{"replicas", func(c *engine.Config) { c.Replicas = engine.Replicas{Count: 3, Router: "prefix-aware"} }},
	{"least-loaded", func(c *engine.Config) { c.Replicas = engine.Replicas{Count: 2, Router: "least-loaded"} }},
	{"restless", func(c *engine.Config) {
		c.Cost.Jitter, c.Cost.JitterQuantiles = 0.1, nil
		c.Slower, c.StartSpread = 0.03, 0.02
		c.Drift = &engine.Drift{Change: 0.1, Over: 1e9}
	}},
}

// A traceLoad is a closed loop, or an open one.
type traceLoad struct {
	name    string
	closed  int           // jobs at once
	gap     time.Duration // mean time between jobs, if open
	cancels bool
}

var traceLoads = []traceLoad{
	{"closed4", 4, 0, false},
	{"closed32", 32, 0, false},
	{"open", 0, 30 * time.Millisecond, false},
	{"crowd", 0, time.Millisecond, true},
}

// digest is a hash of every step, every emission and the final counters of an engine under
// the load.
func (l traceLoad) digest(t *testing.T, c engine.Config) uint64 {
	c.Seed = 7
	d, err := engine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	steps, sum := fnv.New64a(), fnv.New64a() // how a caller advances the engine may interleave them in any way
	d.Watch(func(s engine.Step) { fmt.Fprintf(steps, "%d %v\n", s.Took, s.Work) })
	jobs := drawTraceJobs(c)
	if l.closed > 0 {
		l.playClosed(d, jobs, sum)
	} else {
		l.playOpen(d, jobs, sum)
	}
	fmt.Fprintf(sum, "%+v %d", d.Load(), steps.Sum64())
	return sum.Sum64()
}

func (l traceLoad) playClosed(d *engine.Deployment, jobs []engine.Job, sum hash.Hash64) {
	next := min(l.closed, len(jobs))
	for _, j := range jobs[:next] {
		d.Add(0, j)
	}
	buf, limit, now := make([]engine.Emission, 0, 512), time.Hour, time.Duration(0)
	for now < limit {
		buf, now = d.Run(limit, buf[:0])
		for _, e := range buf {
			note(sum, e)
			if e.Done && next < len(jobs) {
				d.Add(now, jobs[next])
				next++
			}
		}
	}
}

func (l traceLoad) playOpen(d *engine.Deployment, jobs []engine.Job, sum hash.Hash64) {
	r, now := rand.New(rand.NewPCG(5, 6)), time.Duration(0)
	var out []engine.Emission
	for i, j := range jobs {
		now += time.Duration(r.IntN(2*int(l.gap) + 1))
		out = d.Step(now, out)
		if l.cancels && i%7 == 6 {
			d.Cancel(now, jobs[r.IntN(i)].ID)
		}
		d.Add(now, j)
	}
	for _, e := range d.Step(time.Hour, out) {
		note(sum, e)
	}
}

// note adds an emission to a digest.
func note(sum hash.Hash64, e engine.Emission) {
	var b [48]byte
	done := uint64(0)
	if e.Done {
		done = 1
	}
	for i, v := range []uint64{e.ID, uint64(e.Start), uint64(e.At), uint64(e.Tokens), uint64(e.Cached), done} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	sum.Write(b[:])
}

// drawTraceJobs draws jobs that fit c: many short ones, some long, with common prefixes,
// images, adapters and priorities.
func drawTraceJobs(c engine.Config) []engine.Job {
	r, context := rand.New(rand.NewPCG(1, 2)), c.Context()
	jobs := make([]engine.Job, traceJobs)
	for i := range jobs {
		text := min(1+int(math.Exp(r.NormFloat64()+4.5)), context/2)
		j := engine.Job{ID: uint64(i), PromptTokens: text, Priority: r.IntN(3), Prompt: make([]int32, text)}
		for k := r.IntN(text + 1); k < text; k++ {
			j.Prompt[k] = int32(i)
		}
		if r.IntN(4) == 0 {
			j.Images = []engine.Image{{Tokens: min(200, context/8), Hash: uint64(r.IntN(3))}}
			j.PromptTokens += j.Images[0].Tokens
		}
		if c.LoRA != nil {
			j.Adapter = []string{"", "a", "b"}[r.IntN(3)]
		}
		j.OutputTokens = min(1+r.IntN(120), context-j.PromptTokens)
		jobs[i] = j
	}
	slices.SortStableFunc(jobs, func(a, b engine.Job) int { return cmp.Compare(a.ID%5, b.ID%5) })
	return jobs
}
