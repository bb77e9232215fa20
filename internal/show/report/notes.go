package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// failures are listed by class, most frequent first, in the words of the first
// of each.
func (r *report) failures(q metrics.Requests) {
	if q.Failed == 0 {
		return
	}
	r.Line(r.Word("report.failures", "failed", q.Failed, "sent", q.Sent))
	for _, c := range q.Classes {
		name := string(c.Class)
		if c.Status != 0 {
			name = fmt.Sprintf("%s %d", name, c.Status)
		}
		r.Line(doc.PadLeft(fmt.Sprint(c.Count), 7), "  ", doc.PadRight(name, 13), " ", r.Word(c.Class.Code()))
		if c.Example != "" {
			r.Line(strings.Repeat(" ", 23), doc.Cut(doc.Clean(c.Example), 100))
		}
	}
	if q.LastFailed > 0 {
		code, ended := plan.Code("report.failed-when"), q.Failed-q.Lost()
		if ended < q.Failed { // when nobody knows
			code = "report.others-failed-when"
		}
		r.Line(strings.Repeat(" ", 9), r.Word(code, "failed", ended, "from", q.FirstFailed, "to", q.LastFailed))
	}
	r.Line()
}

// notes are what a reader of the figures has to know.
func (r *report) notes(s metrics.Summary) {
	missing, measured := s.Requests.Planned-s.Requests.Sent, s.Health.Measured
	r.noteIf(missing > 0 && measured && s.Run.Status != trace.Complete, "report.never-sent", "requests", missing, "planned", s.Requests.Planned)
	r.noteIf(missing > 0 && !measured, "report.no-record", "requests", missing, "planned", s.Requests.Planned)
	r.noteIf(len(r.short) > 0, "report.few-values", "wanted", r.wanted())
	r.noteIf(!s.Steady.Why.IsZero(), "report.not-steady", "why", s.Steady.Why)
	if g := s.Goodput; g != nil {
		r.noteIf(!g.Unsettled.IsZero() && g.Unsettled.Code != s.Steady.Why.Code, "report.slo-open", "why", g.Unsettled)
	}
	t := s.Tokens
	r.noteIf(t.Refused > 0, "report.usage-refused", "requests", t.Refused)
	r.noteIf(t.Assumed > 0, "report.output-assumed", "requests", t.Assumed)
	r.noteIf(t.Tokenized > 0, "report.output-tokenized", "requests", t.Tokenized)
	r.noteIf(t.OutputUnknown > 0, "report.output-unknown", "requests", t.OutputUnknown)
	r.noteIf(t.InputUnknown > 0, "report.input-unknown", "requests", t.InputUnknown)
	r.lengths(s)
	if q := s.Requests; q.Shed > 0 {
		r.noteIf(true, "report.shed", "requests", q.Shed, "share", float64(q.Shed)/float64(q.Sent), "after", q.RetryAfter)
	}
	for _, stall := range s.StallNotes() {
		r.note(stall)
	}
	if n := s.CacheNote(); !n.IsZero() {
		r.note(n)
	}
	r.chunks(s)
	r.noteIf(s.Response == nil, "report.no-schedule")
	for _, n := range slices.Concat(s.Run.Notes, metrics.FleetNotes(s.Run)) {
		r.note(n)
	}
	r.troubles(s)
	if p := s.Run.Env.Profile; p != nil {
		illustrative := p.Error.Code == trace.Illustrative
		r.noteIf(illustrative, "report.illustrative", "profile", p.Name)
		r.noteIf(!illustrative, "report.profile-error", "profile", p.Name, "error", p.Error)
	}
}

// lengths are the notes on prompts and answers that are longer or shorter than asked for.
func (r *report) lengths(s metrics.Summary) {
	t := s.Tokens
	if p := t.Prompts; p != nil {
		r.noteIf(true, "report.prompts-counted", "counted", p.Counted, "asked", p.Asked)
	}
	r.noteIf(t.Hidden > 0, "report.tokens-hidden", "tokens", t.Hidden, "answers", t.HiddenIn, "all", t.Output, "stream", s.Run.Plan.Stream)
	r.noteIf(t.Choices > 1 && s.Run.Plan.Stream, "report.choices", "choices", t.Choices)
	r.noteIf(t.Short > 0, "report.answers-short", "answers", t.Short)
	r.noteIf(t.Long > 0, "report.answers-long", "answers", t.Long)
	unread := t.Fixed > 0 || 2*t.Beyond > s.Requests.OK
	r.noteIf(unread && s.Run.Plan.Protocol == "chat", "report.limit-unread", "tokens", t.Fixed, "body", `'{"max_tokens": N}'`)
}

// wanted says how large a sample percentiles with an asterisk want.
func (r *report) wanted() string {
	slices.SortFunc(r.short, func(a, b metrics.Percentile) int { return cmp.Compare(a.P, b.P) })
	parts := make([]string, len(r.short))
	for i, p := range r.short {
		parts[i] = fmt.Sprintf("P%g %d", p.P, p.Wants())
	}
	return strings.Join(parts, ", ")
}

// chunks are the notes on chunks of several tokens, and on such that came together.
func (r *report) chunks(s metrics.Summary) {
	c, streamed := s.Chunks, s.Run.Plan.Stream
	r.noteIf(streamed && c.PerChunk > 1.005, "report.chunk-tokens", "tokens", c.PerChunk)
	r.noteIf(streamed && c.Merged > 0, "report.chunks-merged", "merged", c.Merged, "chunks", c.Output, "share", c.MergedShare)
	r.noteIf(r.bounded, "report.bounded")
	r.noteIf(r.invalid, "report.invalid")
	r.noteIf(r.void, "report.void")
	r.noteIf(streamed && c.PerWrite > 1.005, "report.chunks-bundled", "chunks", c.PerWrite)
}

func (r *report) noteIf(cond bool, code plan.Code, args ...any) {
	if cond {
		r.note(plan.Say(code, args...))
	}
}

func (r *report) note(m plan.Message) { r.Line(r.Word("report.note", "note", m)) }

// mark is an asterisk for a percentile that its sample cannot carry, else a blank.
func (r *report) mark(p metrics.Percentile) string {
	if !p.Short {
		return " "
	}
	if !slices.ContainsFunc(r.short, func(q metrics.Percentile) bool { return q.P == p.P }) {
		r.short = append(r.short, p)
	}
	return "*"
}
