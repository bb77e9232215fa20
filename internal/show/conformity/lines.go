package conformity

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/conform"
)

// lines are the lines that a cell can have. brief leaves out figures that hide errors: those in the
// middle of a distribution.
func (t *table) lines(brief bool) []line {
	lines := []line{{name: t.Word("conformity.outcome"), of: t.outcome}}
	for _, m := range conform.Metrics() {
		for _, s := range conform.Statistics() {
			middle := s == conform.Mean || s == conform.P90 || s == conform.Median && (m == conform.TPOT || m == conform.E2EL)
			if !brief || !middle {
				lines = append(lines, t.figure(m, s, t.both))
			}
		}
	}
	return append(lines, t.facts()...)
}

// facts are the lines other than figures and the outcome.
func (t *table) facts() []line {
	return []line{
		{name: t.Word("conformity.rate-offered"), of: t.rate},
		{name: t.Word("conformity.answers"), of: t.requests},
		{name: t.Word("conformity.tokens"), of: t.tokens},
		{name: t.Word("conformity.merged"), of: t.merged},
		{name: t.Word("conformity.exact-gaps"), of: func(of []conform.Result) string {
			return t.spread(of, func(p conform.Precision) conform.Errors { return p.Gap })
		}},
		{name: t.Word("conformity.exact-ttft"), of: func(of []conform.Result) string {
			return t.spread(of, func(p conform.Precision) conform.Errors { return p.TTFT })
		}},
		{name: t.Word("conformity.gaps-held"), of: t.inBounds},
		{name: t.Word("conformity.bounds"), of: t.bounds},
		{name: t.Word("conformity.verdict"), of: t.verdict},
		{name: t.Word("conformity.cpu"), of: t.busy},
		{name: t.Word("conformity.cpu-token"), of: t.perToken},
		{name: t.Word("conformity.memory"), of: t.memory},
	}
}

// both tells of an error in time, and as a share.
func (t *table) both(of []conform.Result, m conform.Metric, s conform.Statistic) string {
	text := absolute(of, m, s)
	if share := t.relative(of, m, s); share != "" {
		text = t.Word("comparison.beside", "said", text, "aside", share)
	}
	return text + t.voided(of, m, s)
}

func (t *table) columns() []line {
	return []line{
		t.figure(conform.TTFT, conform.Median, absolute),
		t.figure(conform.TTFT, conform.P99, absolute),
		t.figure(conform.ITL, conform.Median, t.relative),
		t.figure(conform.ITL, conform.P99, func(of []conform.Result, m conform.Metric, s conform.Statistic) string {
			return t.relative(of, m, s) + t.voided(of, m, s)
		}),
		t.figure(conform.ICL, conform.P99, t.relative),
		t.figure(conform.TPOT, conform.P99, t.relative),
		t.figure(conform.E2EL, conform.P99, t.relative),
		{name: t.Word("conformity.gap"), of: t.gap},
		{name: t.Word("conformity.held"), of: t.inBounds},
		{name: t.Word("conformity.rate"), of: t.rate},
		{name: "CPU", of: t.busy},
		{name: t.Word("conformity.per-token"), of: t.perToken},
		{name: t.Word("conformity.peak"), of: t.memory, aside: true},
		{name: t.Word("conformity.answers"), of: t.requests, aside: true},
		{name: t.Word("conformity.verdict"), of: t.verdict},
		{name: t.Word("conformity.outcome"), of: t.outcome},
	}
}

// A line is one thing to tell of a cell: it sums up the repeats, and is "" where nothing
// is known.
type line struct {
	name  string
	of    func([]conform.Result) string
	aside bool // it is left out of a line on one run
}

// figure is the line of a figure, of which say tells.
func (t *table) figure(m conform.Metric, s conform.Statistic,
	say func([]conform.Result, conform.Metric, conform.Statistic) string,
) line {
	name := t.Word(plan.Code("conformity."+string(s)), "metric", strings.ToUpper(string(m)))
	return line{name: name, of: func(of []conform.Result) string { return say(of, m, s) }}
}

func (t *table) relative(of []conform.Result, m conform.Metric, s conform.Statistic) string {
	if f, ok := errorOf(of, m, s); ok {
		if share, ok := f.Relative(); ok {
			return t.percent(percentage(share))
		}
	}
	return ""
}

func (t *table) percent(number string) string { return t.Word("percent", "number", number) }

// percentage is a share with its sign, to two digits and at least a thousandth of
// a percent.
func percentage(share float64) string {
	p := 100 * share
	switch a := math.Abs(p); {
	case a < 0.0005:
		return "0"
	case a < 0.095:
		return fmt.Sprintf("%+.3f", p)
	case a < 9.95:
		return fmt.Sprintf("%+.1f", p)
	}
	return fmt.Sprintf("%+.0f", p)
}

func absolute(of []conform.Result, m conform.Metric, s conform.Statistic) string {
	if f, ok := errorOf(of, m, s); ok {
		return signed(f.Error())
	}
	return ""
}

// signed is a difference of times; less than 0.05 µs is none.
func signed(seconds float64) string {
	if math.Abs(seconds) < 5e-8 {
		return "0"
	}
	if seconds > 0 {
		return "+" + duration(seconds)
	}
	return duration(seconds)
}

// duration is a time to three digits, in the unit that suits it.
func duration(seconds float64) string {
	a := math.Abs(seconds)
	switch {
	case a >= 1:
		return fmt.Sprintf("%.3g s", seconds)
	case a >= 1e-3:
		return fmt.Sprintf("%.3g ms", 1e3*seconds)
	}
	return fmt.Sprintf("%.3g µs", 1e6*seconds)
}

// voided marks what the client itself says is not to be believed.
func (t *table) voided(of []conform.Result, m conform.Metric, s conform.Statistic) string {
	if f, ok := errorOf(of, m, s); ok && f.Void {
		return " " + t.Word("conformity.void")
	}
	return ""
}

// errorOf is the run with the middle error of the repeats.
func errorOf(of []conform.Result, m conform.Metric, s conform.Statistic) (f conform.FigureError, ok bool) {
	var found []conform.FigureError
	for _, r := range of {
		for _, f := range r.Figures {
			if f.Metric == m && f.Statistic == s {
				found = append(found, f)
			}
		}
	}
	if found == nil {
		return f, false
	}
	slices.SortFunc(found, func(a, b conform.FigureError) int { return cmp.Compare(a.Error(), b.Error()) })
	return found[len(found)/2], true
}

// outcome is empty where every run gave figures and nothing stood in the way.
func (t *table) outcome(of []conform.Result) string {
	var parts []string
	add := func(is bool, code plan.Code) {
		if text := t.Word(code); is && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	for _, r := range of {
		add(r.Failure != "", "conformity.failed")
		add(!r.Server.Limit.IsZero(), "conformity.server-late")
		add(r.Disturbed(), "conformity.others-busy")
	}
	return t.Join("clause", parts...)
}
