package calibrate

import (
	"fmt"
)

// Beyond these shares an engine is not of the kind that was found, or did not keep its pace: of the
// mean error over its runs; of requests that many others overtook, or short ones; of first tokens at another time
// than its schedule has them; of prompt tokens that were cached of prompts that nobody names. Engines
// that serve requests in their order had none overtaken. Where the schedule was right at most 7 %
// of the first tokens were astray, and up to 20 % where predictions held nevertheless.
const (
	mostMisfit    = 0.1
	mostOvertaken = 0.03
	mostShort     = 0.8 // where the order is that of arrival, half
	mostOvertook  = 0.3
	mostAstray    = 0.3
	mostUnplaced  = 0.02
)

// Doubts are reasons not to trust the calibration, even within what was seen; none is good.
func (c *Calibration) Doubts() (why []string) {
	if m := c.Misfit(); m > mostMisfit {
		why = append(why, fmt.Sprintf("its own runs are off by %.0f %% on average, so this engine works in another way, or did not keep its pace", 100*m))
	}
	if c.Overtaken > mostOvertaken {
		why = append(why, fmt.Sprintf("%.0f %% of the requests had their first token after that of %d or more that were sent later, so they are not served in their order, and TTFT under load is not known", 100*c.Overtaken, ManyLater))
	}
	switch o := c.Order; {
	case o.Apart && o.Short > mostOvertook:
		why = append(why, fmt.Sprintf("of two requests that waited together the one that was sent later, with a much shorter prompt, "+
			"came first in %.0f %% of the cases, so they are not served in their order, and TTFT under load is not known", 100*o.Short))
	case !o.Apart && o.Short > mostShort:
		why = append(why, fmt.Sprintf("of two requests sent together the one with the shorter prompt came first in %.0f %% of the cases, "+
			"so they are not served in their order, and TTFT under load is not known", 100*o.Short))
	}
	if astray := c.Early + c.Late; astray > mostAstray && !c.Launches() { // else the frontend was found by simulation
		why = append(why, fmt.Sprintf("%.0f %% of the first tokens came at another time than its schedule has them, so prompts share steps in another way, and TTFT under load is not known", 100*astray))
	}
	if c.Unplaced > mostUnplaced {
		why = append(why, fmt.Sprintf("%.0f %% of the prompt tokens were found in a cache, say the server's counters, but its answers do not say of which prompts, so the cost of prompts is not known", 100*c.Unplaced))
	}
	return why
}
