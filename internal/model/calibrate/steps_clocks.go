package calibrate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// Clocks are what a step costs an engine that launches it while the one before runs: on the host, of which the
// speed changes, and on the device, which keeps its pace. A launch with prompts is long and shows the host's speed
// x, as a share of the usual launch; of a step without them the longer of the two shows:
//
//	y = max(device(D, S), x·(launch + launchSequence·D))
type clocks struct {
	form   form
	device coefficients // of a step without prompts
	launch coefficients // of it on a usual host: perStep and perSequence
	// mine are the rows of steps without prompts that the device bounds, others those of the host, by its pace.
	rows, mine, others   []row
	weights, hostWeights []float64
	prefill              float64     // s, the usual launch with prompts
	factors              []float64   // quantiles of the host's speed around it, over time
	run                  float64     // standard deviation of ln of its mean in a leg
	speeds               []hostSpeed // by leg
	legs                 [][]float64 // factors by leg; nil: not known
	tail, token          float64     // s a prompt token on the device behind the launch, and beside it at most
	prompt, promptToken  float64     // s that a launch is longer by for each more prompt, and token
	sigma                float64     // relative standard deviation of steps without prompts
}

// A launch is one that shows the speed of the host.
type launch struct {
	at              time.Duration // when it ended
	took            float64       // s
	tokens, prompts float64
}

const (
	longLaunch   = 0.25                   // launches are seen if the gap is longer by that share of what decoding explains,
	clearLaunch  = 6                      // and by so many standard deviations
	nearLaunch   = 150 * time.Millisecond // the speed of the host is known so near to a launch
	leastLevels  = 100                    // of them, at such intervals, show a distribution
	levelEvery   = 10 * time.Millisecond
	levelLength  = 2 * time.Second // that it stays at a level
	decodeRounds = 12
	levelCount   = 41 // quantiles of the levels
)

// hostSpeed is the speed of the host over a leg, as the ratio of its launches to the usual one.
type hostSpeed []launch

// at is the factor at an instant, linear between launches; 0 where none is near.
func (h hostSpeed) at(t time.Duration, usual float64) float64 {
	i, found := slices.BinarySearchFunc(h, t, func(l launch, t time.Duration) int { return cmp.Compare(l.at, t) })
	near := func(i int) bool { return i >= 0 && i < len(h) && (h[i].at-t).Abs() <= nearLaunch }
	switch {
	case found:
		return h[i].took / usual
	case near(i-1) && near(i):
		share := (t - h[i-1].at).Seconds() / (h[i].at - h[i-1].at).Seconds()
		return (h[i-1].took + share*(h[i].took-h[i-1].took)) / usual
	case near(i - 1):
		return h[i-1].took / usual
	case near(i):
		return h[i].took / usual
	}
	return 0
}

// clocksOf finds the clocks of an engine that launches steps ahead; nil if too few launches show the host.
func clocksOf(logs []*steplog, t *try) *clocks {
	legs, plain, legOf := make([][]row, len(logs)), []row(nil), legOf(logs)
	for _, r := range t.rows {
		i := legOf(r.block)
		if legs[i] = append(legs[i], r); !r.prefills() && !r.asked {
			plain = append(plain, r)
		}
	}
	c := &clocks{form: form{decode: bends(decodeKnots[:], plain, func(r *row) (float64, bool) { return r.decodes, true })}}
	c.device, _ = regress(plain, &c.form, nil, 12)
	c.sigma = spreads(plain, offs(plain, &c.form, &c.device))[0]
	c.token = math.Inf(1) // until it is known, launches show only where the device has no prompt meanwhile
	if !c.hosts(legs, t.budget) {
		return nil
	}
	c.tail = c.behind(legs)
	c.prompts(legs)
	c.bound(legs, t.budget)
	if !c.hosts(legs, t.budget) {
		return nil
	}
	for i, rows := range legs {
		for k := range rows {
			rows[k].pace = c.speeds[i].at(rows[k].end, c.prefill)
		}
		if logs[i].joined > joinedMore {
			c.rows = append(c.rows, logs[i].streamRows(rows, true)...)
			continue
		}
		for _, r := range rows {
			if r.pace > 0 && !r.prefills() && !r.asked {
				c.rows = append(c.rows, r)
			}
		}
	}
	if len(c.rows) < leastRows {
		return nil
	}
	c.decoding(c.rows)
	c.work()
	for _, h := range c.speeds {
		c.legs = append(c.legs, factors(h.over(), c.prefill))
	}
	return c
}

