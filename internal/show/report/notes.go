package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// failures are listed by class, most frequent first, in the words of the first of each.
func (r *report) failures(q metrics.Requests) doc.List {
	if q.Failed == 0 {
		return nil
	}
	l := doc.List{r.Word("report.failures", "failed", q.Failed, "sent", q.Sent)}
	for _, c := range q.Classes {
		name := string(c.Class)
		if c.Status != 0 {
			name = fmt.Sprintf("%s %d", name, c.Status)
		}
		l = append(l, fmt.Sprintf("%7d  %-13s %s", c.Count, name, r.Word(c.Class.Code())))
		if c.Example != "" {
			l = append(l, strings.Repeat(" ", 23)+doc.Cut(doc.Clean(c.Example), 100))
		}
	}
	if q.LastFailed > 0 {
		code, ended := plan.Code("report.failed-when"), q.Failed-q.Lost()
		if ended < q.Failed { // when nobody knows
			code = "report.others-failed-when"
		}
		l = append(l, strings.Repeat(" ", 9)+r.Word(code, "failed", ended, "from", q.FirstFailed, "to", q.LastFailed))
	}
	return l
}

// notes are what a reader of the figures has to know. Without any a blank line ends the report.
func (r *report) notes(s metrics.Summary) doc.List {
	l := doc.List{""}
	for _, m := range r.footnotes(s) {
		l = append(l, r.Word("report.note", "note", m))
	}
	return l
}

func (r *report) footnotes(s metrics.Summary) []plan.Message {
	missing, measured := s.Requests.Planned-s.Requests.Sent, s.Health.Measured
	ended := measured && s.Run.Status != trace.Complete
	r.noteIf(missing > 0 && ended, "report.never-sent", "requests", missing, "planned", s.Requests.Planned)
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
	return r.noted
}

// lengths are the notes on prompts and answers that are longer or shorter than asked for.
func (r *report) lengths(s metrics.Summary) {
	t := s.Tokens
	if p := t.Prompts; p != nil {
		r.noteIf(true, "report.prompts-counted", "counted", p.Counted, "asked", p.Asked)
	}
	r.noteIf(t.Hidden > 0, "report.tokens-hidden",
		"tokens", t.Hidden, "answers", t.HiddenIn, "all", t.Output, "stream", s.Run.Plan.Stream)
	r.noteIf(t.Choices > 1 && s.Run.Plan.Stream, "report.choices", "choices", t.Choices)
	r.noteIf(t.Short > 0, "report.answers-short", "answers", t.Short)
	r.noteIf(t.Long > 0, "report.answers-long", "answers", t.Long)
	unread := s.Run.Plan.Protocol == "chat" && (t.Fixed > 0 || 2*t.Beyond > s.Requests.OK)
	r.noteIf(unread, "report.limit-unread", "tokens", t.Fixed, "body", `'{"max_tokens": N}'`)
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
	r.noteIf(streamed && c.Merged > 0, "report.chunks-merged",
		"merged", c.Merged, "chunks", c.Output, "share", c.MergedShare)
	r.noteIf(r.bounded, "report.bounded")
	r.noteIf(r.invalid, "report.invalid")
	r.noteIf(r.void, "report.void")
	r.noteIf(streamed && c.PerWrite > 1.005, "report.chunks-bundled", "chunks", c.PerWrite)
}

func (r *report) noteIf(cond bool, code plan.Code, args ...any) {
	if cond {
		r.note(plan.Msg(code, args...))
	}
}

func (r *report) note(m plan.Message) { r.noted = append(r.noted, m) }

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

// machine is what devices did and drew meanwhile, as far as that was sampled.
func (r *report) machine(s metrics.Summary) {
	used := s.Resources
	if used == nil {
		return
	}
	r.field(r.Word("report.device"), r.devices(used.Devices)...)
	if e := used.Energy; e != nil && e.Method != resources.Unknown {
		r.field(r.Word("report.energy"), r.energy(*e, s.Tokens.Output)...)
	}
}

// fullClock is the least share of the rated clock that is not below it.
const fullClock = 0.99

// troubles are the notes on sources of telemetry.
func (r *report) troubles(s metrics.Summary) {
	if s.Resources == nil {
		return
	}
	if d := s.Resources.Devices; d != nil {
		if d.BusyClock != nil {
			r.noteIf(*d.BusyClock < fullClock, "report.busy-clock", "share", *d.BusyClock)
		}
		for _, u := range d.Unhealthy {
			r.noteIf(!telemetry.SeriousHealth(u.State), "report.unhealthy", "device", u.Device, "state", u.State)
		}
	}
	for _, t := range s.Resources.Troubles {
		r.noteIf(true, "report.source-trouble", "source", t.Source, "what", t.What)
	}
}

// serverLoad is what the server reported of its load.
func (r *report) serverLoad(s resources.ServerLoad) (parts []string) {
	if s.KVUseMax != nil {
		parts = append(parts, r.Word("report.kv-use", "share", *s.KVUseMax))
	}
	if s.WaitingMax != nil && *s.WaitingMax > 0 {
		parts = append(parts, r.Word("report.waiting-most", "requests", *s.WaitingMax))
	}
	return parts
}

func (r *report) devices(d *resources.Devices) (parts []string) {
	if d == nil {
		return nil
	}
	parts = append(parts, r.Word("report.devices", "devices", d.Count))
	if d.Utilization != nil {
		parts = append(parts, r.Word("report.busy", "share", *d.Utilization))
	}
	if d.Power != nil {
		parts = append(parts, r.Word("report.power", "power", *d.Power))
	}
	if d.Temperature != nil {
		parts = append(parts, r.Word("report.hottest", "temperature", *d.Temperature))
	}
	if d.MemoryUse != nil {
		parts = append(parts, r.Word("report.memory", "used", *d.MemoryUsed/(1<<30), "share", *d.MemoryUse))
	}
	return append(parts, r.throttled(d.Throttled)...)
}

// throttled are the device that was held down longest for a serious reason, and the longest time at
// a power limit, where full load is all the time.
func (r *report) throttled(all []resources.Throttled) []string {
	serious, limited := "", ""
	for _, held := range all { // the longest first
		switch grave := telemetry.SeriousThrottling(held.Reason); {
		case grave && serious == "":
			serious = r.Word("report.throttled", "device", held.Device, "time", held.Seconds, "reason", held.Reason)
		case !grave && limited == "":
			limited = r.Word("report.power-limited", "time", held.Seconds)
		}
	}
	return []string{serious, limited}
}

func (r *report) energy(e resources.Energy, tokens int) []string {
	how := plan.Msg(plan.Code("energy-method."+string(e.Method)), "missing", 1-e.Covered)
	if !e.Method.Known() {
		return []string{r.Word("report.energy-none", "why", how)}
	}
	net, known := e.Net()
	return []string{
		r.Word("report.energy-all", "energy", e.Joules/1000, "window", e.Window, "how", how),
		r.wordIf(e.Dies != "", plan.Code("energy-dies."+string(cmp.Or(e.Dies, resources.OfCard)))),
		r.wordIf(e.PerToken > 0, "report.energy-token", "energy", e.PerToken),
		r.wordIf(known && tokens > 0, "report.energy-net", "energy", net/float64(tokens)),
		r.wordIf(e.PerRequest > 0, "report.energy-request", "energy", e.PerRequest),
	}
}
