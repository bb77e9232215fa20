package run

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A waveLimit bounds a warm-up until steady.
type waveLimit struct {
	waves  int           // at most
	least  int           // requests of a wave at least
	most   int           // at most
	open   int           // at most, of a load without a closed loop
	span   time.Duration // in which those are due, if they are more than least
	output int           // tokens of an answer at most; 0: unchanged
	time   time.Duration // after which no further wave begins; 0: none
}

// leastWave is how many requests a wave has that proves something: the median of fewer values moves by
// more than the 5 % to be agreed on by chance alone.
const leastWave = 8

// steadyWaves are to last seconds each, not minutes.
var steadyWaves = waveLimit{waves: 10, least: leastWave, most: plan.MaxRequests, open: 64, span: 10 * time.Second}

// Limits of brief waves. Kernels are compiled for the shapes of the prompts and for the number of
// requests in flight, and neither needs long answers. All together have at most half as many
// requests as the run, or two.
const (
	briefWaves  = 4
	briefMost   = 256 // requests of a wave
	briefShare  = 4   // a wave has 1/4 of the requests of the run at most
	briefOutput = 16  // tokens
	briefSpan   = 2 * time.Second
	briefTime   = time.Minute
)

func (p *Prepared) waveLimit() waveLimit {
	if !p.spec.Before.WarmUp.Brief {
		return steadyWaves
	}
	most := min(max(1, p.Requests().N/briefShare), briefMost)
	return waveLimit{
		waves: briefWaves, least: min(2, most), most: most, open: min(most, steadyWaves.open),
		span: briefSpan, output: briefOutput, time: briefTime,
	}
}

// waves are the requests of a warm-up until steady: wave i has waves[i], of which each is due
// at the time in due.
//
// Waves are matched, so that chance in the lengths of prompts does not pass for a server that
// is not at rest: all requests are drawn together and sorted by length, and each wave gets one
// of as many neighbours as there are waves.
//
//	sorted by length   a a a│b b b│c c c        three waves of three
//	wave               1 2 3│2 3 1│3 1 2        in turn, so that none gets the shortest of all
type waves struct {
	requests [][]workload.Request
	due      []time.Duration
	limit    waveLimit
}

func (p *Prepared) drawWaves(ctx context.Context, b *builder) error {
	l := p.waveLimit()
	due := p.waveTimes(l)
	if p.spec.Before.WarmUp.Brief {
		l.waves = max(2, min(l.waves, p.Requests().N/2/len(due)))
	}
	pool, err := p.wavePool(ctx, b, len(due), l.waves)
	if err != nil {
		return err
	}
	for i := range pool {
		if r := &pool[i]; l.output > 0 && !p.silent() && (r.OutputTokens == 0 || r.OutputTokens > l.output) {
			r.OutputTokens = l.output
		}
	}
	p.waves = waves{due: due[:min(len(pool)/l.waves, len(due))], requests: match(pool, p.spec.Seed, l.waves), limit: l}
	return nil
}

// waveTimes are when the requests of a wave are due: all at once in a closed loop, as many as
// its gate lets through, or a multiple of that; else as those of the run, from the first on.
func (p *Prepared) waveTimes(l waveLimit) (due []time.Duration) {
	all := p.Requests().N
	if places := min(p.spec.Gate.Concurrency, all); places > 0 && closedLoop(&p.spec) {
		rounds := (leastWave + places - 1) / places
		return make([]time.Duration, min(rounds*places, l.most))
	}
	next, stop := iter.Pull(p.built.due.Schedule)
	defer stop()
	first, _ := next()
	due = []time.Duration{0}
	for len(due) < min(max(all, l.least), l.open) {
		at, ok := next()
		if !ok {
			at = first + due[len(due)-1] // all of the run's are there: the rest comes with the last
		}
		if at -= first; at > l.span && len(due) >= l.least {
			break
		}
		if p.spec.Before.WarmUp.Brief {
			at = min(at, l.span)
		}
		due = append(due, at)
	}
	return due
}