// hosts finds the launches of all legs, and what they say of the host; false if they are too few.
func (c *clocks) hosts(legs [][]row, budget int) bool {
	c.speeds = nil
	n := 0
	for _, rows := range legs {
		h := c.launches(rows, budget)
		c.speeds, n = append(c.speeds, h), n+len(h)
	}
	return n >= leastIsolated && c.levels()
}

// decodes is the time of a step on the device without its prompts.
func (c *clocks) decodes(r *row) float64 {
	return c.device.of(&c.form, &row{decodes: r.decodes, context: r.context})
}

// behind is by how much a step is longer for each token of its prompts, where none is launched meanwhile.
func (c *clocks) behind(legs [][]row) float64 {
	var each, weights []float64
	for _, rows := range legs {
		for i := range rows {
			if r := &rows[i]; r.tokens >= tailTokens && r.next == 0 {
				each, weights = append(each, (r.y-c.decodes(r))/r.tokens), append(weights, r.tokens)
			}
		}
	}
	return max(0, weightedMedian(each, weights))
}

// launches are those of a leg that show the speed of the host: of prompts with a first token, and longer than
// decoding. Prompts on the device meanwhile must have taken much less.
func (c *clocks) launches(rows []row, budget int) (all hostSpeed) {
	clear := 1 + max(longLaunch, clearLaunch*c.sigma)
	for i := range rows {
		r := &rows[i]
		d := c.decodes(r)
		hides := r.tokens == 0 || 2*d+c.token*r.tokens < c.prefill/2
		if r.launched > 0 && r.next > 0 && r.next < float64(budget)/2 && r.y > clear*d && hides {
			all = append(all, launch{r.end, r.y, r.next, r.launched})
		}
	}
	return all
}

// work finds by how much a launch is longer for more prompts and tokens, against those of single prompts around it.
func (c *clocks) work() {
	type other struct{ over, tokens, prompts float64 }
	var several []other
	var x, y []float64
	for _, h := range c.speeds {
		for i := range h {
			var near, tokens []float64
			for k := range h {
				if k != i && h[k].prompts == 1 && (h[k].at-h[i].at).Abs() < 2*nearLaunch {
					near, tokens = append(near, h[k].took), append(tokens, h[k].tokens)
				}
			}
			if len(near) < 2 {
				continue
			}
			if over, more := h[i].took-median(near), h[i].tokens-median(tokens); h[i].prompts > 1 && h[i].tokens < smallLaunch {
				several = append(several, other{over, more, h[i].prompts - 1})
			} else if h[i].prompts == 1 {
				x, y = append(x, more), append(y, over)
			}
		}
	}
	c.promptToken = max(0, line(x, y))
	var each, weights []float64
	for _, o := range several {
		each, weights = append(each, (o.over-c.promptToken*o.tokens)/o.prompts), append(weights, o.prompts)
	}
	c.prompt = max(0, weightedMedian(each, weights))
}

// smallLaunch is the most prompt tokens of a step for which its launch does not wait for the device.
const smallLaunch = 1024

