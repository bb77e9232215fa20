package sglang

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/argparse"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/table"
)

// An stored is what a run of the tool's command line keeps for its reports.
type stored struct {
	Args      []string `json:"args"`
	Model     string   `json:"model"`
	Tokenizer string   `json:"tokenizer"`
	Turns     bool     `json:"turns,omitempty"`
}

// Foreign is what a run of args keeps for its reports; turns says that it is of
// conversations.
func (a *Args) Foreign(args []string, tokenizer string, turns bool) (json.RawMessage, error) {
	return json.Marshal(stored{a.Masked(args), a.ServedModel(), tokenizer, turns})
}

// Masked is a command line without what its headers and its body may have of secrets.
func (a *Args) Masked(args []string) []string {
	out := slices.Clone(args)
	header := false
	for i, arg := range out {
		flag, value, joined := strings.Cut(arg, "=")
		switch {
		case strings.HasPrefix(flag, "--"):
			if header = len(flag) > 3 && strings.HasPrefix("--header", flag); header && joined {
				out[i] = flag + "=" + argparse.MaskPair(value)
			}
		case header:
			out[i] = argparse.MaskPair(arg)
		default:
			out[i] = argparse.Mask(arg)
		}
	}
	return out
}

// NewReport computes the report of a run. The command line is the run's own if
// it had one, else the plain one that its plan amounts to; a version other than "",
// one of Versions, replaces that of the command line.
func NewReport(t *trace.Trace, version string) (*Report, error) {
	v := Version(version)
	if version != "" && !slices.Contains(Versions(), v) {
		return nil, fmt.Errorf("sglang.bench_serving has no form %s here: there are %v", v, Versions())
	}
	if t.Run.Plan.Dialect == "sglang" && t.Run.Plan.Foreign != nil {
		return newOwnReport(t, v)
	}
	if v == "" {
		v = Main
	}
	o := OptionsOf(t, v)
	r := &Report{
		Version: v, Backend: backendOf(t.Run.Plan.Protocol), Rate: rateOf(t), MaxConcurrency: t.Run.Plan.Concurrency,
		Embedding: t.Run.Plan.Protocol == "embeddings",
	}
	if s := metrics.NewSpecDecode(t.Run.ServerCounters); s != nil && s.AcceptanceLength > 0 && t.Run.Kind != trace.Simulated {
		o.AcceptLength = s.AcceptanceLength
		o.Split = r.Backend == "sglang-oai" || r.Backend == "sglang-oai-chat"
	}
	r.Figures = NewFigures(t, o)
	return r, nil
}

// newOwnReport is that of a run of the tool's own command line.
func newOwnReport(t *trace.Trace, v Version) (*Report, error) {
	var kept stored
	err := json.Unmarshal(t.Run.Plan.Foreign, &kept)
	var a *Args
	if err == nil {
		a, err = Parse(kept.Args)
	}
	if err != nil {
		return nil, fmt.Errorf("read the command line of run %s: %w", t.Run.ID, err)
	}
	if v == "" {
		v = a.DialectVersion
	}
	r := &Report{
		Args: a, Version: v, Backend: a.Backend, Rate: python.Float(a.RequestRate), MaxConcurrency: a.Concurrency(),
		Images: a.DatasetName == "image" || a.DatasetName == "mmmu", Embedding: a.Embedding(), Goodput: a.limits(),
	}
	if a.UseTraceTimestamps {
		r.Rate = "trace"
	}
	o := OptionsOf(t, v)
	o.Turns = kept.Turns
	r.Figures = NewFigures(t, o)
	if a.CacheReport && v.Since(Main) {
		r.Cache = newCacheHits(a, r.Figures.Requests)
	}
	return r, nil
}

// limits are those of --goodput, the last of each name in the place of the first.
func (a *Args) limits() (out []Limit) {
	for _, l := range a.Goodput {
		i := slices.IndexFunc(out, func(m Limit) bool { return m.Name == l.Name })
		if i < 0 {
			out = append(out, l)
			continue
		}
		out[i] = l
	}
	return out
}

// cacheHits are what servers said of prompts that they had in their caches.
type cacheHits struct {
	Prompt, Cached        int // tokens
	Device, Host, Storage int // of Cached, if Detailed
	Detailed              bool
	Backend               string // of the storage
}

func newCacheHits(a *Args, requests []Request) *cacheHits {
	c := new(cacheHits)
	for _, q := range requests {
		if !q.OK {
			continue
		}
		c.Prompt += q.Prompt
		if a.Embedding() {
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

// entries are the rows of the block; where tokens came from is told if any did.
func (c *cacheHits) entries(e *table.Entries) {
	e.Add("cache.prompt_tokens", float64(c.Prompt))
	e.Add("cache.cached_tokens", float64(c.Cached))
	e.Add("cache.hit_rate", c.rate()*100)
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
		e.Add("cache."+share, float64(tokens)/float64(c.Cached)*100)
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
		tpot := 0.0
		if q.Output > 1 {
			tpot = (q.Latency - q.TTFT) / float64(q.Output-1)
		}
		took := map[string]float64{"ttft": q.TTFT, "tpot": tpot, "e2el": q.Latency}
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

// perSecond are the good requests a second.
func (g goodput) perSecond(duration float64) float64 {
	if duration <= 0 {
		return 0
	}
	return float64(g.good) / duration
}

func (g goodput) entries(e *table.Entries, duration float64) {
	if len(g.limits) == 0 {
		return
	}
	var words []string
	for _, l := range g.limits {
		words = append(words, l.Name+":"+strconv.FormatFloat(l.MS, 'g', 6, 64))
	}
	e.Say("SLOs (ms):", strings.Join(words, " "))
	e.Add("goodput", g.perSecond(duration))
	e.Add("slo.attainment", g.share(g.good)*100)
	for i, l := range g.limits {
		e.Add("slo.attainment."+strings.ToUpper(l.Name), g.share(g.met[i])*100)
	}
}
