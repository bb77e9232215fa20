package flags

import (
	"fmt"
	"math"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Price says what a device costs.
type Price struct {
	Cost hourly `placeholder:"PRICE/h" help:"What a device costs, such as 2.5/h: the report has the cost of a million tokens."`
}

// Prices says it, and how many devices there are.
type Prices struct {
	Price
	Devices int `placeholder:"N" help:"Devices that --cost is of. Default: those that are sampled beside the run."`
}

// Check is the error for a number of devices that is none.
func (p Prices) Check() error {
	if p.Devices < 0 {
		return fmt.Errorf("--devices %d: must be positive", p.Devices)
	}
	return nil
}

// PerHour is the price; 0: none is given.
func (p Price) PerHour() metrics.Price { return metrics.Price(p.Cost) }

// An hourly price is written 2.5/h.
type hourly float64

func (h *hourly) UnmarshalText(text []byte) error {
	number, unit, ok := strings.Cut(strings.ReplaceAll(string(text), " ", ""), "/")
	v, err := plan.ParseNumber(number)
	switch {
	case err != nil:
		return fmt.Errorf("%q: must be a price per device and hour, such as 2.5/h, without a currency", text)
	case !ok:
		return fmt.Errorf("%q: needs a unit: %s/h", text, number)
	case unit != "h" && unit != "hour" && unit != "hr":
		return fmt.Errorf("%q: must be per hour, such as 2.5/h", text)
	case !(v > 0) || math.IsInf(v, 1):
		return fmt.Errorf("%q: must be above 0", text)
	}
	*h = hourly(v)
	return nil
}