// line is the slope of the one with the least sum of the sizes of errors of y; 0 of less than two points.
func line(x, y []float64) (slope float64) {
	weights := make([]float64, len(x))
	for i := range weights {
		weights[i] = 1
	}
	for range 30 {
		var n, sx, sy, sxx, sxy float64
		for i, w := range weights {
			n, sx, sy, sxx, sxy = n+w, sx+w*x[i], sy+w*y[i], sxx+w*x[i]*x[i], sxy+w*x[i]*y[i]
		}
		d := n*sxx - sx*sx
		if d <= 0 {
			return 0
		}
		slope = (n*sxy - sx*sy) / d
		at0 := (sy - slope*sx) / n
		for i := range weights {
			weights[i] = 1 / max(1e-5, math.Abs(y[i]-at0-slope*x[i]))
		}
	}
	return slope
}

// over are the launch times of a leg at even intervals, wherever they are known.
func (h hostSpeed) over() (all []float64) {
	for i := range h {
		if i == 0 || h[i].at-h[i-1].at > 2*nearLaunch {
			continue
		}
		for t := h[i-1].at; t < h[i].at; t += levelEvery {
			all = append(all, h.at(t, 1))
		}
	}
	return all
}

// factors are quantiles of the speed of the host, from launch times over time; nil if it is hardly known.
func factors(over []float64, usual float64) (out []float64) {
	if len(over) < leastLevels {
		return nil
	}
	all := slices.Sorted(slices.Values(over))
	for i := range levelCount {
		out = append(out, math.Round(1e4*all[i*(len(all)-1)/(levelCount-1)]/usual)/1e4)
	}
	return out
}

// levels finds the usual launch, and the distribution of the host's speed around it over time; false if it is
// not known. What the means of legs differ by beyond what levels of levelLength make of it is from run to run.
func (c *clocks) levels() bool {
	var all, means []float64
	expected := 0.0
	for _, h := range c.speeds {
		over := h.over()
		if all = append(all, over...); len(over) < leastLevels {
			continue
		}
		sum := 0.0
		for _, v := range over {
			sum += math.Log(v)
		}
		means = append(means, sum/float64(len(over)))
		expected += 2 * levelLength.Seconds() / (h[len(h)-1].at - h[0].at).Seconds()
	}
	if len(all) < leastLevels {
		return false
	}
	c.prefill = median(all)
	c.factors = factors(all, c.prefill)
	for i := range all {
		all[i] = math.Log(all[i])
	}
	if n := float64(len(means)); n > 1 {
		c.run = math.Sqrt(max(0, variance(means)*n/(n-1)-variance(all)*expected/n))
	}
	return true
}

// decoding finds what steps without prompts cost on both: each row is given to the longer one, and costs are found
// of each again, in turn. At first those are the device's that have a fast host, and the host's that have a slow
// one. A host that explains little is left out.
func (c *clocks) decoding(rows []row) {
	c.device, c.weights = regress(rows, &c.form, nil, 12)
	c.mine = rows
	alone := c.misses(rows)
	with := *c
	paces := make([]float64, len(rows))
	for i := range rows {
		paces[i] = rows[i].pace
	}
	middle := median(paces)
	for round := range decodeRounds {
		var mine, others []row
		for i := range rows {
			r := rows[i]
			slow := r.pace > middle
			if round > 0 {
				slow = with.host(&r) > with.device.of(&c.form, &r)
			}
			if slow {
				r.y, r.context = r.y/r.pace, 0
				others = append(others, r)
			} else {
				mine = append(mine, r)
			}
		}
		if len(mine) < leastRows || len(others) < leastRows {
			break
		}
		with.mine, with.others = mine, others
		with.device, with.weights = regress(mine, &c.form, nil, 6)
		with.launch, with.hostWeights = regress(others, &form{}, nil, 6)
	}
	if with.misses(rows) < aheadScore*alone {
		*c = with
	}
}

// misses is the mean size of the relative errors of rows without prompts.
func (c *clocks) misses(rows []row) (sum float64) {
	for i := range rows {
		sum += math.Abs(rows[i].y/c.of(&rows[i])-1) / float64(len(rows))
	}
	return sum
}

// host is how long the launch of a step without prompts takes.
func (c *clocks) host(r *row) float64 {
	return r.pace * (c.launch[perStep] + c.launch[perSequence]*r.decodes)
}

