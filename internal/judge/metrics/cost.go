package metrics

// A Price is what a device costs, per hour, in any currency.
type Price float64

// A Cost is what a million tokens cost at a rate: price × devices × 10⁶ / (3600 s × tokens per second).
type Cost struct {
	Price   Price `json:"per_device_hour"`
	Devices int   `json:"devices"`           // 0: not known
	Sampled bool  `json:"sampled,omitempty"` // Devices are those that telemetry saw
	// Output is per million output tokens, All per million of all tokens, those of prompts among them; 0: not known.
	Output float64 `json:"per_million_output,omitempty"`
	All    float64 `json:"per_million,omitempty"`
}

// CostAt is the cost where devices make these output tokens, and all tokens, a second.
func CostAt(price Price, devices int, output, all float64) Cost {
	c := Cost{Price: price, Devices: devices}
	perMillion := func(rate float64) float64 {
		if !(rate > 0) || devices < 1 {
			return 0
		}
		return float64(price) * float64(devices) / 3600 / rate * 1e6
	}
	c.Output, c.All = perMillion(output), perMillion(all)
	return c
}

// CostOf is the cost of a run, in its steady state where there is one; nil without a price. Without a number of
// devices those that were sampled count.
func CostOf(s Summary, price Price, devices int) *Cost {
	if price == 0 {
		return nil
	}
	sampled := devices == 0 && s.Resources != nil && s.Resources.Devices != nil
	if sampled {
		devices = s.Resources.Devices.Count
	}
	output := s.Rates.Output
	if s.Steady.Found() {
		output = s.Steady.Output
	}
	all := 0.0
	switch {
	case s.Rates.AtLeast:
		output = 0
	case s.Tokens.InputUnknown > 0:
	case s.Rates.Output > 0:
		all = output * (1 + s.Rates.Input/s.Rates.Output)
	default: // nothing is generated
		all = s.Rates.Input
	}
	c := CostAt(price, devices, output, all)
	c.Sampled = sampled
	return &c
}
