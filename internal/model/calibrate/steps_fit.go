package calibrate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// Found is an engine as its steps show it.
type Found struct {
	Cost   engine.Costs   // linear, or with tables where those explain more; with the noise of steps
	Spread engine.Costs   // standard deviations of the costs that are linear, from blocks of 2 s drawn anew
	Draws  []engine.Costs // the costs found from those blocks
	Drift  float64        // standard deviation of the pace over 4 s, relative
	Jitter float64        // coefficient of variation of a step

	PrefillFirst bool // prompts stop those that decode, as SGLang's do
	PromptBudget bool // the budget is of prompts alone
	Async        bool // steps are planned one ahead
	Budget       int  // tokens of a step
	BudgetSeen   bool // prompts waited for it; else it is assumed
	Longest      int  // prompt tokens of the longest step
	MaxPrompts   int  // in a step; 0: no limit
	Even         bool // those of a step share its budget evenly
	MaxSequences int  // 0: not reached
	Memory       int  // tokens that the cache holds; 0: not reached
	MostRunning  int  // streams at once
	MostContext  int  // tokens behind them, together

	PerStep     float64             // tokens that a stream gets of a step
	Speculative *engine.Speculative // nil: one
	DraftsSeen  bool                // it is by position; else drafts are assumed, and PerStep is what is known

	Delay time.Duration // of a request until the engine knows it
	// DelaySeen says that requests came to an idle engine; else the delay is what explains arrivals.
	DelaySeen bool
	Work      time.Duration // of that, on one request after the other
	Chunk     time.Duration // of the server's work for each token that it sends

	misses      []float64 // by leg: the share of its steps that could not be seen
	promptSteps []int     // steps with first tokens, by leg
	tokenize    float64   // s for each prompt token before the head of a response
	clocks      *clocks   // of an engine that launches steps ahead; else nil

	Steps, Rows, Prefills int     // steps seen; those with a known duration; of them with prompts
	Miss                  float64 // share of steps that could not be seen
	Overtaken             float64 // share of requests with a first token after that of ManyLater that were sent later
	Order                 order
	Late, Early, Over     float64 // shares of first tokens and of prompt tokens that the schedule does not explain
	Off, OffPrefill       float64 // median relative error of the duration of a step, without and with prompts
}

// Reasons why an engine cannot be modelled here.
var (
	// ErrElsewhere is an engine with prefill on other servers.
	ErrElsewhere = errors.New("prompts do not hold up those that decode: they are computed elsewhere (disaggregated prefill), and such an engine cannot be fitted yet")
	// ErrBlurred is what stamps cannot resolve.
	ErrBlurred = errors.New("its steps cannot be told apart")
)

// A TooLittleError is a fit to steps that are too few, or too much alike.
type TooLittleError struct{ What string }

func (e *TooLittleError) Error() string { return e.What }

// The least that costs are fitted to, and a budget is taken from: with twice as much, that share
// of the first tokens would have come sooner.
const (
	leastEarly    = 0.02
	leastRows     = 200
	leastPrefills = 30
	mostMiss      = 0.3
	muchBetter    = 0.95 // what a schedule with a limit of memory may leave unexplained of that without
)

// FitSteps finds the engine behind legs. tokens is the capacity of its cache in tokens, as the
// server reports it; 0: it does not. Its errors are ErrElsewhere, ErrBlurred and TooLittleError.
func FitSteps(legs []Leg, tokens int) (*Found, error) {
	logs := observedLegs(legs, true)
	f := &Found{PrefillFirst: alone(logs)}
	if !f.PrefillFirst { // then a token that lags behind its step is not one by itself
		logs = observedLegs(legs, false)
	}
	if logs = f.sharp(logs); len(logs) == 0 && len(legs) > 0 {
		return nil, fmt.Errorf("%w: %.0f %% of successive tokens of a stream are not in successive steps",
			ErrBlurred, 100*min(1, slices.Min(f.misses)))
	}
	if err := f.look(logs); err != nil {
		return nil, err
	}
	f.PerStep = tokensPerStep(logs)
	f.Speculative, f.DraftsSeen = drafted(logs, f.PerStep)
	f.MaxSequences = sequences(logs, f.MostRunning)
	best, seen, err := f.search(logs, tokens)
	if err != nil {
		return nil, err
	}
	f.Memory, f.MaxPrompts, f.Even = int(best.memory), best.prompts, best.even
	f.BudgetSeen = seen
	f.Chunk = chunk(logs)
	return f, f.adopt(logs, best)
}

// search finds the schedule that explains most. A limit of prompts in a step, equal parts for those,
// and a limit of memory if the server did not tell it are believed if much less is left
// unexplained with them.
func (f *Found) search(logs []*steplog, tokens int) (best *try, budget bool, err error) {
	search := newSearcher(logs)
	like := stepsSchedule{first: f.PrefillFirst, most: f.MaxSequences, memory: float64(tokens)}
	if f.Speculative != nil {
		like.drafts = f.Speculative.Drafts
	}
	if best, budget, err = search.find(like); err != nil {
		return nil, false, err
	}
	if search.launchesAhead(best) {
		like.ahead = true
		return search.find(like)
	}
	limited := func(with stepsSchedule) {
		if t, seen, err := search.find(with); err == nil && t.score < muchBetter*best.score {
			best, budget, like = t, seen, with
		}
	}
	with := like
	if with.prompts = prompts(logs); with.prompts > 0 {
		limited(with)
		if with.even = !f.PrefillFirst; with.even {
			limited(with)
		}
	}
	with = like
	if with.memory = memory(logs, f.MostRunning); tokens == 0 && with.memory > 0 {
		limited(with)
	}
	return best, budget, nil
}

