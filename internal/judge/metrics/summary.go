package metrics

import (
	"cmp"
	"net/http"
	"runtime/debug"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Options of a summary; a nil Percentiles takes the run's, or the default.
type Options struct {
	Percentiles []float64 // in percent
	Objectives  []plan.Objective

	brief   bool // without what no figure is of: parts, stalls, figures of the steady state
	judged  bool // with what the verdict is of all the same: stalls
	settled bool // figures are those of the steady state
}

// Brief are the options of a summary of which only Figures are wanted.
func Brief() Options { return Options{brief: true} }

// DefaultPercentiles are reported unless others are asked for.
func DefaultPercentiles() []float64 { return []float64{90, 95, 99} }

// A Summary is a run in Pitot's figures.
type Summary struct {
	Run      trace.Run `json:"run"`
	Requests Requests  `json:"requests"`
	Duration float64   `json:"duration"` // from the start of the run to its last answer
	Tokens   Tokens    `json:"tokens"`
	Rates    Rates     `json:"rates"`
	Goodput  *Goodput  `json:"goodput,omitempty"` // nil without objectives of each request
	// Judgements are those on the objectives of the run.
	Judgements []Judgement `json:"objectives,omitempty"`
	// Cost is nil where no price was given.
	Cost *Cost `json:"cost,omitempty"`

	Service  Latencies  `json:"service"`            // from sent
	Response *Latencies `json:"response,omitempty"` // from due; nil where nothing was scheduled

	Wait  Distribution `json:"wait"`  // from due to released: the gate, or a late client
	Setup Distribution `json:"setup"` // of new connections: DNS, TCP, TLS

	Tenants []Part `json:"tenants,omitempty"` // or the parts of a mix
	Turns   []Part `json:"turns,omitempty"`   // of conversations

	Concurrency Concurrency   `json:"concurrency"`
	Chunks      Chunks        `json:"chunks"`
	Defects     *Defects      `json:"defects,omitempty"` // nil where no answer was inspected
	Graded      *Graded       `json:"graded,omitempty"`  // nil where no question was answered
	Buffering   Buffering     `json:"held"`
	Stalls      []Stall       `json:"stalls,omitempty"`
	Unstalled   *Unstalled    `json:"unstalled,omitempty"` // nil without stalls
	Standstills []Standstill  `json:"standstills,omitempty"`
	Steady      Steady        `json:"steady"`
	Health      Health        `json:"health"`
	Server      *ServerCounts `json:"server,omitempty"` // nil where it shows no counters
	Cache       *Cache        `json:"cache,omitempty"`  // nil where nothing was declared
	// Resources come from the samples of the run; nil: there are none.
	Resources *resources.Resources `json:"resources,omitempty"`
}

// Requests counts what became of the requests.
type Requests struct {
	Planned int `json:"planned"`
	Sent    int `json:"sent"` // released by the driver
	OK      int `json:"ok"`
	Failed  int `json:"failed"`
	// Missing were sent and have no record: it cannot be read, or they were in flight when a run without an end
	// was last seen.
	Missing int     `json:"missing,omitempty"`
	Classes []Class `json:"classes,omitempty"` // of the failures
	// Shed are the failures by which the server refused load: status 429, or 503 with Retry-After.
	// RetryAfter is its last value of that header.
	Shed       int    `json:"shed,omitempty"`
	RetryAfter string `json:"retry_after,omitempty"`
	// FirstFailed and LastFailed are when the first and the last failure ended, in
	// seconds since the start of the run; 0 without one.
	FirstFailed float64 `json:"first_failed,omitempty"`
	LastFailed  float64 `json:"last_failed,omitempty"`
}

// Unanswered reports whether requests failed, and all of them, other than by the end of the
// run.
func (q Requests) Unanswered() bool {
	return q.OK == 0 && slices.ContainsFunc(q.Classes, func(c Class) bool { return c.Class != trace.Cancelled })
}

// HarmlessFailures is the share of failures up to which means and rates of the requests that were
// answered are taken for those of all: it moves a mean by a percent or less.
const HarmlessFailures = 0.002

// Lost counts requests that failed with the loss of their machine.
func (q Requests) Lost() (n int) {
	for _, c := range q.Classes {
		if c.Class == trace.WorkerLost {
			n += c.Count
		}
	}
	return n
}

// A Class is one way in which requests failed.
type Class struct {
	Class   trace.Class `json:"class"`
	Status  int         `json:"status,omitempty"` // of class http
	Count   int         `json:"count"`
	Example string      `json:"example,omitempty"` // the words of the first of them
}

// Tokens counts the tokens of the requests that succeeded.
type Tokens struct {
	// Inputs are the texts that were embedded or scored, Audio the seconds of sound
	// that were transcribed.
	Inputs int     `json:"inputs,omitempty"`
	Audio  float64 `json:"audio_s,omitempty"`
	Input  int     `json:"input"`  // the server's count, else the workload's
	Output int     `json:"output"` // the server's count, else ours
	// Tokenized and Assumed are the requests with output that was counted here, from the text or as
	// one token per chunk.
	Tokenized int `json:"tokenized,omitempty"`
	Assumed   int `json:"assumed,omitempty"`
	// InputUnknown and OutputUnknown are the requests with an uncounted prompt or answer.
	InputUnknown  int `json:"input_unknown,omitempty"`
	OutputUnknown int `json:"output_unknown,omitempty"`
	// Refused are the requests with impossible counts by the server, which are in no figure; Lost
	// are those of them with answers that were not counted here either.
	Refused int `json:"refused,omitempty"`
	Lost    int `json:"lost,omitempty"`
	// Hidden are the tokens of Output that were never streamed, HiddenIn the answers that have
	// such.
	Hidden   int `json:"hidden,omitempty"`
	HiddenIn int `json:"hidden_in,omitempty"`
	// Unread are the answers with a member that Pitot does not know, such as UnreadName, in
	// which tokens came; Unseen those with more tokens than their text can hold.
	Unread     int    `json:"unread,omitempty"`
	UnreadName string `json:"unread_name,omitempty"`
	Unseen     int    `json:"unseen,omitempty"`
	// Choices is the most answers that one request got, 0 for one.
	Choices int `json:"choices,omitempty"`
	// Short and Long are the requests that ended with fewer output tokens than
	// asked for, and by the server's own count with more.
	Short int `json:"short,omitempty"`
	Long  int `json:"long,omitempty"`
	// Beyond are the answers of Long that no mark of an end explains: a limit that was not read.
	Beyond int `json:"beyond,omitempty"`
	// Fixed is the number of output tokens that every answer has, though each was asked to
	// have another and did not end by itself: a limit that was not read. 0 of others.
	Fixed int `json:"fixed,omitempty"`
	// Prompts are those that the server counts otherwise than the workload; nil where it
	// counts the same, or nearly.
	Prompts *PromptCount `json:"prompts,omitempty"`
}

// A PromptCount is what two count in the same prompts.
type PromptCount struct {
	Requests int     `json:"requests"`
	Asked    float64 `json:"asked"`   // tokens by the workload, mean
	Counted  float64 `json:"counted"` // by the server, mean
}

// Rates are per second of the run, over the requests that succeeded.
type Rates struct {
	Requests float64 `json:"requests"`
	Input    float64 `json:"input"`
	Output   float64 `json:"output"`
	Inputs   float64 `json:"inputs,omitempty"` // texts
	Audio    float64 `json:"audio,omitempty"`  // seconds of sound: how many times faster than it is heard
	// Offered is the rate at which the schedule wanted requests, 0 without one;
	// Released the rate at which they left.
	Offered  float64 `json:"offered,omitempty"`
	Released float64 `json:"released,omitempty"`
	// AtLeast means that answers are missing: all of these are lower bounds, and so is the concurrency.
	AtLeast bool `json:"at_least,omitempty"`
}

// Goodput counts the requests that met every objective.
type Goodput struct {
	Objectives []plan.Objective `json:"objectives"`
	Met        int              `json:"met"`
	Share      float64          `json:"share"` // of all requests sent, failures included
	Rate       float64          `json:"rate"`  // per second
	// Unsettled says why the share is not that of the rate at which requests were sent.
	Unsettled plan.Message `json:"unsettled,omitzero"`
}

// Chunks tells streamed chunks from tokens.
type Chunks struct {
	Output   int     `json:"output"`    // chunks that carry output
	PerChunk float64 `json:"per_chunk"` // streamed tokens a chunk
	// Merged are the output chunks without an instant of their own since the client
	// was late, one less than there were in each such read.
	Merged      int     `json:"merged"`
	MergedShare float64 `json:"merged_share"`
	// Bundled are those that the server or the network had put behind another: the
	// client was waiting.
	Bundled  int     `json:"bundled"`
	PerWrite float64 `json:"per_write"` // output chunks that came at once, as far as known
}

// Summarize turns a trace into Pitot's figures.
func Summarize(t *trace.Trace, o Options) Summary {
	s, _ := SummarizeRecords(t, InMemory(t.Records), o) // reading a list has no errors
	return s
}

// SummarizeRecords is Summarize with records that are read some at a time in place of those of t. It holds some fifty
// bytes of each. Errors are those of reading.
func SummarizeRecords(t *trace.Trace, records Records, o Options) (Summary, error) {
	s, _, err := summarize(t, records, o)
	return s, err
}

// manyHeads is from how many requests on the lists of values that are made of them, one after the other, would take twice
// the memory if they were collected at leisure.
const manyHeads = 1 << 20

func summarize(t *trace.Trace, records Records, o Options) (Summary, *observed, error) {
	o = o.withDefaults(t.Run.Plan)
	x, err := observe(t, records, o, true, !o.brief || o.judged)
	if err != nil {
		return Summary{}, nil, err
	}
	if x.heads.n > manyHeads {
		defer debug.SetGCPercent(debug.SetGCPercent(25))
	}
	s := x.counted()
	w := x.window()
	s.Steady, s.Standstills = w.Steady, w.still
	if err = x.figures(&s, &w, o); err != nil {
		return s, nil, err
	}
	s.Rates = x.rates(s)
	if len(x.objectives) > 0 {
		s.Goodput = newGoodput(x.objectives, x.met, s.Requests.Sent, s.Duration)
		if paced(t.Run.Plan) {
			s.Goodput.Unsettled = x.unsettled(w.Why)
		}
	}
	s.Wait, s.Setup = x.waits(o.Percentiles)
	s.Server = x.server()
	s.Cache = x.cacheState(s.Server)
	s.Resources = resourcesOf(t, x.duration(), s)
	if s.Health = x.health(s); s.Health.HeldBack {
		s.void()
		if err = x.bursts(&s); err != nil {
			return s, nil, err
		}
	}
	s.Judgements = x.judgements(plan.OfRun(o.Objectives), &s)
	if o.settled {
		x.settle(&s, w)
	}
	x.flown = nil
	return s, x, nil
}

// withDefaults takes from a plan what is not given.
func (o Options) withDefaults(p trace.Load) Options {
	if o.Percentiles == nil {
		o.Percentiles = p.Percentiles
	}
	if o.Percentiles == nil {
		o.Percentiles = DefaultPercentiles()
	}
	if o.Objectives == nil {
		o.Objectives = p.Objectives
	}
	o.Percentiles = withObjectives(o.Percentiles, o.Objectives)
	return o
}

// counted is the summary as far as the counts of a pass make it.
func (x *observed) counted() Summary {
	return Summary{
		Run:         *x.run,
		Requests:    x.requests.requests(max(x.run.Plan.Requests, x.heads.n), x.gap.requests),
		Duration:    x.duration().Seconds(),
		Tokens:      x.tokens.tokens(),
		Chunks:      x.chunks.chunks(),
		Buffering:   x.buffering.buffering(),
		Concurrency: x.flight().concurrency(),
		Defects:     x.defects.of(x.run.Plan),
		Graded:      x.graded.of(),
	}
}

// figures are the latencies, and what else takes further passes: those without the requests of stalls, of the parts of
// the run, of the steady state.
func (x *observed) figures(s *Summary, w *window, o Options) error {
	all, stream := func(*head) bool { return true }, x.run.Plan.Stream
	var passes []pass
	var response, steady *gapSample
	var out *flowCount
	var parts []*part
	if x.gaps != nil && len(x.gaps.reading) > 0 {
		passes = append(passes, x.gaps)
	}
	if stream && x.scheduled() && x.mixed { // the response times are not those of the same requests
		response = newGapSample(o.Percentiles, func(r *trace.Record) bool { return r.OK() && r.Due.Happened() })
		passes = append(passes, response)
	}
	if w.Found() && (!o.brief || o.settled) {
		out = &flowCount{from: w.from, to: w.to}
		passes = append(passes, out)
		if stream {
			steady = newGapSample(o.Percentiles, func(r *trace.Record) bool { return Owns(r) && r.Released >= w.from })
			passes = append(passes, steady)
		}
	}
	if !o.brief {
		parts = x.partsOf(o.Percentiles)
		passes = append(passes, x.gapsOfParts(parts[:min(len(parts), partsAtOnce)])...)
	}
	if err := x.records.read(passes...); err != nil {
		return err
	}
	s.Service = x.latencies(all, sent, x.gaps, nil, o.Percentiles)
	if x.scheduled() {
		known := &s.Service
		if x.mixed {
			known = nil
		}
		l := x.latencies(all, due, response, known, o.Percentiles)
		s.Response = &l
	}
	if out != nil {
		x.steady(s, w, steady, out, o.Percentiles)
	}
	if !o.brief || o.judged {
		if err := x.unstalled(s, w, o.Percentiles); err != nil {
			return err
		}
	}
	return x.summarizeParts(s, parts, o.Percentiles)
}

// withObjectives are percentiles, and those of objectives of the run.
func withObjectives(percentiles []float64, objectives []plan.Objective) []float64 {
	all := slices.Clone(percentiles)
	for _, o := range objectives {
		if p := ObjectiveOf(o).P; p > 0 && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	if len(all) > len(percentiles) {
		slices.Sort(all)
	}
	return all
}

// HealthOf is the Health of a run's Summary alone.
func HealthOf(t *trace.Trace) Health { return Summarize(t, Options{brief: true, judged: true}).Health }

// Duration is the end of the run; of one that was killed, its last answer.
func Duration(t *trace.Trace) trace.Instant {
	x := observed{run: &t.Run}
	for _, r := range t.Records {
		x.last = max(x.last, r.Done)
	}
	return x.duration()
}

// A requestCount counts what became of requests.
type requestCount struct {
	Requests
	at     map[way]int
	failed extent
}

// A way is one of failing; status is that of class http.
type way struct {
	class  trace.Class
	status int
}

func (c *requestCount) add(r *trace.Record) {
	if c.Sent++; r.OK() {
		c.OK++
		return
	}
	c.Failed++
	c.failed.add(r.Done)
	if r.Class == trace.HTTP && (r.Status == http.StatusTooManyRequests || r.Quirks.RetryAfter != "") {
		c.Shed, c.RetryAfter = c.Shed+1, cmp.Or(r.Quirks.RetryAfter, c.RetryAfter)
	}
	w := way{class: r.Class}
	if r.Class == trace.HTTP {
		w.status = r.Status
	}
	i, ok := c.at[w]
	if !ok {
		if c.at == nil {
			c.at = map[way]int{}
		}
		i = len(c.Classes)
		c.at[w] = i
		c.Classes = append(c.Classes, Class{Class: r.Class, Status: w.status, Example: r.Error})
	}
	c.Classes[i].Count++
}

func (c *requestCount) requests(planned, missing int) Requests {
	all := c.Requests
	all.Planned, all.Missing = planned, missing
	slices.SortStableFunc(all.Classes, func(a, b Class) int { return b.Count - a.Count })
	if c.failed.n > 0 {
		all.FirstFailed, all.LastFailed = c.failed.first.Seconds(), c.failed.last.Seconds()
	}
	return all
}

// A chunkCount counts the chunks of requests that succeeded, and the tokens in them.
type chunkCount struct {
	all    Chunks
	tokens int
}

func (n *chunkCount) add(r *trace.Record, c Chunks) {
	if r.OK() {
		n.tokens += r.Streamed()
		n.all.join(c)
	}
}

func (n *chunkCount) chunks() Chunks {
	c := n.all
	c.PerChunk = over(n.tokens, float64(c.Output))
	c.PerWrite = over(c.Output, float64(c.Output-c.Bundled))
	return c
}

// chunksOf counts those of a record.
func chunksOf(r *trace.Record) (c Chunks) {
	prev := trace.Never
	for _, chunk := range r.Chunks {
		if !chunk.Kind.Output() {
			continue
		}
		c.Output++
		merged := chunk.Kind&trace.Coalesced != 0 && chunk.At == prev // with output, not with a role
		switch {
		case r.Merged(chunk) && (merged || chunk.Slack > 0):
			c.Merged++
		case merged && chunk.Kind&trace.Bundled != 0:
			c.Bundled++
		}
		prev = chunk.At
	}
	return c
}

// join adds the chunks of a record.
func (c *Chunks) join(o Chunks) {
	c.Output, c.Merged, c.Bundled = c.Output+o.Output, c.Merged+o.Merged, c.Bundled+o.Bundled
	c.MergedShare = over(c.Merged, float64(c.Output))
}

func (x *observed) rates(s Summary) Rates {
	r := Rates{
		Requests: over(s.Requests.OK, s.Duration), Input: over(s.Tokens.Input, s.Duration), Output: over(s.Tokens.Output, s.Duration),
		Inputs: over(s.Tokens.Inputs, s.Duration), Audio: over(s.Tokens.Audio, s.Duration), AtLeast: x.gap.answers,
	}
	if s.Response != nil {
		r.Offered, r.Released = x.due.pace(), x.released.pace()
	}
	return r
}

// values are those that some of the heads have.
func (a *heads) values(of func(*head) (v float64, ok bool)) []float64 {
	var out []float64
	for h := range a.all {
		v, ok := of(h)
		switch {
		case !ok:
		case out == nil:
			out = append(make([]float64, 0, a.n), v)
		default:
			out = append(out, v)
		}
	}
	return out
}

func (x *observed) waits(percentiles []float64) (wait, setup Distribution) {
	w := x.heads.values(func(h *head) (float64, bool) { return Between(h.due, h.released), h.released.Happened() })
	c := x.heads.values(func(h *head) (float64, bool) { return h.setup.Seconds(), h.connected })
	return Distribute(w, percentiles), Distribute(c, percentiles)
}

// newGoodput is that of requests of which some met all objectives, by service times.
func newGoodput(objectives []plan.Objective, met, of int, seconds float64) *Goodput {
	return &Goodput{Objectives: objectives, Met: met, Share: over(met, float64(of)), Rate: over(met, seconds)}
}

// meets is inclusive. A request without a figure, such as the TPOT of a single
// token, meets the objective on it; one without any output has no TTFT to meet.
func (h *head) meets(objectives []plan.Objective) bool {
	for _, o := range objectives {
		var v float64
		switch figure.Metric(o.Metric) {
		case figure.TTFT:
			if h.output == 0 {
				return false
			}
			v = Between(h.sent, h.first)
		case figure.TPOT:
			v, _ = h.tpot(h.first, h.last)
		case figure.ITL:
			if h.output > 1 {
				v = Between(h.first, h.last) / float64(h.output-1)
			}
		case figure.E2EL:
			v = Between(h.sent, h.done)
		}
		if v > o.Limit.Std().Seconds() {
			return false
		}
	}
	return true
}
