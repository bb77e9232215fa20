package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
)

// ParseGate reads a condition such as `ttft.mean > +2%`, which is on the change
// against the baseline, or `itl.p99 > 80ms`, which is on the value.
func ParseGate(text string) (Gate, error) {
	at := strings.IndexAny(text, "<>")
	if at < 0 {
		return Gate{}, gateError(text, "there is neither > nor < in it")
	}
	g := Gate{Text: strings.TrimSpace(text), Name: strings.TrimSpace(text[:at]), Above: text[at] == '>'}
	if metric, ok := strings.CutSuffix(g.Name, ".p50"); ok {
		g.Name = figure.Metric(metric).Median()
	}
	limit := strings.TrimSpace(text[at+1:])
	if strings.HasPrefix(limit, "=") || strings.HasSuffix(g.Name, "=") {
		return Gate{}, gateError(text, "gates are > or <, without =")
	}
	if _, ok := answerFigures[g.Name]; !ok && !figure.Known(g.Name) {
		return Gate{}, gateError(text, fmt.Sprintf("no figure is called %q; there are %s", g.Name, gateNames()))
	}
	if err := g.parse(limit, GateFigure(g.Name).Unit); err != nil {
		return Gate{}, gateError(text, err.Error())
	}
	return g, nil
}

// parse reads the limit of a figure: of a change in %, or in points of a share, or of the value.
func (g *Gate) parse(limit string, unit figure.Unit) (err error) {
	percent, isPercent := strings.CutSuffix(limit, "%")
	points, isPoints := strings.CutSuffix(limit, "pt")
	switch {
	case isPoints && unit != figure.Share:
		return fmt.Errorf("pt stands behind the change of a share, and %s is none", g.Name)
	case isPoints:
		g.Points = true
		g.Limit, err = parseNumber(points)
		g.Limit /= 100
	case isPercent && unit == figure.Share && strings.HasPrefix(percent, "+"), isPercent && unit == figure.Share && strings.HasPrefix(percent, "-"):
		return fmt.Errorf("a change of a share is written in points, %spt; a limit of its value without a sign", strings.TrimSpace(percent))
	case isPercent && unit == ratioUnit:
		return fmt.Errorf("%s is a ratio; write a limit such as 2x", g.Name)
	case isPercent:
		g.Relative = unit != figure.Share
		g.Limit, err = parseNumber(percent)
		g.Limit /= 100
	default:
		g.Limit, err = parseLimit(limit, unit)
		if err == nil && unit == ratioUnit && g.Limit <= 0 {
			err = fmt.Errorf("%s is a ratio, which is above 0; write a limit such as 2x", g.Name)
		}
	}
	return err
}

// ParseThreshold reads a gate on the value of a figure, as one run has it.
func ParseThreshold(text string) (Gate, error) {
	g, err := ParseGate(text)
	if err == nil && (g.Relative || g.Points || !figure.Known(g.Name)) {
		return g, plan.Problem{
			Path: "gates", Value: strconv.Quote(text), Why: "a change needs runs to compare with: `pitot compare --fail-if` takes it",
			Hint: "write a limit of the value, as ttft.p99 > 200ms or requests.failed > 0",
		}
	}
	return g, err
}

func gateError(text, why string) error {
	return plan.Problem{Path: "gates", Value: strconv.Quote(text), Why: why, Hint: "write NAME > LIMIT, as ttft.mean > +2% or itl.p99 > 80ms"}
}

// gateNames lists what a gate can be on.
func gateNames() string {
	var names []string
	for _, q := range figure.All {
		names = append(names, q.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(answerFigures)) {
		if !figure.Known(name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ") + ", and mean, median, std, min, max and percentiles such as p99 of ttft, tpot, itl and e2el (ttft.p99)"
}

// parseLimit reads a value with its unit, which only times must have.
func parseLimit(text string, unit figure.Unit) (float64, error) {
	all := suffixes[unit]
	for _, s := range all {
		if number, ok := strings.CutSuffix(text, s.text); ok {
			v, err := parseNumber(number)
			return v * s.size, err
		}
	}
	v, err := parseNumber(text)
	if err == nil && unit == figure.Seconds {
		err = fmt.Errorf("%s of what? a time is written %sms or %ss, a change %s%%", text, text, text, text)
	}
	if err != nil && len(all) > 0 && unit != figure.Seconds {
		i := slices.IndexFunc(all, func(s suffix) bool { return s.size == 1 })
		err = fmt.Errorf("%w in %s, nor a change in %%", err, all[i].text)
	}
	return v, err
}

// suffixes by unit. The longer of two that end alike comes first.
var suffixes = map[figure.Unit][]suffix{
	figure.Seconds:         {{"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"s", 1}},
	figure.PerSecond:       {{"req/s", 1}, {"/s", 1}},
	figure.TokensPerSecond: {{"tok/s", 1}, {"/s", 1}},
	figure.TokenCount:      {{"tok", 1}},
	figure.Joules:          {{"kJ", 1e3}, {"mJ", 1e-3}, {"J", 1}},
	figure.Watts:           {{"kW", 1e3}, {"W", 1}},
	figure.Celsius:         {{"°C", 1}, {"C", 1}},
	ratioUnit:              {{"x", 1}},
}

// A suffix is how a unit may be written behind a number, and what one of it is worth.
type suffix struct {
	text string
	size float64
}

// parseNumber reads a finite number, with or without a sign.
func parseNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", strings.TrimSpace(text))
	}
	return v, nil
}
