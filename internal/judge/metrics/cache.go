package metrics

import (
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

// A cacheCount counts prompt tokens of the answered requests, as the server reports them.
type cacheCount struct {
	prompt, hit int
	some        bool // some request had tokens in the cache
	reported    bool // some answer said how many
	longest     int  // prompt, in tokens
}

func (c *cacheCount) add(r *trace.Record) {
	u := r.Credible()
	if r.OK() {
		c.prompt, c.hit = c.prompt+u.Prompt, c.hit+u.Cached
		c.reported = c.reported || r.Usage.CachedReported
	}
	c.some = c.some || r.Usage.Cached > 0
	c.longest = max(c.longest, u.Prompt, r.PromptTokens)
}

// prompts takes the counts of the answers where there are any, else those of the server, which
// has those of others too, and of some requests twice.
func (c *cacheCount) prompts(reported bool, s *ServerCounts) (source string, prompt, hit int) {
	switch {
	case c.prompt > 0 && (c.hit > 0 || reported):
		return FromUsage, c.prompt, c.hit
	case s != nil && s.Dropped.IsZero() && s.PrefixQueried > 0:
		return FromCounters, s.PrefixQueried, s.PrefixHit
	}
	return "", 0, 0
}

// cacheState holds the declaration against what the answers and the server count; nil without
// a declaration.
func (x *observed) cacheState(s *ServerCounts) *Cache {
	declared := x.run.Cache
	if declared == nil {
		return nil
	}
	c := &Cache{Declared: declared.Declared, Proof: Unproved}
	c.Source, c.Prompt, c.Hit = x.cache.prompts(declared.Reported > 0, s)
	c.Share = over(c.Hit, float64(c.Prompt))
	switch {
	case c.Declared == plan.WarmCache:
		c.Proof = NothingToSay
	case c.Source == "":
	case c.Declared == plan.ColdCache:
		c.cold(declared, x.cache.longest, s)
	case c.Declared == plan.PrimedCache:
		c.primed(declared)
	}
	return c
}

// ReuseOf has the prompt tokens from the cache by the answers of a run, or else by its server; nil
// where neither counts them. Own is how many prompt tokens the server counts twice, of preempted
// requests.
func ReuseOf(run *trace.Run, records []*trace.Record) *trace.Reuse {
	var c cacheCount
	finished := newFinishedCount(run)
	for _, r := range records {
		c.add(r)
		finished.add(r)
	}
	s := finished.server(run)
	source, prompt, hit := c.prompts(c.reported, s)
	r := &trace.Reuse{Prompt: prompt, Hit: hit}
	switch source {
	case "":
		return nil
	case FromCounters:
		r.Own = s.Preemptions * c.longest
	}
	return r
}

// cold requires no more hits than the requests of the run can have made for each other. The
// counters of a server count the prompt of a request that it preempted again.
func (c *Cache) cold(declared *trace.Cache, longest int, s *ServerCounts) {
	c.Limit = declared.Most
	if c.Limit >= 0 && c.Source == FromCounters {
		c.Limit += s.Preemptions * longest
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
