// Package report makes texts about runs for a terminal: the report of a run, its records, its
// environment, and the results of calibrations, predictions and checks of profiles.
//
// Text begins with the load and the verdict on the load generator, for a fleet with a table of its
// workers; then come the rates and the latencies, full run and steady state side by side; then
// failures and notes. It computes nothing: its figures are those of metrics.Summary. A figure that
// the sample is too small for has an asterisk.
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
	return write(w, r.head(s), r.fleet(s.Run), r.rates(s), r.latencies(s), r.tenants(s), r.turns(s),
		r.failures(s.Requests), r.notes(s)) // notes explain marks in the tables: they are made last
}

func write(w io.Writer, items ...doc.Item) error {
	return doc.Text(w, doc.Document{Sections: []doc.Section{{Items: items}}}, 0, false)
}

type report struct {
	*words.Language
	fields           doc.List             // the lines of its head
	noted            []plan.Message       // at its end
	rows             [][]string           // of the table of latencies
	short            []metrics.Percentile // with an asterisk, each once
	invalid, bounded bool                 // there are rows that are not to be believed, and rows with bounds
	void             bool                 // and rows of which nothing is
}

// field adds a line to the head.
func (r *report) field(name string, parts ...string) {
	r.fields = append(r.fields, doc.Field(name, parts...))
}

func (r *report) head(s metrics.Summary) doc.List {
	run := s.Run
	name := ""
	if run.Name != "" {
		name = strconv.Quote(run.Name)
	}
	when := run.Started.Local().Format("2006-01-02 15:04:05")
	if s.Health.Simulated {
		when = r.Word("report.simulated")
	}
	status := r.wordIf(run.Status != "", plan.Code("status."+string(run.Status)))
	r.field(r.Word("report.run"), run.ID, name, when, status)
	r.place(s)
	if !run.Env.Embedded && !s.Health.Simulated { // they count by themselves
		r.field(r.Word("report.tokens"), r.Say(run.Env.Tokenizer), r.Say(run.Env.TokenizerWhy))
	}
	r.client(s)
	if f := s.Run.Fleet; f != nil {
		r.field(r.Word("report.fleet"), FleetSummary(s.Run, r.Language), ClockOffset(f, r.Language))
	}
	r.server(s)
	r.cache(s)
	r.machine(s)
	return r.fields
}

// place is what was measured, and with which load.
func (r *report) place(s metrics.Summary) {
	run, p := s.Run, s.Run.Plan
	where := p.URL
	switch {
	case s.Health.Simulated:
		where = r.Word("report.simulated-engine")
	case run.Env.Embedded:
		where = r.Word("report.embedded-engine")
	}
	if run.Env.Profile != nil {
		where += " " + run.Env.Profile.Name
	}
	protocol := r.Word("report.protocol", "protocol", p.Protocol, "stream", p.Stream)
	r.field(r.Word("report.target"), where, p.Model, protocol)
	seeded := run.Origin == nil || p.Seed != 0 // most other tools do not report theirs
	seed := r.wordIf(seeded, "report.seed", "seed", strconv.FormatUint(p.Seed, 10))
	r.field(r.Word("report.load"), r.Say(p.Workload), r.Say(p.Arrival), Limit(p, r.Language), seed)
}