// of is the duration of a step without prompts.
func (c *clocks) of(r *row) float64 { return max(c.device.of(&c.form, r), c.host(r)) }

// prompts finds what prompts cost on the device, from steps before and after whose launch there is none: with l
// the step before, which is the launch, and d what decoding takes the device in both,
//
//	y = max(d, 2d + token·W - l, tail·W)
//
// Of costs that explain as much the largest per token is taken: launches hide it up to there.
func (c *clocks) prompts(legs [][]row) {
	type pair struct{ y, before, d, w float64 }
	var all []pair
	for _, rows := range legs {
		for i := 1; i < len(rows); i++ {
			a, b := &rows[i-1], &rows[i]
			if a.next == b.tokens && b.tokens >= tailTokens && a.tokens == 0 && b.next == 0 {
				all = append(all, pair{b.y, a.y, c.decodes(b), b.tokens})
			}
		}
	}
	least, slope := math.Inf(1), c.tail
	c.token, c.tail = 0, 0
	for tail := range tailSteps {
		for at := range tokenSteps {
			tail, token := slope*2*float64(tail)/(tailSteps-1), leastToken*math.Exp(float64(at)*tokenStep)
			lost := 0.0
			for _, p := range all {
				lost += math.Abs(p.y - max(p.d, 2*p.d+token*p.w-p.before, tail*p.w))
			}
			if lost < least || lost < sameLoss*least && token > c.token {
				least, c.token, c.tail = min(lost, least), token, tail
			}
		}
	}
}

// Costs of a token that are tried, in s; one is as good as another if it leaves no more than sameLoss of it.
const (
	leastToken = 0.3e-6
	tokenStep  = 0.1
	tokenSteps = 70
	tailSteps  = 9
	sameLoss   = 1.01
)

// bound is the most that a token can cost: large steps, one after the other, had no more time. The device works on
// the first of them already in the step before, for a launch at least.
func (c *clocks) bound(legs [][]row, budget int) {
	for _, rows := range legs {
		sum, tokens, n := c.prefill, 0.0, 0
		for i := range rows {
			r := &rows[i]
			if r.tokens < float64(budget)/4 {
				sum, tokens, n = max(r.y, c.prefill), 0, 0
				continue
			}
			if sum, tokens, n = sum+r.y, tokens+r.tokens, n+1; n >= 2 {
				c.token = min(c.token, sum/tokens)
			}
		}
	}
}

// launchShare is how much of a step with prompts has run on the device before its launch ends, as a queue of
// launches is finite: vLLM 0.26 on an H200, launches of 39 to 55 ms with 8192 tokens.
const launchShare = 0.6

// tailTokens is the least prompt that shows its time behind the launch.
const tailTokens = 64

// weightedMedian of x; 0 of nothing.
func weightedMedian(x, weights []float64) float64 {
	order, all := make([]int, len(x)), 0.0
	for i := range x {
		order[i], all = i, all+weights[i]
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	below := 0.0
	for _, i := range order {
		if below += weights[i]; below >= all/2 {
			return x[i]
		}
	}
	return 0
}

// costs are those of an engine; device and launch may be others than were found.
func (c *clocks) costs(device, launch *coefficients) engine.Costs {
	out := device.costs(&c.form)
	out.PrefillToken, out.TailToken = engine.Seconds(c.token), engine.Seconds(c.tail)
	out.Launch, out.LaunchSequence = engine.Seconds(launch[perStep]), engine.Seconds(launch[perSequence])
	out.LaunchPrefill, out.LaunchShare = engine.Seconds(c.prefill), launchShare
	out.LaunchPrompt, out.LaunchPrefillToken = engine.Seconds(c.prompt), engine.Seconds(c.promptToken)
	run := engine.Relative(math.Round(1e4*c.run) / 1e4)
	out.Host = &engine.Host{Factors: c.factors, Hold: engine.Seconds(levelLength.Seconds()), Run: run}
	return out
}
