// Package report writes the text of a run for a terminal: its report, its records, its environment,
// and what calibrations, predictions and profiles say.
//
// Text has in its first lines what was run and whether the load generator can be trusted, of a
// fleet with a table of its workers; then come the rates and the latencies, whole run and steady
// state side by side; then what went wrong and what a reader should know. It computes nothing: its
// figures are those of metrics.Summary. A figure that the sample cannot carry has an asterisk.
package report

import (
	"io"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Text writes the report of a run.
func Text(w io.Writer, s metrics.Summary, l *words.Language) error {
	r := report{Language: l}
	r.head(s)
	r.fleet(s.Run)
	r.rates(s)
	r.latencies(s)
	r.parts(s)
	r.failures(s.Requests)
	r.notes(s)
	_, err := io.WriteString(w, r.String())
	return err
}

// A report is one in the making.
type report struct {
	*words.Language
	doc.Builder
	short            []metrics.Percentile // with an asterisk, each once
	invalid, bounded bool                 // there are rows that are not to be believed, and rows with bounds
	void             bool                 // and rows of which nothing is
}

func (r *report) head(s metrics.Summary) {
	run, p := s.Run, s.Run.Plan
	name := ""
	if run.Name != "" {
		name = strconv.Quote(run.Name)
	}
	when, where := run.Started.Local().Format("2006-01-02 15:04:05"), p.URL
	switch {
	case s.Health.Simulated:
		when, where = r.Word("report.simulated"), r.Word("report.simulated-engine")
	case run.Env.Embedded:
		where = r.Word("report.embedded-engine")
	}
	r.Field(r.Word("report.run"), run.ID, name, when, r.status(run.Status))
	if run.Env.Profile != nil {
		where += " " + run.Env.Profile.Name
	}
	r.Field(r.Word("report.target"), where, p.Model, r.Word("report.protocol", "protocol", p.Protocol, "stream", p.Stream))
	seed := r.Word("report.seed", "seed", strconv.FormatUint(p.Seed, 10))
	if run.Origin != nil && p.Seed == 0 { // most tools do not tell theirs
		seed = ""
	}
	r.Field(r.Word("report.load"), r.Say(p.Workload), r.Say(p.Arrival), Limit(p, r.Language), seed)
	if !run.Env.Embedded && !s.Health.Simulated { // they count by themselves
		r.Field(r.Word("report.tokens"), r.Say(run.Env.Tokenizer), r.Say(run.Env.TokenizerWhy))
	}
	r.client(s)
	r.fleetLine(s.Run)
	r.server(s)
	r.cache(s)
	r.machine(s)
	r.Line()
}

func (r *report) status(s trace.Status) string {
	if s == "" {
		return ""
	}
	return r.Word(plan.Code("status." + string(s)))
}

// Limit is how many requests, or conversations, of a plan may be in flight; empty: any number.
func Limit(p trace.Load, l *words.Language) string {
	switch {
	case p.Concurrency == 0:
		return ""
	case p.Holds():
		return l.Word("report.conversations", "limit", p.Concurrency)
	}
	return l.Word("load.at-most", "value", p.Concurrency)
}

// client is the verdict on the load generator and what it rests on.
func (r *report) client(s metrics.Summary) {
	h, name := s.Health, r.Word("report.client")
	if h.Simulated {
		r.Field(name, r.Word("report.no-client"))
		return
	}
	if o := s.Run.Origin; o != nil {
		r.Field(name, r.Word("report.foreign-client", "tool", strings.TrimSpace(o.Tool+" "+o.Form)))
		return
	}
	validity := plan.Say(plan.Code("validity." + string(h.Verdict.Validity)))
	r.Field(name, r.Word("report.verdict", "validity", validity, "reasons", h.Verdict.Reasons))
	lateness := r.Word("report.nothing-sent")
	if h.Lateness.N > 0 {
		lateness = r.Word("report.sent-late", "spread", spread(h.Lateness.At(50), h.Lateness.At(99), h.Lateness.Max))
	}
	r.Field("", lateness)
	r.Field("", r.stamps(h), r.merged(s.Chunks))
	if h.Measured {
		r.Field("", r.usage(h)...)
	}
}

// stamps says whose the instants are, and how late they would be, or are, that are taken
// when the client reads.
func (r *report) stamps(h metrics.Health) string {
	whose := ""
	switch s := h.Stamps; {
	case s.User == 0 && s.Kernel > 0:
		whose = r.Word("report.kernel-stamps")
	case s.User > 0 && s.Kernel > 0:
		whose = r.Word("report.mixed-stamps", "user", s.User, "all", s.User+s.Kernel)
	case s.User > 0:
		whose = r.Word("report.user-stamps")
	}
	if h.Lag.Reads > 0 && whose != "" {
		return r.Word("report.read-late", "spread", spread(h.Lag.P50, h.Lag.P99, h.Lag.Max), "stamps", whose)
	}
	return whose
}

// spread is a distribution of delays.
func spread(p50, p99, most float64) plan.Message {
	return plan.Say("report.spread", "p50", ms(p50), "p99", ms(p99), "max", ms(most))
}

// merged are the chunks without an instant of their own.
func (r *report) merged(c metrics.Chunks) string {
	if c.Merged == 0 {
		return ""
	}
	return r.Word("report.merged", "share", c.MergedShare)
}

func (r *report) usage(h metrics.Health) []string {
	used := []string{r.Word("report.cpu", "share", h.CPU, "processors", h.CPUs), r.Word("report.collections", "cycles", h.GCCycles, "pause", ms(h.GCMax))}
	if h.GCCycles == 0 {
		used[1] = r.Word("report.no-collection")
	}
	if h.Redials > 0 {
		used = append(used, r.Word("report.redials", "connections", h.Redials))
	}
	if h.Resent > 0 {
		used = append(used, r.Word("report.resent", "requests", h.Resent))
	}
	return used
}

// server is what its own counters say that a client cannot see, as far as there
// was any of it.
func (r *report) server(all metrics.Summary) {
	var parts []string
	if all.Server != nil {
		parts = r.counters(all.Server)
	}
	if all.Resources != nil {
		parts = append(parts, r.serverLoad(all.Resources.Server)...)
	}
	r.Field(r.Word("report.server"), parts...)
}

func (r *report) counters(s *metrics.Server) (parts []string) {
	add := func(there bool, code plan.Code, args ...any) {
		if there {
			parts = append(parts, r.Word(code, args...))
		}
	}
	add(!s.Dropped.IsZero(), "report.counters-dropped", "why", s.Dropped)
	add(s.Queued >= shortQueue, "report.queued", "time", ms(s.Queued))
	add(s.Preemptions > 0, "report.preemptions", "requests", s.Preemptions)
	add(s.PrefixHit > 0, "report.prefix-hits", "share", float64(s.PrefixHit)/float64(s.PrefixQueried))
	add(s.Drafted > 0, "report.drafts", "share", float64(s.Accepted)/float64(s.Drafted))
	add(s.Computed > 0, "report.computed", "tokens", s.Computed)
	add(s.PerDecode > 0, "report.per-decode", "tokens", s.PerDecode)
	return parts
}

// cache is the declared state of the server's cache and the evidence of it.
func (r *report) cache(s metrics.Summary) {
	c := s.Cache
	if c == nil {
		if reuse := s.Run.Reuse; reuse != nil && reuse.Hit > 0 && (s.Server == nil || s.Server.PrefixHit == 0) { // else that line has it
			r.Field(r.Word("report.cache"), r.Word("report.cache-found", "share", float64(reuse.Hit)/float64(reuse.Prompt), "usage", true))
		}
		return
	}
	done := ""
	if run := s.Run.Cache; run != nil && run.Reset != "" {
		done = r.Word("report.cache-reset", "route", run.Reset)
	} else if run != nil && run.Primed > 0 {
		done = r.Word("report.cache-primed", "prompts", run.Primed)
	}
	found, proof := "", ""
	if c.Source != "" {
		found = r.Word("report.cache-found", "share", c.Share, "usage", c.Source == metrics.FromUsage)
	}
	if c.Proof != metrics.NothingToSay {
		proof = r.Word(plan.Code("cachestate." + string(c.Proof)))
	}
	r.Field(r.Word("report.cache"), r.Word("report.cache-declared", "state", plan.Say(plan.Code("cachestate."+string(c.Declared)))), done, found, proof)
}

// shortQueue is how long requests may wait in the server, in the mean, without
// a word.
const shortQueue = 0.001
