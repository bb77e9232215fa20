package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
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
	missing, measured := s.Requests.Planned-s.Requests.Sent-s.Requests.Missing, s.Health.Measured
	ended := measured && s.Run.Status != trace.Complete
	r.noteIf(missing > 0 && ended, "report.never-sent", "requests", missing, "planned", s.Requests.Planned)
	r.noteIf(missing > 0 && !measured, "report.no-record", "requests", missing, "planned", s.Requests.Planned)
	r.noteIf(len(r.short) > 0, "report.few-values", "wanted", r.wanted())
	r.noteIf(!s.Steady.Why.IsZero(), "report.not-steady", "why", s.Steady.Why)
	r.noteIf(!s.Steady.NoIntervals.IsZero(), "report.no-interval", "why", s.Steady.NoIntervals)
	if g := s.Goodput; g != nil {
		r.noteIf(!g.Unsettled.IsZero() && g.Unsettled.Code != s.Steady.Why.Code, "report.slo-open", "why", g.Unsettled)
	}
	if d := s.Defects; d != nil {
		r.noteIf(d.Defective > 0 && !d.Expected, "report.defects", "defective", d.Defective, "answers", d.Inspected, "kinds", d.Kinds())
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
	if used.Devices != nil {
		r.deviceRows(used.Devices, s.Run.Env.Serving)
	}
	if e := used.Energy; e != nil && e.Method != resources.Unknown && e.Method != resources.Short {
		r.field(r.Word("report.energy"), r.energy(*e, s.Tokens.Output)...)
	}
}

// fullClock is the least share of the rated clock that is not below it.
const fullClock = 0.99

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

func (r *report) serverLoad(s resources.ServerLoad) (parts []string) {
	if s.KVUseMax != nil {
		parts = append(parts, r.Word("report.kv-use", "share", *s.KVUseMax))
	}
	if s.WaitingMax != nil && *s.WaitingMax > 0 {
		parts = append(parts, r.Word("report.waiting-most", "requests", *s.WaitingMax))
	}
	return parts
}

// deviceRows are a row on devices and, where one was at its power limit, one on that.
func (r *report) deviceRows(d *resources.Devices, serving *environment.Environment) {
	r.field(r.Word("report.device"), r.devices(d, serving)...)
	if capped := r.capped(d.Capped); capped != "" {
		r.field("", capped)
	}
}

// devices are what is known of them beside their number; nothing if nothing is.
func (r *report) devices(d *resources.Devices, serving *environment.Environment) (parts []string) {
	if d.Utilization != nil {
		parts = append(parts, r.Word("report.busy", "share", *d.Utilization))
	}
	if d.Power != nil {
		parts = append(parts, r.Word("report.power", "power", *d.Power))
	}
	parts = append(parts, r.clock(d))
	if d.Temperature != nil {
		parts = append(parts, r.Word("report.hottest", "temperature", *d.Temperature))
	}
	if d.MemoryUse != nil {
		parts = append(parts, r.Word("report.memory", "used", *d.MemoryUsed/(1<<30), "share", *d.MemoryUse))
	}
	parts = append(parts, r.throttled(d.Throttled))
	if doc.Join("", parts...) == "" {
		return nil
	}
	return append([]string{r.Word("report.devices", "devices", d.Count), product(serving)}, parts...)
}

// product is the name of the devices of a machine that has one kind of them.
func product(e *environment.Environment) string {
	if e == nil || len(e.Devices) == 0 {
		return ""
	}
	name := e.Devices[0].Product
	if slices.ContainsFunc(e.Devices, func(d environment.Device) bool { return d.Product != name }) {
		return ""
	}
	return plain.Line(name)
}

// clock is the mean clock of devices, beside the highest that they could have, and the lowest. That of an NPU is
// known only now and then.
func (r *report) clock(d *resources.Devices) string {
	if d.Clock == nil || d.ClockMin == nil || d.BusyClock != nil {
		return ""
	}
	low := r.wordIf(math.Round(*d.ClockMin/1e6) < math.Round(*d.Clock/1e6), "report.clock-low", "low", *d.ClockMin/1e6)
	if d.ClockLimit == nil || math.Round(*d.Clock/1e6) >= math.Round(*d.ClockLimit/1e6) {
		return doc.Join(", ", r.Word("report.clock", "clock", *d.Clock/1e6), low)
	}
	of := r.Word("report.clock-of", "clock", *d.Clock/1e6, "limit", *d.ClockLimit/1e6, "drop", 1 - *d.Clock / *d.ClockLimit)
	return doc.Join(", ", of, low)
}

// throttled is the device that was held down longest for a serious reason.
func (r *report) throttled(all []resources.Throttled) string {
	for _, held := range all { // the longest first
		if telemetry.SeriousThrottling(held.Reason) {
			return r.Word("report.throttled", "device", held.Device, "time", held.Seconds, "reason", held.Reason)
		}
	}
	return ""
}

// capped is how long a device was at its power limit, beside what it drew.
func (r *report) capped(c *resources.Capped) string {
	switch {
	case c == nil:
		return ""
	case c.Limit == nil || c.Power == nil || c.Peak == nil:
		return r.Word("report.power-limited", "time", c.Seconds)
	}
	return r.Word("report.power-capped", "time", c.Seconds, "limit", *c.Limit, "power", *c.Power, "peak", *c.Peak)
}

func (r *report) energy(e resources.Energy, tokens int) []string {
	how := plan.Msg(plan.Code("energy-method."+string(e.Method)), "missing", 1-e.Covered)
	if !e.Method.Known() {
		return []string{r.Word("report.energy-none", "why", how)}
	}
	all := r.Word("report.energy-all", "energy", e.Joules/1000, "window", e.Window, "how", how)
	if e.Error != nil {
		all = r.Word("report.energy-within", "energy", e.Joules/1000, "error", *e.Error, "window", e.Window, "how", how)
	}
	net, known := e.Net()
	return []string{
		all,
		r.wordIf(e.Loaded, "report.energy-loaded"),
		r.wordIf(e.Dies != "", plan.Code("energy-dies."+string(cmp.Or(e.Dies, resources.OfCard)))),
		r.wordIf(e.PerToken > 0, "report.energy-token", "energy", e.PerToken),
		r.wordIf(known && tokens > 0, "report.energy-net", "energy", net/float64(tokens)),
		r.wordIf(e.PerRequest > 0, "report.energy-request", "energy", e.PerRequest),
	}
}
