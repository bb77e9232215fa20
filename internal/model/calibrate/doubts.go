package calibrate

import "fmt"

// Beyond these shares an engine is not of the kind that was found, or did not keep its pace: of the
// mean error over its runs, and of first tokens at another time than its schedule has them. Engines
// that the schedule is right for have at most 7 % of such first tokens, and up to 20 % were seen where
// predictions held nevertheless.
const (
	mostMisfit   = 0.1
	mostAstray   = 0.3
	mostUnplaced = 0.02
)

// Doubts are reasons not to trust the calibration, even within what was seen; none is good.
func (c *Calibration) Doubts() (why []string) {
	if m := c.Misfit(); m > mostMisfit {
		why = append(why, fmt.Sprintf("its own runs are off by %.0f %% on average, so this engine works in another way, or did not keep its pace", 100*m))
	}
	if astray := c.Early + c.Late; astray > mostAstray {
		why = append(why, fmt.Sprintf("%.0f %% of the first tokens came at another time than its schedule has them, so requests are served in another order or way, and TTFT under load is not known", 100*astray))
	}
	if c.Unplaced > mostUnplaced {
		why = append(why, fmt.Sprintf("%.0f %% of the prompt tokens were found in a cache, say the server's counters, but its answers do not say of which prompts, so the cost of prompts is not known", 100*c.Unplaced))
	}
	return why
}
