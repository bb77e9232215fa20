package engine

import (
	"cmp"
	"fmt"
	"math"
	"reflect"

	"github.com/pitot-bench/pitot/internal/plan"
)

// MaxContext is the largest context a Config can have, in tokens.
const MaxContext = 1<<24 - 1

// DefaultContext is the longest context of a Config without one, unless memory
// makes it shorter.
const DefaultContext = 131072

// Validate reports everything wrong with c at once.
func (c Config) Validate() plan.Problems {
	v := &checker{}
	v.IntegerIn("max_model_len", c.MaxModelLen, 0, MaxContext)
	v.scheduler("scheduler", c.Scheduler)
	v.kv("kv", c.KV)
	v.costs("cost", c.Cost)
	v.frontend(c.Frontend)
	v.speculative(c.Speculative)
	if c.LoRA != nil {
		v.IntegerIn("lora.slots", c.LoRA.Slots, 1, math.MaxInt32)
	}
	if d := c.Disaggregation; d != nil {
		v.disaggregation(*d)
		v.If(c.Scheduler.Policy == "static", "scheduler.policy", nil,
			"static batching cannot accept requests prefilled elsewhere")
	}
	v.IntegerIn("replicas.count", c.Replicas.Count, 0, 4096)
	v.OneOf("replicas.router", c.Replicas.Router, "round-robin", "least-loaded", "prefix-aware")
	v.pace(c.Pace)
	v.stalls(c.Stalls)
	if len(v.Problems) == 0 {
		v.checkCombinations(c)
	}
	return v.Problems
}

type checker struct{ plan.Problems }

func (v *checker) time(path string, s Seconds) {
	v.If(!(s >= 0), path, s, "must not be negative")
	v.If(s > 86400, path, s, "must be at most a day")
}

// times checks all times of a struct, under their names in a profile.
func (v *checker) times(path string, of any) {
	fields := reflect.ValueOf(of)
	for i := range fields.NumField() {
		if s, ok := fields.Field(i).Interface().(Seconds); ok {
			v.time(path+"."+fields.Type().Field(i).Tag.Get("yaml"), s)
		}
	}
}

func (v *checker) scheduler(path string, s Scheduler) {
	v.OneOf(path+".policy", s.Policy, "vllm", "sglang", "static")
	for _, f := range []struct {
		name  string
		value int
	}{
		{"max_sequences", s.MaxSequences},
		{"token_budget", s.TokenBudget},
		{"prefill_budget", s.PrefillBudget},
		{"max_prompts", s.MaxPrompts},
		{"chunk", s.Chunk},
		{"encoder_budget", s.EncoderBudget},
	} {
		v.IntegerIn(path+"."+f.name, f.value, 0, math.MaxInt32)
	}
	v.OneOf(path+".order", s.Order, "fcfs", "priority", "longest-prefix")
	v.Share(path+".reserve", s.Reserve)
	sglang, vllm := s.Policy == "sglang", s.Policy == "" || s.Policy == "vllm"
	v.If(s.Order == "priority" && !vllm, path+".order", nil, "priority only applies to the policy vllm")
	v.If(s.Order == "longest-prefix" && !sglang, path+".order", nil, "longest-prefix only applies to the policy sglang")
	v.If(s.PrefillBudget > 0 && !vllm, path+".prefill_budget", nil, "only applies to the policy vllm")
	v.If(s.MaxPrompts > 0 && s.Policy == "static", path+".max_prompts", nil,
		"only applies to the policies vllm and sglang")
	v.If(s.EvenPrompts && !vllm, path+".even_prompts", nil, "only applies to the policy vllm")
	v.If(s.EvenPrompts && s.WholePrompts, path+".even_prompts", nil, "cuts prompts, but whole_prompts forbids that")
	v.If(s.Async && s.Policy == "static", path+".async", nil, "only applies to the policies vllm and sglang")
	v.If(s.Mixed && !sglang, path+".mixed", nil, "only applies to the policy sglang")
	v.If(s.Reserve != 0 && !sglang, path+".reserve", nil, "only applies to the policy sglang")
	v.If(s.WholePrompts && s.Chunk > 0, path+".chunk", nil, "cuts prompts, but whole_prompts forbids that")
	s = s.withDefaults()
	v.If(vllm && s.MaxSequences > s.TokenBudget, path+".token_budget", s.TokenBudget,
		"must not be below max_sequences (%d), since each running sequence takes a token", s.MaxSequences)
}