// observedLegs are the legs with anything in them, as see finds their steps.
func observedLegs(legs []Leg, between bool) (logs []*steplog) {
	head := headsTell(legs)
	for _, leg := range legs {
		leg.Streams = slices.Clone(leg.Streams)
		for i := range leg.Streams {
			s := &leg.Streams[i]
			if s.known = s.Sent; head && s.Head > 0 {
				s.known = s.Head
			}
		}
		if len(leg.Streams) > 0 { // FromTraces has no others
			logs = append(logs, observeLeg(leg, between))
		}
	}
	return logs
}

// The response's head says when the engine knew of a request if it comes that long before the first token and
// after the request was sent, of that share of the requests: a frontend that has read the request sends it.
const (
	headBefore = time.Millisecond
	headAfter  = 200 * time.Microsecond
	headShare  = 0.9
)

// headsTell reports whether heads are arrivals at the engine.
func headsTell(legs []Leg) bool {
	telling, all := 0, 0
	for _, leg := range legs {
		for i := range leg.Streams {
			s := &leg.Streams[i]
			if all++; s.Head > 0 && s.At[0]-s.Head > headBefore && s.Head-s.Sent > headAfter {
				telling++
			}
		}
	}
	return float64(telling) > headShare*float64(all)
}

// alone reports whether most steps with first tokens have no token of another stream, though
// more than two are under way.
func alone(logs []*steplog) bool {
	mixed, alone := 0, 0
	for _, l := range logs {
		mixed, alone = mixed+l.mixed, alone+l.alone
	}
	return alone > mixed/2
}

// look finds what can be seen without a schedule.
func (f *Found) look(logs []*steplog) error {
	f.Overtaken, f.Order = overtaken(logs), orderOf(logs)
	alone, unslowed := 0, 0
	for _, l := range logs {
		f.Steps += len(l.steps)
		f.Miss += float64(len(l.steps)) * l.miss
		alone, unslowed = alone+l.alone, unslowed+l.unslowed
		firsts := 0
		for k := range l.steps {
			if len(l.steps[k].firsts) > 0 {
				firsts++
			}
			f.MostRunning = max(f.MostRunning, l.steps[k].running())
			f.MostContext = max(f.MostContext, int(l.steps[k].context))
		}
		f.promptSteps = append(f.promptSteps, firsts)
	}
	f.Miss /= float64(max(1, f.Steps))
	if f.PrefillFirst && unslowed > alone/2 {
		return ErrElsewhere
	}
	return nil
}

// sharp are the legs with steps that can be told apart.
func (f *Found) sharp(logs []*steplog) (out []*steplog) {
	for _, l := range logs {
		if f.misses = append(f.misses, l.miss); l.miss <= mostMiss {
			out = append(out, l)
		}
	}
	return out
}

// adopt keeps what the best schedule says.
func (f *Found) adopt(logs []*steplog, t *try) error {
	f.Rows, f.Late, f.Early, f.Over = len(t.rows), t.late, t.early, t.over
	f.Budget, f.PromptBudget, f.Async = t.budget, t.promptBudget, t.async
	off := offs(t.rows, &t.form, &t.c)
	var clean, prefill []float64
	for i := range t.rows {
		if r := &t.rows[i]; r.prefills() {
			prefill = append(prefill, math.Abs(off[i]))
			f.Longest = max(f.Longest, int(r.tokens))
		} else {
			clean = append(clean, math.Abs(off[i]))
		}
	}
	if f.Prefills = len(prefill); f.Prefills < leastPrefills {
		return &TooLittleError{fmt.Sprintf("only %d steps had prompts beside others that decode, and it takes %d: several requests at once, of different lengths", f.Prefills, leastPrefills)}
	}
	f.Off, f.OffPrefill = median(clean), median(prefill)
	if t.ahead {
		f.clocks = clocksOf(logs, t)
	}
	if f.clocks != nil {
		f.adoptClocks(logs, t)
		return nil
	}
	n := noiseOf(t.rows, off)
	all := redrawn(t.rows, &t.form, t.weights, legOf(logs))
	sd := deviation(all)
	f.Cost, f.Spread, f.Drift, f.Jitter = n.onto(t.c.costs(&t.form)), sd.costs(&form{}), n.drift, n.jitter
	for i := range all {
		f.Draws = append(f.Draws, n.onto(all[i].costs(&t.form)))
	}
	f.Delay, f.DelaySeen = delayOf(logs, t)
	f.Work = min(t.work, f.Delay)
	return nil
}

// adoptClocks keeps the costs of an engine that launches steps ahead.
func (f *Found) adoptClocks(logs []*steplog, t *try) {
	c := f.clocks
	f.tokenize = tokenizing(logs)
	var rows []row
	for _, r := range c.rows {
		if !r.mean {
			rows = append(rows, r)
		}
	}
	off := make([]float64, len(rows))
	for i := range rows {
		off[i] = rows[i].y/c.of(&rows[i]) - 1
	}
	n := noiseOf(rows, off)
	f.Cost, f.Drift, f.Jitter = n.onto(c.costs(&c.device, &c.launch)), n.drift, n.jitter
	devices := redrawn(c.mine, &c.form, c.weights, legOf(logs))
	hosts := redrawn(c.others, &form{}, c.hostWeights, legOf(logs))
	of := deviation(devices)
	f.Spread = of.costs(&form{})
	sd := deviation(hosts)
	f.Spread.Launch, f.Spread.LaunchSequence = engine.Seconds(sd[perStep]), engine.Seconds(sd[perSequence])
	for i := range devices {
		draw := n.onto(c.costs(&devices[i], &hosts[i]))
		draw.Host = nil // that of the profile
		f.Draws = append(f.Draws, draw)
	}
	f.Delay, f.DelaySeen = delayOf(logs, t)
	f.Work = min(t.work, f.Delay)
}
