package metrics

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Cache is what a run shows of the state that its server's prefix cache was declared to have.
type Cache struct {
	Declared plan.Cache `json:"declared"`
	Proof    Proof      `json:"proof"`
	// Source is where the counts come from: usage, the answers' own, or counters, the
	// server's; empty without any.
	Source string  `json:"source,omitempty"`
	Prompt int     `json:"prompt"` // tokens
	Hit    int     `json:"hit"`    // of them, cached
	Share  float64 `json:"share"`
	// Limit is the number of cached tokens that the declaration allows: at most so many of a
	// cold cache, at least of a primed one.
	Limit int `json:"limit,omitempty"`
}

// Proof is whether the evidence agrees with a declaration.
type Proof string

// The proofs.
const (
	Proved       Proof = "proved"
	Contradicted Proof = "contradicted"
	Unproved     Proof = "unproved" // the server does not tell
	NothingToSay Proof = "nothing"  // a warm cache may hold anything
)

// The reasons of a run that contradicts its declaration.
const (
	CacheNotCold   plan.Code = "verdict.cache-not-cold"
	CacheNotPrimed plan.Code = "verdict.cache-not-primed"
)

// Sources of the counts.
const (
	FromUsage    = "usage"
	FromCounters = "counters"
)

// cacheState holds the declaration against what the answers and the server count; nil without
// a declaration.
func cacheState(run *trace.Run, records []*trace.Record, s *ServerCounts) *Cache {
	declared := run.Cache
	if declared == nil {
		return nil
	}
	c := &Cache{Declared: declared.Declared, Proof: Unproved}
	c.count(declared, records, s)
	switch {
	case c.Declared == plan.WarmCache:
		c.Proof = NothingToSay
	case c.Source == "":
	case c.Declared == plan.ColdCache:
		c.cold(declared, records, s)
	case c.Declared == plan.PrimedCache:
		c.primed(declared)
	}
	return c
}

// count takes the counts of the answers where there are any, else those of the server, which
// has those of others too, and of some requests twice.
func (c *Cache) count(declared *trace.Cache, records []*trace.Record, s *ServerCounts) {
	c.Source, c.Prompt, c.Hit = cachedPrompts(declared.Reported > 0, records, s)
	c.Share = over(c.Hit, float64(c.Prompt))
}

func cachedPrompts(reported bool, records []*trace.Record, s *ServerCounts) (source string, prompt, hit int) {
	for _, r := range records {
		if r.OK() {
			u := r.Credible()
			prompt, hit = prompt+u.Prompt, hit+u.Cached
		}
	}
	switch {
	case prompt > 0 && (hit > 0 || reported):
		return FromUsage, prompt, hit
	case s != nil && s.Dropped.IsZero() && s.PrefixQueried > 0:
		return FromCounters, s.PrefixQueried, s.PrefixHit
	}
	return "", 0, 0
}

// ReuseOf has the prompt tokens from the cache by the answers of a run, or else by its server; nil
// where neither counts them. Own is how many prompt tokens the server counts twice, of preempted
// requests.
func ReuseOf(run *trace.Run, records []*trace.Record) *trace.Reuse {
	reported := slices.ContainsFunc(records, func(r *trace.Record) bool { return r.OK() && r.Usage.CachedReported })
	s := server(run, records)
	source, prompt, hit := cachedPrompts(reported, records, s)
	r := &trace.Reuse{Prompt: prompt, Hit: hit}
	switch source {
	case "":
		return nil
	case FromCounters:
		r.Own = s.Preemptions * longest(records)
	}
	return r
}

// cold requires no more hits than the requests of the run can have made for each other. The
// counters of a server count the prompt of a request that it preempted again.
func (c *Cache) cold(declared *trace.Cache, records []*trace.Record, s *ServerCounts) {
	c.Limit = declared.Most
	if c.Limit >= 0 && c.Source == FromCounters {
		c.Limit += s.Preemptions * longest(records)
	}
	switch {
	case c.Hit == 0 || c.Limit >= 0 && c.Hit <= c.Limit:
		c.Proof = Proved
	case c.Limit >= 0:
		c.Proof = Contradicted
	}
	c.Limit = max(0, c.Limit)
}

// primed requires most of the hits that are possible.
func (c *Cache) primed(declared *trace.Cache) {
	c.Limit = declared.Least
	switch {
	case c.Limit == 0:
	case c.Hit >= c.Limit:
		c.Proof = Proved
	default:
		c.Proof = Contradicted
	}
}

// longest is the length of the longest prompt.
func longest(records []*trace.Record) (n int) {
	for _, r := range records {
		n = max(n, r.Credible().Prompt, r.PromptTokens)
	}
	return n
}

// CacheNote says that a declaration is not proved; zero of others.
func (s Summary) CacheNote() plan.Message {
	if s.Cache == nil || s.Cache.Proof != Unproved {
		return plan.Message{}
	}
	return plan.Msg("report.cache-unproved", "declared", plan.Msg(plan.Code("cachestate."+string(s.Cache.Declared))), "told", s.Cache.Source != "")
}

// conditions judges the state of the server in which the run began.
func (j *judgement) conditions() {
	if c := j.s.Cache; c != nil && c.Proof == Contradicted {
		code := CacheNotCold
		if c.Declared == plan.PrimedCache {
			code = CacheNotPrimed
		}
		j.invalidIf(true, code, "hit", c.Hit, "prompt", c.Prompt, "limit", c.Limit)
	}
	if w := j.s.Run.WarmUp; w != nil && !w.Brief {
		j.doubtIf(!w.Steady, "verdict.never-steady", "waves", len(w.Waves))
	}
}
