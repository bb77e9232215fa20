package engine

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// MaxContext is the largest context a Config can have, in tokens.
const MaxContext = 1<<24 - 1

// DefaultContext is the longest context of a Config that does not say, where
// memory does not make it shorter.
const DefaultContext = 131072

// A FieldError is a mistake in one field of a Config.
type FieldError struct {
	Path    string // of the field, such as scheduler.token_budget
	Problem string
}

func (e *FieldError) Error() string { return e.Path + ": " + e.Problem }

// Validate reports everything wrong with c at once; each of the joined errors
// is a *FieldError.
func (c Config) Validate() error {
	v := &checker{}
	v.whole("max_model_len", c.MaxModelLen, 0, MaxContext)
	v.scheduler("scheduler", c.Scheduler)
	v.kv("kv", c.KV)
	v.costs("cost", c.Cost)
	v.frontend(c.Frontend)
	if s := c.Speculative; s != nil {
		v.whole("speculative.drafts", s.Drafts, 1, MaxDrafts)
		v.share("speculative.acceptance", s.Acceptance)
	}
	if c.LoRA != nil {
		v.whole("lora.slots", c.LoRA.Slots, 1, math.MaxInt32)
	}
	if d := c.Disaggregation; d != nil {
		v.disaggregation(*d)
		v.bad(c.Scheduler.Policy == "static", "scheduler.policy", "static batching cannot take requests that were prefilled elsewhere")
	}
	v.whole("replicas.count", c.Replicas.Count, 0, 4096)
	v.oneOf("replicas.router", c.Replicas.Router, "round-robin", "least-loaded", "prefix-aware")
	if len(v.errs) == 0 {
		v.together(c)
	}
	return errors.Join(v.errs...)
}

// A checker collects mistakes.
type checker struct{ errs []error }

func (v *checker) bad(cond bool, path, format string, a ...any) {
	if cond {
		v.errs = append(v.errs, &FieldError{path, fmt.Sprintf(format, a...)})
	}
}

func (v *checker) whole(path string, n, low, high int) {
	v.bad(n < low, path, "%d: must be at least %d", n, low)
	v.bad(n > high, path, "%d: must be at most %d", n, high)
}

func (v *checker) time(path string, s Seconds) {
	v.bad(!(s >= 0), path, "%v: must not be negative", s)
	v.bad(s > 86400, path, "%v: must be at most a day", s)
}

func (v *checker) share(path string, x float64) {
	v.bad(!(x >= 0 && x <= 1), path, "%v: must be between 0 and 1", x)
}

func (v *checker) oneOf(path, value string, names ...string) {
	v.bad(value != "" && !slices.Contains(names, value), path, "unknown name %q%s; allowed: %s", value, DidYouMean(value, names), strings.Join(names, ", "))
}

func (v *checker) scheduler(path string, s Scheduler) {
	v.oneOf(path+".policy", s.Policy, "vllm", "sglang", "static")
	for _, f := range []struct {
		name  string
		value int
	}{
		{"max_sequences", s.MaxSequences}, {"token_budget", s.TokenBudget}, {"chunk", s.Chunk}, {"encoder_budget", s.EncoderBudget},
	} {
		v.whole(path+"."+f.name, f.value, 0, math.MaxInt32)
	}
	v.oneOf(path+".order", s.Order, "fcfs", "priority", "longest-prefix")
	v.share(path+".reserve", s.Reserve)
	sglang, vllm := s.Policy == "sglang", s.Policy == "" || s.Policy == "vllm"
	v.bad(s.Order == "priority" && !vllm, path+".order", "priority belongs to the policy vllm")
	v.bad(s.Order == "longest-prefix" && !sglang, path+".order", "longest-prefix belongs to the policy sglang")
	v.bad(s.Mixed && !sglang, path+".mixed", "belongs to the policy sglang")
	v.bad(s.Reserve != 0 && !sglang, path+".reserve", "belongs to the policy sglang")
	v.bad(s.WholePrompts && s.Chunk > 0, path+".chunk", "says how to cut prompts, and whole_prompts not to")
	s = s.withDefaults()
	v.bad(vllm && s.MaxSequences > s.TokenBudget, path+".token_budget", "%d: must not be below max_sequences (%d), since each running sequence takes a token", s.TokenBudget, s.MaxSequences)
}

func (v *checker) kv(path string, k KVCache) {
	v.whole(path+".tokens", k.Tokens, 0, math.MaxInt)
	v.whole(path+".block", k.Block, 0, 1<<16)
	v.bad(k.PrefixCache && k.Tokens == 0, path+".prefix_cache", "needs kv.tokens: without a limit nothing would ever be evicted")
	if k.Elastic != nil {
		v.whole(path+".elastic.page_tokens", k.Elastic.PageTokens, max(k.Block, 1), math.MaxInt32)
		v.whole(path+".elastic.spare_pages", k.Elastic.SparePages, 0, math.MaxInt32)
	}
}