func (v *checker) kv(path string, k KVCache) {
	v.IntegerIn(path+".tokens", k.Tokens, 0, math.MaxInt)
	v.IntegerIn(path+".block", k.Block, 0, 1<<16)
	v.If(k.PrefixCache && k.Tokens == 0, path+".prefix_cache", nil,
		"needs kv.tokens: without a limit nothing would ever be evicted")
	if k.Elastic != nil {
		v.IntegerIn(path+".elastic.page_tokens", k.Elastic.PageTokens, max(k.Block, 1), math.MaxInt32)
		v.IntegerIn(path+".elastic.spare_pages", k.Elastic.SparePages, 0, math.MaxInt32)
	}
}

func (v *checker) costs(path string, c Costs) {
	v.times(path, c)
	v.variation(path, c)
	v.table(path+".decode_table", c.DecodeTable)
	v.table(path+".prefill_table", c.PrefillTable)
	v.table(path+".mixed_table", c.MixedTable)
	v.If(c.DecodeTable != nil && (c.Step > 0 || c.Sequence > 0), path+".decode_table", nil,
		"replaces step and sequence: leave them out")
	v.If(c.PrefillTable != nil && (c.Prefill > 0 || c.PrefillToken > 0), path+".prefill_table", nil,
		"replaces prefill and prefill_token: leave them out")
	v.Share(path+".launch_share", c.LaunchShare)
	v.host(path+".host", c.Host)
}

func (v *checker) table(path string, points []Point) {
	v.If(points != nil && len(points) < 2, path, nil, "needs at least two points")
	for i, p := range points {
		v.time(fmt.Sprintf("%s[%d].time", path, i), p.Time)
		v.If(!(p.At >= 0) || math.IsInf(p.At, 1), fmt.Sprintf("%s[%d].at", path, i), p.At, "must be a number from 0")
		v.If(i > 0 && !(p.At > points[i-1].At), fmt.Sprintf("%s[%d].at", path, i), p.At, "must be above the previous point")
		v.If(i > 0 && p.Time < points[i-1].Time, fmt.Sprintf("%s[%d].time", path, i), p.Time,
			"must not be below the previous point")
	}
}

func (v *checker) frontend(f Frontend) {
	v.times("frontend", f)
	v.IntegerIn("frontend.workers", f.Workers, 0, 4096)
	v.If(f.Blocking && f.Workers > 1, "frontend.workers", nil, "a blocking frontend has only one worker")
	v.If(!f.Blocking && f.loops() && f.Workers > 1, "frontend.workers", nil,
		"a frontend with flush, token, finish, head, passes or tokenize has only one worker")
	v.IntegerIn("frontend.passes", f.Passes, 0, 1000)
	v.If(!(f.Host >= 0 && f.Host <= 4), "frontend.host", f.Host, "must be from 0 to 4")
	v.If(f.Host > 0 && f.Host <= 4 && !f.loops(), "frontend.host", nil,
		"only applies to a frontend with flush, token, finish, head, passes or tokenize")
}

func (v *checker) disaggregation(d Disaggregation) {
	const path = "disaggregation."
	v.IntegerIn(path+"prefill_servers", d.PrefillServers, 0, 4096)
	v.scheduler(path+"scheduler", d.Scheduler)
	v.kv(path+"kv", d.KV)
	v.costs(path+"cost", d.Cost)
	v.times(path+"link", d.Link)
	v.If(!(d.Link.Bandwidth >= 0), path+"link.bandwidth", d.Link.Bandwidth, "must not be negative")
	v.IntegerIn(path+"link.token_size", d.Link.TokenSize, 0, math.MaxInt32)
	v.If(d.Link.Bandwidth > 0 && d.Link.TokenSize == 0, path+"link.token_size", nil,
		"a link with a bandwidth needs the size of a token in bytes")
}

