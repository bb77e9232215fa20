package sglang

import (
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// cacheHits are the servers' counts of prompt tokens in their caches.
type cacheHits struct {
	Prompt, Cached        int // tokens
	Device, Host, Storage int // of Cached, if Detailed
	Detailed              bool
	Backend               string // of the storage
}

func newCacheHits(embedding bool, requests []Request) *cacheHits {
	c := new(cacheHits)
	for _, q := range requests {
		if !q.OK {
			continue
		}
		c.Prompt += q.Prompt
		if embedding {
			continue
		}
		c.Cached += q.Cached
		if t := q.Tiers; t != nil {
			c.Detailed = true
			c.Device, c.Host, c.Storage = c.Device+t.Device, c.Host+t.Host, c.Storage+t.Storage
			if t.Storage > 0 {
				c.Backend = t.Backend
			}
		}
	}
	return c
}

// rate is the share of the prompts' tokens that were cached.
func (c *cacheHits) rate() float64 { return float64(c.Cached) / float64(max(1, c.Prompt)) }

// entries are the rows of the block, with those on the sources of cached tokens if there are any.
func (c *cacheHits) entries(e *result.Entries) {
	e.Add("cache.prompt_tokens", float64(c.Prompt))
	e.Add("cache.cached_tokens", float64(c.Cached))
	e.Add(figure.CacheHitRate, c.rate())
	if !c.Detailed || c.Cached == 0 {
		return
	}
	tier := func(name string, tokens int) {
		e.Add("cache."+name, float64(tokens))
		share, star, ok := strings.Cut(name, ".")
		share += "_share"
		if ok {
			share += "." + star
		}
		e.Add("cache."+share, float64(tokens)/float64(c.Cached))
	}
	tier("device", c.Device)
	tier("host", c.Host)
	switch {
	case c.Storage == 0:
	case c.Backend != "":
		tier("storage."+c.Backend, c.Storage)
	default:
		tier("storage", c.Storage)
	}
}

// A goodput is how many requests met the limits of --goodput.
type goodput struct {
	limits []Limit
	good   int   // requests that met all
	met    []int // requests that met each
	sent   int
}

func newGoodput(limits []Limit, requests []Request) goodput {
	g := goodput{limits: limits, met: make([]int, len(limits)), sent: len(requests)}
	for _, q := range requests {
		if !q.OK {
			continue
		}
		took := map[string]float64{"ttft": q.TTFT, "tpot": q.TPOT(), "e2el": q.Latency}
		all := true
		for i, l := range limits {
			if took[l.Name]*1000 <= l.MS {
				g.met[i]++
			} else {
				all = false
			}
		}
		if all {
			g.good++
		}
	}
	return g
}

// share is a part of all requests that were sent.
func (g goodput) share(n int) float64 { return float64(n) / float64(max(1, g.sent)) }

func (g goodput) perSecond(duration float64) float64 {
	if duration <= 0 {
		return 0
	}
	return float64(g.good) / duration
}

func (g goodput) entries(e *result.Entries, duration float64) {
	if len(g.limits) == 0 {
		return
	}
	var words []string
	for _, l := range g.limits {
		words = append(words, l.Name+":"+strconv.FormatFloat(l.MS, 'g', 6, 64))
	}
	e.AddText("SLOs (ms):", strings.Join(words, " "))
	e.Add(figure.Goodput, g.perSecond(duration))
	e.Add(figure.SLOAttainment, g.share(g.good))
	for i, l := range g.limits {
		e.Add("slo.attainment."+strings.ToUpper(l.Name), g.share(g.met[i]))
	}
}
