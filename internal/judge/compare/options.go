package compare

import (
	"cmp"
	"math"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Options are what may be asked of a comparison. The zero value is useful.
type Options struct {
	Level  float64 // of intervals, and one less the rate of false alarms; 0 for 0.95
	Margin float64 // relative; differences below it are of no interest; 0 for 0.02
	Power  float64 // with which further runs should settle a change; 0 for 0.8

	Baseline   string   // the variant to compare with; "" for the one named like one, or the first
	Paired     bool     // the i-th runs of two variants belong together
	SingleRuns bool     // let the chance within single runs decide, though they may differ from run to run
	Ignore     []string // settings that neither tell workloads apart nor are listed

	Tool, Form string // by whose rules figures are made of records; "" for what Needed says
	Gates      []Gate

	Rules metrics.Rules // of the tools whose figures can be made of records, beside Pitot's
}

// The defaults of Options.
const (
	DefaultLevel  = 0.95
	DefaultMargin = 0.02
	DefaultPower  = 0.8
)

func (o Options) withDefaults() Options {
	o.Level = cmp.Or(o.Level, DefaultLevel)
	o.Margin = cmp.Or(o.Margin, DefaultMargin)
	o.Power = cmp.Or(o.Power, DefaultPower)
	return o
}

// Validate reports everything that is wrong.
func (o Options) Validate() (p plan.Problems) {
	o = o.withDefaults()
	p.If(!(o.Level > 0.5 && o.Level < 1), "level", o.Level, "must be more than 0.5 and less than 1, such as 0.95")
	p.If(!(o.Margin > 0 && o.Margin < 1), "margin", o.Margin, "must be between 0 and 1; 0.02 is 2 %%")
	p.If(!(o.Power > 0 && o.Power < 1), "power", o.Power, "must be between 0 and 1, such as 0.8")
	return p
}

// alpha is the rate of false alarms, without the dust of the subtraction: shares of
// arrangements may equal it.
func (o Options) alpha() float64 { return math.Round(1e12*(1-o.Level)) / 1e12 }