// checkCombinations checks combinations of fields, like a server at its start.
func (v *checker) checkCombinations(c Config) {
	c = c.withDefaults()
	v.fits("", c.MaxModelLen, c.Scheduler, c.KV)
	if c.Disaggregation != nil {
		v.fits("disaggregation.", c.MaxModelLen, c.Disaggregation.Scheduler, c.Disaggregation.KV)
	}
}

// fits checks the capacity for the longest context: a request that no memory or
// step could hold would wait forever.
func (v *checker) fits(path string, context int, s Scheduler, k KVCache) {
	room := k.Tokens / k.Block * k.Block
	v.If(k.Tokens > 0 && room == 0, path+"kv.tokens", k.Tokens, "does not hold one block of %d", k.Block)
	v.If(k.Tokens > 0 && room < context, path+"kv.tokens", k.Tokens,
		"one request of max_model_len (%d) exceeds the KV cache of %d tokens; raise kv.tokens or lower max_model_len",
		context, room)
	budget, name := s.TokenBudget, "token_budget"
	if s.PrefillBudget > 0 {
		budget, name = s.PrefillBudget, "prefill_budget"
	}
	v.If(s.WholePrompts && s.Policy == "vllm" && budget < context, path+"scheduler."+name, budget,
		"with whole_prompts it must not be below max_model_len (%d)", context)
}

func (c Config) withDefaults() Config {
	c.Scheduler = c.Scheduler.withDefaults()
	c.KV = c.KV.withDefaults(c.Scheduler)
	if c.Disaggregation != nil {
		d := *c.Disaggregation
		d.PrefillServers = cmp.Or(d.PrefillServers, 1)
		d.Scheduler = d.Scheduler.withDefaults()
		d.KV = d.KV.withDefaults(d.Scheduler)
		c.Disaggregation = &d
	}
	c.MaxModelLen = cmp.Or(c.MaxModelLen, c.longestContext())
	c.Frontend.Workers = cmp.Or(c.Frontend.Workers, 1)
	c.Replicas.Count = cmp.Or(c.Replicas.Count, 1)
	c.Replicas.Router = cmp.Or(c.Replicas.Router, "round-robin")
	return c
}

// longestContext is the largest that fits every KV cache, at most DefaultContext.
func (c Config) longestContext() int {
	n := DefaultContext
	caches := []KVCache{c.KV}
	if c.Disaggregation != nil {
		caches = append(caches, c.Disaggregation.KV)
	}
	for _, k := range caches {
		if k.Tokens > 0 {
			n = min(n, k.Tokens/k.Block*k.Block)
		}
	}
	return n
}

func (s Scheduler) withDefaults() Scheduler {
	s.Policy = cmp.Or(s.Policy, "vllm")
	s.MaxSequences = cmp.Or(s.MaxSequences, 256)
	s.Order = cmp.Or(s.Order, "fcfs")
	if s.Policy == "sglang" {
		s.TokenBudget = cmp.Or(s.TokenBudget, 16384)
		s.Chunk = cmp.Or(s.Chunk, 8192)
		s.Reserve = cmp.Or(s.Reserve, 0.7)
	}
	s.TokenBudget = cmp.Or(s.TokenBudget, 8192)
	s.EncoderBudget = cmp.Or(s.EncoderBudget, s.TokenBudget)
	if s.WholePrompts || s.Policy == "static" {
		s.Chunk, s.EncoderBudget = 0, math.MaxInt // a prompt is not cut before an image either
	}
	return s
}

func (k KVCache) withDefaults(s Scheduler) KVCache {
	if s.Policy == "sglang" {
		k.Block = cmp.Or(k.Block, 1)
	}
	k.Block = cmp.Or(k.Block, 16)
	return k
}
