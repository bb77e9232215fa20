package metrics

import (
	"cmp"
	"net/http"
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
	Planned int     `json:"planned"`
	Sent    int     `json:"sent"` // released by the driver
	OK      int     `json:"ok"`
	Failed  int     `json:"failed"`
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
	if o.Percentiles == nil {
		o.Percentiles = t.Run.Plan.Percentiles
	}
	if o.Percentiles == nil {
		o.Percentiles = DefaultPercentiles()
	}
	if o.Objectives == nil {
		o.Objectives = t.Run.Plan.Objectives
	}
	o.Percentiles = withObjectives(o.Percentiles, o.Objectives)
	records := InOrder(t.Records)
	s := Summary{
		Run:         t.Run,
		Requests:    countRequests(t.Run.Plan.Requests, records),
		Duration:    Duration(t).Seconds(),
		Tokens:      countTokens(records),
		Chunks:      countChunks(records),
		Buffering:   countBuffered(records),
		Concurrency: CountConcurrency(records),
	}
	stream := t.Run.Plan.Stream
	s.Service = latencies(records, stream, o.Percentiles, sent, nil)
	if scheduled(t.Run.Plan, records) {
		known := &s.Service
		if slices.ContainsFunc(records, func(r *trace.Record) bool { return r.OK() && r.Sent.Happened() != r.Due.Happened() }) {
			known = nil // not of the same requests
		}
		response := latencies(records, stream, o.Percentiles, due, known)
		s.Response = &response
	}
	w := windowOf(t, records)
	s.Steady, s.Standstills = w.Steady, w.still
	if !o.brief || o.judged {
		if stream {
			found, streams := stallsOf(records)
			s.Stalls = found.Stalls(streams, s.Service.ITL.Median)
		}
		s.Unstalled = unstalled(records, w.outages(s.Stalls), s.Duration, stream, o.Percentiles)
	}
	if !o.brief {
		s.Tenants, s.Turns = tenants(records, s, o.Percentiles), turns(records, s, o.Percentiles)
	}
	if !o.brief || o.settled {
		s.Steady = w.figures(t, records, o.Percentiles)
	}
	s.Rates = rates(s, records)
	if s.Goodput = goodput(records, o.Objectives, s.Duration); s.Goodput != nil && paced(t.Run.Plan) {
		s.Goodput.Unsettled = unsettled(records, w.Why)
	}
	s.Wait, s.Setup = waits(records, o.Percentiles)
	s.Server = server(&t.Run, records)
	s.Cache = cacheState(&t.Run, records, s.Server)
	s.Resources = resourcesOf(t, s)
	if s.Health = health(t, records, s); s.Health.HeldBack {
		s.void()
		found, streams := stallsOf(records)
		s.Stalls, s.Unstalled = found.Bursts(streams), nil
	}
	s.Judgements = judgements(t, o.Objectives, &s)
	if o.settled {
		s.settle(w)
	}
	return s
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
	if t.Run.End.Happened() {
		return t.Run.End
	}
	last := trace.Instant(0)
	for _, r := range t.Records {
		last = max(last, r.Done)
	}
	return last
}

// scheduled reports whether due times mean something: with a gate and
// everything due at once they do not. Later turns are due when somebody has answered,
// which is no schedule either.
func scheduled(p trace.Load, records []*trace.Record) bool {
	if p.Concurrency == 0 {
		return true
	}
	return slices.ContainsFunc(records, func(r *trace.Record) bool { return r.Due > 0 && r.Turn == 0 })
}

func countRequests(planned int, records []*trace.Record) Requests {
	c := Requests{Planned: max(planned, len(records)), Sent: len(records)}
	type key struct {
		class  trace.Class
		status int
	}
	at := map[key]int{}
	for _, r := range records {
		if r.OK() {
			c.OK++
			continue
		}
		c.Failed++
		if r.Class == trace.HTTP && (r.Status == http.StatusTooManyRequests || r.Quirks.RetryAfter != "") {
			c.Shed, c.RetryAfter = c.Shed+1, cmp.Or(r.Quirks.RetryAfter, c.RetryAfter)
		}
		k := key{class: r.Class}
		if r.Class == trace.HTTP {
			k.status = r.Status
		}
		i, ok := at[k]
		if !ok {
			i = len(c.Classes)
			at[k] = i
			c.Classes = append(c.Classes, Class{Class: r.Class, Status: k.status, Example: r.Error})
		}
		c.Classes[i].Count++
	}
	slices.SortStableFunc(c.Classes, func(a, b Class) int { return b.Count - a.Count })
	first, last, n := span(records, func(r *trace.Record) trace.Instant {
		if r.OK() {
			return trace.Never
		}
		return r.Done
	})
	if n > 0 {
		c.FirstFailed, c.LastFailed = first.Seconds(), last.Seconds()
	}
	return c
}

