// Package report turns figures into something to read. It computes nothing:
// what stands in a report stands in metrics.Summary too.
//
// Text is Pitot's own report for a terminal. Its first lines say what was run
// and whether the load generator can be trusted; then come the rates and the
// latencies, whole run and steady state beside each other; then what went wrong
// and what a reader should know. A figure that the sample cannot carry has an
// asterisk.
package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Text writes the report of a run for a terminal.
func Text(w io.Writer, s metrics.Summary) error {
	var t text
	t.head(s)
	t.rates(s)
	t.latencies(s)
	t.parts(s)
	t.failures(s.Requests)
	t.notes(s)
	_, err := io.WriteString(w, t.String())
	return err
}

// text is a report in the making.
type text struct {
	strings.Builder
	short            []metrics.Percentile // with an asterisk, each once
	invalid, bounded bool                 // there are rows that are not to be believed, and rows with bounds
}

func (t *text) linef(format string, a ...any) {
	t.WriteString(strings.TrimRight(fmt.Sprintf(format, a...), " ") + "\n")
}

// field is a line of the head: a name and parts with dots between.
func (t *text) field(name string, parts ...string) {
	kept := parts[:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	if len(kept) > 0 {
		t.linef("%-8s%s", name, strings.Join(kept, " · "))
	}
}

func (t *text) head(s metrics.Summary) {
	run, plan := s.Run, s.Run.Plan
	name := ""
	if run.Name != "" {
		name = fmt.Sprintf("%q", run.Name)
	}
	when, where := run.Started.Local().Format("2006-01-02 15:04:05"), plan.URL
	switch {
	case s.Health.Simulated:
		when, where = "SIMULATED in virtual time", "simulated engine"
	case run.Env.Embedded:
		where = "embedded engine"
	}
	t.field("run", run.ID, name, when, string(run.Status))
	if run.Env.Profile != nil {
		where += " " + run.Env.Profile.Name
	}
	how := plan.Protocol + ", not streamed"
	if plan.Stream {
		how = plan.Protocol + ", streamed"
	}
	t.field("target", where, plan.Model, how)
	seed := fmt.Sprintf("seed %d", plan.Seed)
	if run.Origin != nil && plan.Seed == 0 { // most tools do not tell theirs
		seed = ""
	}
	t.field("load", plan.Workload, plan.Arrival, gate(plan), seed)
	if !run.Env.Embedded && !s.Health.Simulated { // they count by themselves
		t.field("tokens", run.Env.Tokenizer, run.Env.TokenizerWhy)
	}
	t.client(s)
	t.server(s.Server)
	t.WriteString("\n")
}

// shortQueue is how long requests may wait in the server, in the mean, without
// a word.
const shortQueue = 0.001

// server is what its own counters say that a client cannot see, as far as there
// was any of it.
func (t *text) server(s *metrics.Server) {
	if s == nil {
		return
	}
	var parts []string
	add := func(there bool, format string, a ...any) {
		if there {
			parts = append(parts, fmt.Sprintf(format, a...))
		}
	}
	add(s.Queued >= shortQueue, "queued %s ms (mean)", ms(s.Queued))
	add(s.Preemptions > 0, "%d preemptions", s.Preemptions)
	add(s.PrefixHit > 0, "prefix hits %.1f %%", 100*float64(s.PrefixHit)/float64(s.PrefixQueried))
	add(s.Drafted > 0, "drafts accepted %.1f %%", 100*float64(s.Accepted)/float64(s.Drafted))
	if parts != nil {
		t.field("server", parts...)
	}
}

func gate(p trace.Plan) string {
	switch {
	case p.Concurrency == 0:
		return ""
	case p.Settings["hold"] == "true":
		return fmt.Sprintf("at most %d conversations at a time", p.Concurrency)
	}
	return fmt.Sprintf("at most %d in flight", p.Concurrency)
}

// client is the verdict on the load generator and what it rests on.
func (t *text) client(s metrics.Summary) {
	h := s.Health
	if h.Simulated {
		t.field("client", "none: no request was sent, and nothing stood in the way of any")
		return
	}
	if o := s.Run.Origin; o != nil {
		t.field("client", strings.TrimSpace(o.Tool+" "+o.Form)+": nobody watched it, so nothing is known of what it added to the figures")
		return
	}
	verdict := strings.ToUpper(string(h.Verdict.Validity))
	if len(h.Verdict.Reasons) > 0 {
		verdict += ": " + strings.Join(h.Verdict.Reasons, "; ")
	}
	t.field("client", verdict)
	lateness := "sent nothing"
	if h.Lateness.N > 0 {
		lateness = "sent late by " + spread(h.Lateness.At(50), h.Lateness.At(99), h.Lateness.Max)
	}
	t.field("", lateness)
	t.stamps(h, s.Chunks)
	if !h.Measured {
		return
	}
	var parts []string
	add := func(there bool, format string, a ...any) {
		if there {
			parts = append(parts, fmt.Sprintf(format, a...))
		}
	}
	add(true, "CPU %.0f %% of %d", 100*h.CPU, h.CPUs)
	add(h.GCCycles == 0, "no GC")
	add(h.GCCycles > 0, "%d GC, longest pause %s ms", h.GCCycles, ms(h.GCMax))
	add(h.Redials > 0, "%d idle connections replaced", h.Redials)
	t.field("", parts...)
}

// stamps says whose the instants are, how late they would be, or are, that are taken
// when the client reads, and how many chunks have none of their own.
func (t *text) stamps(h metrics.Health, c metrics.Chunks) {
	whose := ""
	switch s := h.Stamps; {
	case s.User == 0 && s.Kernel > 0:
		whose = "kernel stamps"
	case s.User > 0 && s.Kernel > 0:
		whose = fmt.Sprintf("%d of %d answers with user-space stamps", s.User, s.User+s.Kernel)
	case s.User > 0:
		whose = "user-space stamps"
	}
	if h.Lag.Reads > 0 && whose != "" {
		whose = fmt.Sprintf("read late by %s (%s)", spread(h.Lag.P50, h.Lag.P99, h.Lag.Max), whose)
	}
	merged := ""
	if c.Merged > 0 {
		merged = fmt.Sprintf("%.2f %% of chunks merged", 100*c.MergedShare)
	}
	if whose != "" || merged != "" {
		t.field("", whose, merged)
	}
}

// spread is a distribution of delays in a line.
func spread(p50, p99, most float64) string {
	return fmt.Sprintf("P50 %s, P99 %s, max %s ms", ms(p50), ms(p99), ms(most))
}

// rates are lines of a name, what it counts, and the rate over the whole run
// and in the steady state.
func (t *text) rates(s metrics.Summary) {
	steady := func(string) string { return "" }
	title := ""
	if s.Steady.Why == "" {
		title = fmt.Sprintf("steady %.1f–%.1f s", s.Steady.From, s.Steady.To)
		steady = func(v string) string { return v }
	}
	t.rate("", "", fmt.Sprintf("whole run %.1f s", s.Duration), title)
	t.rate("requests", fmt.Sprintf("%d ok, %d failed", s.Requests.OK, s.Requests.Failed),
		sig(s.Rates.Requests)+" req/s", steady(sig(s.Steady.Completed)+" req/s"))
	if s.Run.Plan.Silent() {
		t.rate("texts", fmt.Sprint(s.Tokens.Inputs), sig(s.Rates.Inputs)+" /s", "")
	} else {
		t.rate("output", fmt.Sprintf("%d tokens", s.Tokens.Output),
			sig(s.Rates.Output)+" tok/s", steady(sig(s.Steady.Output)+" tok/s"))
	}
	t.rate("input", fmt.Sprintf("%d tokens", s.Tokens.Input), sig(s.Rates.Input)+" tok/s", "")
	if s.Tokens.Audio > 0 {
		t.rate("sound", fmt.Sprintf("%.1f s", s.Tokens.Audio), sig(s.Rates.Audio)+" s/s", "")
	}
	t.rate("in flight", fmt.Sprintf("at most %d", s.Concurrency.Peak),
		fmt.Sprintf("mean %.1f", s.Concurrency.Mean), steady(fmt.Sprintf("mean %.1f", s.Steady.Level)))
	if g := s.Goodput; g != nil {
		t.rate("goodput", fmt.Sprintf("%d ok (%.1f %%) within", g.Met, 100*g.Share), sig(g.Rate)+" req/s", "")
		t.linef("%-12s%s", "", objectives(g))
	}
	t.WriteString("\n")
}

func (t *text) rate(name, what, whole, steady string) {
	t.linef("%s%s%s%s", padRight(name, 12), padRight(what, 28), padLeft(whole, 18), padLeft(steady, 22))
}

func objectives(g *metrics.Goodput) string {
	parts := make([]string, len(g.Objectives))
	for i, o := range g.Objectives {
		parts[i] = fmt.Sprintf("%s ≤ %v", strings.ToUpper(o.Metric), o.Limit.Round(time.Microsecond))
	}
	return strings.Join(parts, ", ")
}

// Widths of the latency table.
const (
	nameWidth   = 12
	figureWidth = 9
)

func (t *text) latencies(s metrics.Summary) {
	percentiles := s.Service.E2EL.Percentiles
	t.WriteString(padRight("ms", nameWidth) + padLeft("mean", figureWidth) + padLeft("median", figureWidth))
	for _, p := range percentiles {
		t.WriteString(padLeft(fmt.Sprintf("P%g ", p.P), figureWidth))
	}
	t.linef("%s%s", padLeft("max", figureWidth), padLeft("n", figureWidth))
	streamed := s.Run.Plan.Stream
	t.group("service time: from the first byte sent", s.Service, streamed, true)
	if s.Response != nil {
		t.group("response time: from the instant the schedule wanted it", *s.Response, streamed, false)
		if s.Run.Plan.Concurrency > 0 {
			t.row("gate wait", s.Wait)
		}
	}
	if s.Steady.Why == "" {
		t.group(fmt.Sprintf("service time of the %d requests in the steady state", s.Steady.Requests), s.Steady.Service, streamed, true)
	}
	if s.Setup.N > 0 {
		t.linef("new connections")
		t.row("set-up", s.Setup)
	}
	t.WriteString("\n")
}

func (t *text) group(title string, l metrics.Latencies, streamed, gaps bool) {
	t.linef("%s", title)
	if streamed {
		t.row("TTFT", l.TTFT)
	}
	if streamed && gaps {
		t.row("TPOT", l.TPOT)
		t.row("ITL", l.ITL)
	}
	t.row("E2EL", l.E2EL)
}

func (t *text) row(name string, d metrics.Distribution) {
	if d.Invalid && d.N > 0 {
		name, t.invalid = name+" !", true
	}
	t.WriteString(padRight("  "+name, nameWidth))
	if d.N == 0 {
		t.linef("%s", padLeft("–", figureWidth))
		return
	}
	t.WriteString(padLeft(ms(d.Mean), figureWidth) + padLeft(ms(d.Median), figureWidth))
	for _, p := range d.Percentiles {
		t.WriteString(padLeft(ms(p.Value)+t.mark(p), figureWidth))
	}
	t.linef("%s%s", padLeft(ms(d.Max), figureWidth), padLeft(fmt.Sprint(d.N), figureWidth))
	if d.Bounds != nil {
		t.bounded = true
		t.bound("at least", d.Bounds.Low)
		t.bound("at most", d.Bounds.High)
	}
}

// mark is an asterisk for a percentile that its sample cannot carry, else a blank.
func (t *text) mark(p metrics.Percentile) string {
	if !p.Short {
		return " "
	}
	if !slices.ContainsFunc(t.short, func(q metrics.Percentile) bool { return q.P == p.P }) {
		t.short = append(t.short, p)
	}
	return "*"
}

// bound is a row of what the figures above it can be.
func (t *text) bound(name string, q metrics.Quantiles) {
	t.WriteString(padRight("   "+name, nameWidth) + padLeft("", figureWidth) + padLeft(ms(q.Median), figureWidth))
	for _, v := range q.Percentiles {
		t.WriteString(padLeft(ms(v)+" ", figureWidth))
	}
	t.linef("%s", padLeft(ms(q.Max), figureWidth))
}

// failures are listed by class, most frequent first, in the words of the first
// of each.
func (t *text) failures(r metrics.Requests) {
	if r.Failed == 0 {
		return
	}
	t.linef("failed: %d of %d", r.Failed, r.Sent)
	for _, c := range r.Classes {
		name := string(c.Class)
		if c.Status != 0 {
			name = fmt.Sprintf("%s %d", name, c.Status)
		}
		t.linef("%7d  %s %s", c.Count, padRight(name, 13), c.Class.Explain())
		if c.Example != "" {
			t.linef("%s%s", strings.Repeat(" ", 23), cut(Clean(c.Example), 100))
		}
	}
	t.WriteString("\n")
}

// notes are what a reader of the figures has to know.
func (t *text) notes(s metrics.Summary) {
	note := func(cond bool, format string, a ...any) {
		if cond {
			t.linef("note: "+format, a...)
		}
	}
	missing := s.Requests.Planned - s.Requests.Sent
	note(missing > 0 && s.Health.Measured, "%d of %d requests were never sent: the run was ended early", missing, s.Requests.Planned)
	note(missing > 0 && !s.Health.Measured, "%d of %d requests have no record: they were in flight when the run was last seen, or not yet sent", missing, s.Requests.Planned)
	note(len(t.short) > 0, "* too few values for this percentile (%s)", wants(t.short))
	note(s.Steady.Why != "", "no steady state: %s", s.Steady.Why)
	note(s.Tokens.Assumed > 0, "the server did not count the output of %d requests: one token a chunk is assumed", s.Tokens.Assumed)
	note(s.Tokens.Tokenized > 0, "the server did not count the output of %d requests: it was counted here, from the text", s.Tokens.Tokenized)
	note(s.Tokens.OutputUnknown > 0, "nobody counted the output of %d requests: it is in no figure of tokens", s.Tokens.OutputUnknown)
	note(s.Tokens.InputUnknown > 0, "nobody counted the prompts of %d requests", s.Tokens.InputUnknown)
	note(s.Tokens.Short > 0, "%d answers are shorter than asked for", s.Tokens.Short)
	note(s.Tokens.Long > 0, "%d answers are longer than asked for: the server does not keep to its limit", s.Tokens.Long)
	note(s.Chunks.PerChunk > 1.005 && s.Run.Plan.Stream, "a chunk carries %.2f tokens on average: ITL is the gap between chunks, TPOT the time per token", s.Chunks.PerChunk)
	t.together(s, note)
	note(s.Response == nil, "a closed loop has no schedule, so there is no response time")
	for _, n := range s.Run.Notes {
		note(true, "%s", n)
	}
	if p := s.Run.Env.Profile; p != nil {
		note(p.Error == "illustrative", "the profile %s is illustrative: no server was measured for it", p.Name)
		note(p.Error != "illustrative", "the profile %s states its error as %s (pitot profiles check)", p.Name, p.Error)
	}
}

// together are the notes on chunks that came together.
func (t *text) together(s metrics.Summary, note func(cond bool, format string, a ...any)) {
	c := s.Chunks
	streamed := s.Run.Plan.Stream
	note(streamed && c.Merged > 0, "%d of %d chunks (%.2f %%) are merged: the client read them together with the one after them, so they have no instant of their own", c.Merged, c.Output, 100*c.MergedShare)
	note(t.bounded, "at least, at most: what the figures above them can be, whenever the merged chunks came")
	note(t.invalid, "! invalid: too many chunks are merged for these percentiles; the mean depends on the ends of answers alone")
	note(streamed && c.PerWrite > 1.005, "the server or the network puts %.2f chunks together on average: gaps of 0 are theirs, not the client's", c.PerWrite)
}

// wants says how large a sample percentiles want.
func wants(percentiles []metrics.Percentile) string {
	slices.SortFunc(percentiles, func(a, b metrics.Percentile) int { return cmp.Compare(a.P, b.P) })
	var parts []string
	verb := "wants "
	for _, p := range percentiles {
		parts = append(parts, fmt.Sprintf("P%g %s%d", p.P, verb, p.Wants()))
		verb = ""
	}
	return strings.Join(parts, ", ")
}

// ms is seconds in milliseconds, to four significant digits.
func ms(seconds float64) string { return sig(seconds * 1000) }

// sig is v to four significant digits, whole from 1000 on, and to no more than
// three decimals.
func sig(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 999.95:
		return fmt.Sprintf("%.0f", v)
	case a >= 99.995:
		return fmt.Sprintf("%.1f", v)
	case a >= 9.9995:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}