// wordIf is r.Word under a condition, else "".
func (r *report) wordIf(cond bool, code plan.Code, args ...any) string {
	if !cond {
		return ""
	}
	return r.Word(code, args...)
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

// client is the verdict on the load generator and its reasons.
func (r *report) client(s metrics.Summary) {
	h, name := s.Health, r.Word("report.client")
	if h.Simulated {
		r.field(name, r.Word("report.no-client"), r.wordIf(len(h.Verdict.Reasons) > 0, "report.verdict",
			"validity", plan.Msg(plan.Code("validity."+string(h.Verdict.Validity))), "causes", h.Verdict.Reasons))
		return
	}
	if o := s.Run.Origin; o != nil {
		r.field(name, r.Word("report.foreign-client", "tool", strings.TrimSpace(o.Tool+" "+o.Form)))
		return
	}
	validity := plan.Msg(plan.Code("validity." + string(h.Verdict.Validity)))
	e := metrics.Explain(h.Verdict)
	r.field(name, r.Word("report.verdict", "validity", validity, "causes", e.Causes))
	r.field("", r.wordIf(len(e.Remedies) > 0, "report.remedy", "remedies", e.Remedies))
	r.field("", r.wordIf(len(e.Effects) > 0, "report.effects", "effects", e.Effects))
	lateness := r.Word("report.nothing-sent")
	if h.Lateness.N > 0 {
		lateness = r.Word("report.sent-late", "spread", spread(h.Lateness.At(50), h.Lateness.At(99), h.Lateness.Max))
	}
	r.field("", lateness)
	r.field("", r.stamps(h), r.wordIf(s.Chunks.Merged > 0, "report.merged", "share", s.Chunks.MergedShare))
	if h.Measured {
		r.field("", r.usage(h)...)
	}
}

// stamps is the source of the instants, and how late those are, or would be, that are taken when the
// client reads.
func (r *report) stamps(h metrics.Health) string {
	source := ""
	switch s := h.Stamps; {
	case s.User == 0 && s.Kernel > 0:
		source = r.Word("report.kernel-stamps")
	case s.User > 0 && s.Kernel > 0:
		source = r.Word("report.mixed-stamps", "user", s.User, "all", s.User+s.Kernel)
	case s.User > 0:
		source = r.Word("report.user-stamps")
	}
	if h.Lag.Reads > 0 && source != "" {
		return r.Word("report.read-late", "spread", spread(h.Lag.P50, h.Lag.P99, h.Lag.Max), "stamps", source)
	}
	return source
}

// spread is a distribution of delays.
func spread(p50, p99, most float64) plan.Message {
	return plan.Msg("report.spread", "p50", ms(p50), "p99", ms(p99), "max", ms(most))
}

func (r *report) usage(h metrics.Health) []string {
	return []string{
		r.Word("report.cpu", "share", h.CPU, "processors", h.CPUs),
		r.wordIf(h.GCCycles == 0, "report.no-collection"),
		r.wordIf(h.GCCycles > 0, "report.collections", "cycles", h.GCCycles, "pause", ms(h.GCMax)),
		r.wordIf(h.Redials > 0, "report.redials", "connections", h.Redials),
		r.wordIf(h.Resent > 0, "report.resent", "requests", h.Resent),
	}
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
	r.field(r.Word("report.server"), parts...)
}

func (r *report) counters(s *metrics.ServerCounts) []string {
	return []string{
		r.wordIf(!s.Dropped.IsZero(), "report.counters-dropped", "why", s.Dropped),
		r.wordIf(s.Queued >= shortQueue, "report.queued", "time", ms(s.Queued)),
		r.wordIf(s.Preemptions > 0, "report.preemptions", "requests", s.Preemptions),
		r.wordIf(s.PrefixHit > 0, "report.prefix-hits", "share", float64(s.PrefixHit)/float64(s.PrefixQueried)),
		r.wordIf(s.Drafted > 0, "report.drafts", "share", float64(s.Accepted)/float64(s.Drafted)),
		r.wordIf(s.Computed > 0, "report.computed", "tokens", s.Computed),
		r.wordIf(s.PerDecode > 0, "report.per-decode", "tokens", s.PerDecode),
	}
}

// cache is the declared state of the server's cache and the evidence of it.
func (r *report) cache(s metrics.Summary) {
	c := s.Cache
	if c == nil {
		reuse, counted := s.Run.Reuse, s.Server != nil && s.Server.PrefixHit > 0 // by the server, in its line
		if reuse != nil && reuse.Hit > 0 && !counted {
			found := r.Word("report.cache-found", "share", float64(reuse.Hit)/float64(reuse.Prompt), "usage", true)
			r.field(r.Word("report.cache"), found)
		}
		return
	}
	done := ""
	if run := s.Run.Cache; run != nil && run.Reset != "" {
		done = r.Word("report.cache-reset", "route", run.Reset)
	} else if run != nil && run.Primed > 0 {
		done = r.Word("report.cache-primed", "prompts", run.Primed)
	}
	declared := r.Word("report.cache-declared", "state", plan.Msg(plan.Code("cachestate."+string(c.Declared))))
	found := r.wordIf(c.Source != "", "report.cache-found", "share", c.Share, "usage", c.Source == metrics.FromUsage)
	proof := r.wordIf(c.Proof != metrics.NothingToSay, plan.Code("cachestate."+string(c.Proof)))
	r.field(r.Word("report.cache"), declared, done, found, proof)
}

// shortQueue is how long requests may wait in the server, in the mean, without
// a word.
const shortQueue = 0.001
