package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A Pace is a factor on the duration of every step, at an instant t of the engine:
//
//	(1 + slower) · start · (1 + drift(t))
//
// start is drawn once per engine. What Costs give is the duration at the factor 1.
type Pace struct {
	Slower Relative `yaml:"slower"` // 3% makes all steps 3 % longer, -3% shorter
	// StartSpread is the relative standard deviation, from start to start of the server,
	// of a normal factor with mean 1. The seed selects the draw.
	StartSpread Relative `yaml:"start_spread"`
	Drift       *Drift   `yaml:"drift"`
}

// A Drift is a change of the pace with time. With t the time since its beginning:
//
//	linear    change · t/over, from over on change
//	settling  change · exp(-t/over)
type Drift struct {
	Change  Relative      `yaml:"change"`
	Over    plan.Duration `yaml:"over"`
	Settles bool          `yaml:"settles"` // a warm-up that dies away
	// Since is when it began, on the wall clock, so that servers that are started one after
	// the other share the drift of their machine. Without it, and in virtual time, it
	// begins with the engine. An engine has no clock; see Config.StartedAt.
	Since Moment `yaml:"since"`
	// Offset is how much of it has passed when it would begin. Negative: it begins later.
	Offset plan.Duration `yaml:"offset"`
}

// StartedAt is c for an engine with time counted from an instant of the wall clock.
func (c Config) StartedAt(now time.Time) Config {
	if c.Drift == nil || time.Time(c.Drift.Since).IsZero() {
		return c
	}
	d := *c.Drift
	d.Offset += plan.Duration(min(now.Sub(time.Time(d.Since)), forever))
	d.Since = Moment{}
	c.Drift = &d
	return c
}

// at is the relative change at an instant of the engine.
func (d *Drift) at(now time.Duration) float64 {
	passed := max(d.Offset.Std().Seconds()+now.Seconds(), 0) / d.Over.Std().Seconds()
	if d.Settles {
		return float64(float64(d.Change) * portable(math.Exp(-passed)))
	}
	return float64(float64(d.Change) * min(passed, 1))
}

// A pace is the factor of one engine.
type pace struct {
	fixed float64
	drift *Drift // nil: none
}

// newPace draws the factor of a start.
func (p Pace) newPace(seed uint64) pace {
	made := pace{fixed: 1 + float64(p.Slower), drift: p.Drift}
	if p.Drift != nil && p.Drift.Change == 0 {
		made.drift = nil
	}
	if p.StartSpread > 0 {
		dice := arrival.Dice(seed, "start", 0)
		z := rand.New(&dice).NormFloat64()
		made.fixed *= portable(max(1+float64(float64(p.StartSpread)*z), slowest))
	}
	return made
}

// slowest is the least factor of a start: a normal one could be negative.
const slowest = 0.1

func (p *pace) apply(t Seconds, now time.Duration) Seconds {
	if p.fixed != 1 {
		t = t.times(p.fixed)
	}
	if p.drift != nil {
		t = t.times(1 + p.drift.at(now))
	}
	return t
}

// portable cuts off the last digits of a factor, which may differ between machines.
func portable(f float64) float64 { return math.Round(f*(1<<24)) / (1 << 24) }

// A Relative is a relative difference. Its text form is 3% or 0.03.
type Relative float64

// String is the text form in percent.
func (r Relative) String() string { return strconv.FormatFloat(float64(r)*100, 'g', 6, 64) + "%" }

// MarshalText returns the text form.
func (r Relative) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the text form.
func (r *Relative) UnmarshalText(text []byte) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(string(text)), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Errorf("%q is not a relative difference such as 3%% or 0.03", text)
	}
	if percent {
		x /= 100
	}
	*r = Relative(x)
	return nil
}

// A Moment is an instant of the wall clock. Its text form is that of RFC 3339.
type Moment time.Time

// UnmarshalText reads the text form.
func (m *Moment) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("%q is not an instant such as 2026-05-04T08:30:00Z", text)
	}
	*m = Moment(at)
	return nil
}

func (v *checker) pace(p Pace) {
	v.relative("slower", p.Slower)
	v.If(!(p.StartSpread >= 0 && p.StartSpread <= 0.2), "start_spread", p.StartSpread, "must be from 0 to 20%%")
	d := p.Drift
	if d == nil {
		return
	}
	v.relative("drift.change", d.Change)
	v.If(d.Over < 0, "drift.over", d.Over, "must not be negative")
	v.If(d.Change != 0 && d.Over == 0, "drift.over", nil, "is missing: the time in which the pace changes, such as 10m")
	v.If(d.Change == 0 && d.Over != 0, "drift.change", nil, "is missing: by how much the pace changes, such as 5%%")
}

// relative requires that steps keep a tenth of their duration, and get at most ten times
// longer.
func (v *checker) relative(path string, r Relative) {
	v.If(!(r >= -0.9 && r <= 10), path, r, "must be from -90%% to 1000%%")
}