// wavePool are the requests of all waves, n in each, grouped by their source and sorted by length.
func (p *Prepared) wavePool(ctx context.Context, b *builder, n, waves int) (pool []workload.Request, err error) {
	parts, weights := b.waveParts()
	if parts == nil {
		return p.syntheticRequests(n, waves), nil
	}
	for i, share := range perPart(traffic.Deal(weights, n, b.spec.Seed), len(parts)) {
		if share == 0 {
			continue
		}
		s := b.of(parts[i])
		s.Seed |= warmUpSeed
		s.Requests, s.Arrivals = share*waves, true
		drawn, err := b.part(ctx, parts[i], s)
		if err != nil {
			return nil, err
		}
		some := firstTurns(drawn.All(), share*waves)
		some = some[:len(some)/waves*waves]
		slices.SortStableFunc(some, func(a, b workload.Request) int {
			return cmp.Or(cmp.Compare(a.PromptTokens, b.PromptTokens), cmp.Compare(a.OutputTokens, b.OutputTokens))
		})
		pool = append(pool, some...)
	}
	if len(pool) == 0 {
		return p.syntheticRequests(n, waves), nil
	}
	return pool, nil
}

// waveParts are all datasets of the load with their weights, nil unless more can be drawn of
// each.
func (l *load) waveParts() (parts []*part, weights []float64) {
	for _, s := range l.streams {
		for _, o := range s.parts {
			if !o.kind.Drawn {
				return nil, nil
			}
			parts, weights = append(parts, o), append(weights, cmp.Or(o.Weight, 1))
		}
	}
	return parts, weights
}

// match deals a sorted pool to the waves, all in the same random order of lengths.
func match(pool []workload.Request, seed uint64, waves int) [][]workload.Request {
	out := make([][]workload.Request, waves)
	order := rand.New(rand.NewPCG(seed, warmUpSeed)).Perm(len(pool) / waves)
	for k := range out {
		for _, i := range order {
			r := pool[i*waves+(k+i)%waves]
			r.ID, r.At = "", 0
			out[k] = append(out[k], r)
		}
	}
	return out
}

// syntheticRequests are requests of the lengths of the run's first n, one of each for every wave, where no more of
// the same kind can be drawn: their words, or token ids, in another order.
func (p *Prepared) syntheticRequests(n, waves int) (out []workload.Request) {
	random := rand.New(rand.NewPCG(p.spec.Seed, warmUpSeed))
	all := p.Requests()
	for i := range n {
		like := all.At(i % all.N)
		for k := range waves {
			out = append(out, p.scrambled(like, random, fmt.Sprintf("%d.%d", k+1, i+1)))
		}
	}
	return out
}

// scrambled is a request as long as another, with other text for each name.
func (p *Prepared) scrambled(like *workload.Request, random *rand.Rand, name string) workload.Request {
	whole, err := like.Unspooled()
	if err != nil { // the run will say so
		return p.small(name, 16)
	}
	made := workload.Request{PromptTokens: whole.PromptTokens, OutputTokens: whole.OutputTokens, Model: whole.Model, Header: whole.Header}
	switch {
	case len(whole.Tokens) > 0:
		made.Tokens = slices.Clone(whole.Tokens)
		random.Shuffle(len(made.Tokens), func(i, j int) { made.Tokens[i], made.Tokens[j] = made.Tokens[j], made.Tokens[i] })
	case whole.Text != "" && whole.Media == nil:
		made.Text = shuffled(whole.Text, random, name)
	case whole.Messages != nil:
		made.Text = shuffled(spoken(whole.Messages), random, name)
	default:
		return p.small(name+": say something.", whole.OutputTokens)
	}
	return made
}

// shuffled is a text with its words in another order, behind a name.
func shuffled(text string, random *rand.Rand, name string) string {
	words := strings.Fields(text)
	random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return name + " " + strings.Join(words, " ")
}

// spoken are the words of a chat.
func spoken(messages []byte) string {
	var text strings.Builder
	n, err := plan.ParseJSON(messages)
	if err != nil {
		return ""
	}
	var walk func(*plan.Node)
	walk = func(n *plan.Node) {
		if n.Kind == plan.String {
			text.WriteString(n.Text + " ")
		}
		for _, item := range n.Items {
			walk(item)
		}
		for _, m := range n.Members {
			if m.Key == "content" || m.Key == "text" {
				walk(m.Value)
			}
		}
	}
	walk(n)
	return text.String()
}
