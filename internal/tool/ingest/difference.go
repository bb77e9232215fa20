package ingest

import (
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/tool/lexicon"
)

// A difference is a change in the unit of its metric: `TTFT: -70.06 ms`, `saves 12 ms of TTFT`, `TPOT 缩短 1.9 毫秒`.

var (
	// quantity is a number with a unit, or one with a sign.
	quantity = lexicon.Compile(`(?i)[-+−－＋]?(\d[\d,]*(?:\.\d+)?)\s?(` + unitWords + `)(?:[^\pL\d/]|$)|[-+−－＋](\d[\d,]*(?:\.\d+)?)(?:[^\pL\d.%％/×]|\.?$)`)
	// roughly are words that stand between a word for a change and its amount.
	roughly = lazy.Regexp(`(?i)(?:\b(?:by|of|about|around|roughly|approximately|nearly|almost|some|an?|another)\b|[~≈约近了达\s])*$`)
	// changing are words for a change in a unit, right ahead of its amount.
	changing = lexicon.Vocabulary{
		{Expression: lexicon.Compile(`(?i)\b(?:sav|shav|trimm?)(?:es?|ed|ings?)\b|节省|节约|(?:[^至最更多差]|^)少`), Means: "down"},
		{Expression: lexicon.Compile(`快`), Means: "better"},
		{Expression: lexicon.Compile(`慢`), Means: "worse"},
		{Expression: lexicon.Compile(`(?:[^至最更差不]|^)多`), Means: "up"},
		{Expression: lexicon.Compile(`(?i)\b(?:adds?|added|adding|costs?)\b`), Means: "up"},
	}
)

var (
	// added are words of which the amount is one of a metric only if that follows: `adds 5 ms to TTFT`.
	added    = lazy.Regexp(`(?i)^(?:add|cost)`)
	ofMetric = lazy.Regexp(`(?i)^(?:to|of|in)\s+(?:the\s+)?(?:(?:mean|median|average|avg|p\d+)\s+)?(?:ttft|tpot|itl|e2e|latency|time|inter)`)
)

// canDiffer is a quick no for lines without a difference.
func canDiffer(text, lower string) bool { return quantity.Finds(text, lower) }

func differenceClaims(text, metric string, metrics []lexicon.Word) (all []claim) {
	for _, m := range quantity.FindAll(text, lexicon.Lower(text)) {
		if c, ok := readDifference(text, metric, metrics, m); ok {
			all = append(all, c)
		}
	}
	return all
}

func readDifference(text, metric string, metrics []lexicon.Word, m []int) (claim, bool) {
	number, unit := m[2:4], ""
	if number[0] < 0 {
		number = m[6:8]
	} else {
		unit = text[m[4]:m[5]]
	}
	end := max(number[1], m[5])
	c := claim{start: number[0], end: end, Claim: trace.Claim{Text: trimClaim(text), Metric: metric}}
	best, named := nearest(metrics, number[0], end, 0, len(text))
	if named {
		c.Metric, c.named = best.Means, true
		c.cover(best)
	}
	way := c.changed(text, number[0], end)
	adjacent := named && beside.MatchString(between(text, best, []int{number[0] - 1, end, end, end, end, end}))
	if c.Metric == "" || way == "" || unit == "" && !adjacent {
		return c, false
	}
	scale, ok := c.fits(unit)
	v, step, isNumber := lexicon.Number(text[number[0]:number[1]])
	if !ok || !isNumber || v == 0 || len(text[number[0]:number[1]]) > 12 {
		return c, false
	}
	c.readStatistic(text, 0, number[0])
	if c.Stat == "" && named && best.Start >= end {
		c.readStatistic(text, end, best.Start)
	}
	c.Delta, c.Step = v*scale, step*scale
	if latency := figure.Metric(c.Metric).IsLatency(); way == "down" || way == "better" && latency || way == "worse" && !latency {
		c.Delta = -c.Delta
	}
	return c, true
}

// changed is where a difference points: by its sign, or by a word right ahead of it or behind it.
func (c *claim) changed(text string, start, end int) (way string) {
	ahead := strings.TrimRight(text[:start], " `*")
	for signs, way := range map[string]string{"-−－": "down", "+＋": "up"} {
		bare := strings.TrimRight(ahead, signs)
		if bare != ahead && !strings.HasSuffix(bare, " -") && (bare == "" || !strings.ContainsAny(bare[len(bare)-1:], "0123456789")) {
			return way
		}
	}
	ahead = ahead[:len(ahead)-len(roughly.FindString(ahead))]
	behind := strings.TrimLeft(text[end:], " `*")
	by := strings.Contains(lexicon.Lower(text[len(ahead):start]), "by")
	for _, v := range []lexicon.Vocabulary{changing, lexicon.Directions} {
		for _, w := range v.Find(text) {
			if added.MatchString(text[w.Start:w.End]) && !ofMetric.MatchString(behind) {
				continue
			}
			if w.End == len(ahead) || by && w.End < len(ahead) || w.Start == len(text)-len(behind) {
				c.cover(w)
				way = w.Means
			}
		}
	}
	return way
}

// fits is how many base units of the claim's metric one of a unit is; false if it is none of the metric.
func (c *claim) fits(unit string) (scale float64, ok bool) {
	latency := figure.Metric(c.Metric).IsLatency() || c.Metric == figure.Duration
	rate := strings.Contains(c.Metric, "throughput")
	switch unit = strings.ToLower(unit); {
	case unit == "":
		return 1, rate
	case unit == "ms" || unit == "毫秒":
		return 1e-3, latency
	case unit == "us" || unit == "µs":
		return 1e-6, latency
	case !rateUnit.MatchString(unit):
		return 1, latency
	case c.Metric == lexicon.Throughput && (unit[0] == 'r' || unit[0] == 'q'):
		c.Metric = figure.RequestThroughput
	}
	return 1, rate && (c.Metric == figure.RequestThroughput) == (unit[0] == 'r' || unit[0] == 'q')
}