func (v *checker) costs(path string, c Costs) {
	for _, f := range c.fields() {
		v.time(path+"."+f.name, *f.value)
	}
	v.bad(!(c.Jitter >= 0 && c.Jitter <= 2), path+".jitter", "%v: must be between 0 and 2", c.Jitter)
	v.table(path+".decode_table", c.DecodeTable)
	v.table(path+".prefill_table", c.PrefillTable)
	v.bad(c.DecodeTable != nil && (c.Step > 0 || c.Sequence > 0), path+".decode_table", "stands in place of step and sequence: leave them out")
	v.bad(c.PrefillTable != nil && (c.Prefill > 0 || c.PrefillToken > 0), path+".prefill_table", "stands in place of prefill and prefill_token: leave them out")
}

func (v *checker) table(path string, points []Point) {
	v.bad(points != nil && len(points) < 2, path, "needs two points at least")
	for i, p := range points {
		v.time(fmt.Sprintf("%s[%d].time", path, i), p.Time)
		v.bad(!(p.At >= 0) || math.IsInf(p.At, 1), fmt.Sprintf("%s[%d].at", path, i), "%v: must be a number from 0", p.At)
		v.bad(i > 0 && !(p.At > points[i-1].At), fmt.Sprintf("%s[%d].at", path, i), "%v: must be above the point ahead of it", p.At)
		v.bad(i > 0 && p.Time < points[i-1].Time, fmt.Sprintf("%s[%d].time", path, i), "%v: must not be below the point ahead of it", p.Time)
	}
}

func (v *checker) frontend(f Frontend) {
	v.time("frontend.request", f.Request)
	v.time("frontend.prompt_token", f.PromptToken)
	v.time("frontend.image_token", f.ImageToken)
	v.time("frontend.delay", f.Delay)
	v.time("frontend.chunk", f.Chunk)
	v.whole("frontend.workers", f.Workers, 0, 4096)
	v.bad(f.Blocking && f.Workers > 1, "frontend.workers", "a blocking frontend has one worker for all")
}

func (v *checker) disaggregation(d Disaggregation) {
	const path = "disaggregation."
	v.whole(path+"prefill_servers", d.PrefillServers, 0, 4096)
	v.scheduler(path+"scheduler", d.Scheduler)
	v.kv(path+"kv", d.KV)
	v.costs(path+"cost", d.Cost)
	v.time(path+"link.latency", d.Link.Latency)
	v.bad(!(d.Link.Bandwidth >= 0), path+"link.bandwidth", "%v: must not be negative", d.Link.Bandwidth)
	v.whole(path+"link.token_size", d.Link.TokenSize, 0, math.MaxInt32)
	v.bad(d.Link.Bandwidth > 0 && d.Link.TokenSize == 0, path+"link.token_size", "a link with a bandwidth needs the bytes of a token")
}

// together checks what only several fields together make wrong, as a server
// does when it starts.
func (v *checker) together(c Config) {
	c = c.withDefaults()
	v.fits("", c.MaxModelLen, c.Scheduler, c.KV)
	if c.Disaggregation != nil {
		v.fits("disaggregation.", c.MaxModelLen, c.Disaggregation.Scheduler, c.Disaggregation.KV)
	}
}

// fits wants room for the longest context: a request that no memory or step
// could hold would wait for ever.
func (v *checker) fits(path string, context int, s Scheduler, k KVCache) {
	room := k.Tokens / k.Block * k.Block
	v.bad(k.Tokens > 0 && room == 0, path+"kv.tokens", "%d: does not hold one block of %d", k.Tokens, k.Block)
	v.bad(k.Tokens > 0 && room < context, path+"kv.tokens", "%d: to serve one request of max_model_len (%d) takes more than the %d tokens that the KV cache holds; raise kv.tokens or lower max_model_len", k.Tokens, context, room)
	v.bad(s.WholePrompts && s.Policy == "vllm" && s.TokenBudget < context, path+"scheduler.token_budget", "%d: with whole_prompts it must not be below max_model_len (%d)", s.TokenBudget, context)
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
	c.MaxModelLen = cmp.Or(c.MaxModelLen, c.held())
	c.Frontend.Workers = cmp.Or(c.Frontend.Workers, 1)
	c.Replicas.Count = cmp.Or(c.Replicas.Count, 1)
	c.Replicas.Router = cmp.Or(c.Replicas.Router, "round-robin")
	return c
}

// held is the longest context that every KV cache holds, at most
// DefaultContext.
func (c Config) held() int {
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
		s.Chunk, s.EncoderBudget = 0, math.MaxInt // a prompt is not cut ahead of an image either
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