func countChunks(records []*trace.Record) Chunks {
	var c Chunks
	tokens := 0
	for _, r := range records {
		if r.OK() {
			tokens += r.Streamed()
			c.count(r)
		}
	}
	c.PerChunk = over(tokens, float64(c.Output))
	c.PerWrite = over(c.Output, float64(c.Output-c.Bundled))
	return c
}

// count adds the chunks of a record.
func (c *Chunks) count(r *trace.Record) {
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
	c.MergedShare = over(c.Merged, float64(c.Output))
}

func rates(s Summary, records []*trace.Record) Rates {
	r := Rates{
		Requests: over(s.Requests.OK, s.Duration), Input: over(s.Tokens.Input, s.Duration), Output: over(s.Tokens.Output, s.Duration),
		Inputs: over(s.Tokens.Inputs, s.Duration), Audio: over(s.Tokens.Audio, s.Duration),
	}
	if s.Response != nil {
		r.Offered = pace(records, func(r *trace.Record) trace.Instant { return r.Due })
		r.Released = pace(records, func(r *trace.Record) trace.Instant { return r.Released })
	}
	return r
}

// pace is the rate of instants: of the gaps between them, one less than they
// are. Of fewer than two it is 0.
func pace(records []*trace.Record, at func(*trace.Record) trace.Instant) float64 {
	first, last, n := span(records, at)
	return over(n-1, Between(first, last))
}

// span is the first and the last of instants that happened, and how many did.
func span(records []*trace.Record, at func(*trace.Record) trace.Instant) (first, last trace.Instant, n int) {
	first, last = trace.Never, trace.Never
	for _, r := range records {
		t := at(r)
		if !t.Happened() {
			continue
		}
		if n++; n == 1 || t < first {
			first = t
		}
		last = max(last, t)
	}
	return first, last, n
}

func waits(records []*trace.Record, percentiles []float64) (wait, setup Distribution) {
	var w, c []float64
	for _, r := range records {
		if r.Released.Happened() {
			w = append(w, Between(r.Due, r.Released))
		}
		if r.Connected.Happened() {
			c = append(c, Between(r.Dialed, r.Connected))
		}
	}
	return Distribute(w, percentiles), Distribute(c, percentiles)
}

// goodput counts requests that met all objectives, by service times.
func goodput(records []*trace.Record, objectives []plan.Objective, seconds float64) *Goodput {
	if objectives = plan.PerRequest(objectives); len(objectives) == 0 {
		return nil
	}
	g := &Goodput{Objectives: objectives}
	for _, r := range records {
		if r.OK() && meets(r, objectives) {
			g.Met++
		}
	}
	g.Share, g.Rate = over(g.Met, float64(len(records))), over(g.Met, seconds)
	return g
}

// meets is inclusive. A request without a figure, such as the TPOT of a single
// token, meets the objective on it; one without any output has no TTFT to meet.
func meets(r *trace.Record, objectives []plan.Objective) bool {
	first, last, n := r.Output()
	for _, o := range objectives {
		var v float64
		switch figure.Metric(o.Metric) {
		case figure.TTFT:
			if n == 0 {
				return false
			}
			v = Between(r.Sent, first)
		case figure.TPOT:
			v, _ = tpot(r)
		case figure.ITL:
			if n > 1 {
				v = Between(first, last) / float64(n-1)
			}
		case figure.E2EL:
			v = Between(r.Sent, r.Done)
		}
		if v > o.Limit.Std().Seconds() {
			return false
		}
	}
	return true
}
