package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/profile"
)

// Evidence shows how a profile compares with what was measured in one run.
func Evidence(w io.Writer, c calibrate.Comparison) {
	e := c.Evidence
	how := "not fitted to it"
	if e.Fitted {
		how = "in sample: fitted to it, on other draws"
	}
	fmt.Fprintf(w, "\n  %s · %s · %s\n  %s\n", e.Name, describeEvidence(e), how, e.Log)
	fmt.Fprintf(w, "    %-24s %10s %10s %8s %10s\n", "", "measured", "simulated", "error", "draws vary")
	for _, f := range c.Figures {
		name, scale := figureName(f.Name)
		fmt.Fprintf(w, "    %-24s %10s %10s %+7.1f%% %9.1f%%\n", name, digits(f.Measured*scale), digits(f.Median*scale), 100*f.Error(), 100*f.Spread)
	}
	fmt.Fprintf(w, "    %-24s %30.1f%%\n", fmt.Sprintf("mean error of %d", len(c.Figures)), 100*c.Error)
	fmt.Fprintf(w, "    %-24s %30.1f%%   %.1f%% of it by chance alone\n", "of a single draw", 100*c.Single, 100*c.Floor)
}

func describeEvidence(e *profile.Evidence) string {
	load := fmt.Sprintf("%d requests", e.Requests)
	switch {
	case e.Rate > 0:
		load += fmt.Sprintf(", Poisson %g req/s", e.Rate)
	case e.Concurrency > 0:
		load += fmt.Sprintf(", closed loop of %d", e.Concurrency)
	default:
		load += ", all at once"
	}
	return load
}

// figureName is a figure in words with its unit, and what to multiply it with.
func figureName(name string) (words string, scale float64) {
	switch name {
	case "duration":
		return "duration (s)", 1
	case "throughput.output":
		return "output (tok/s)", 1
	case "peak.output":
		return "peak output (tok/s)", 1
	case "throughput.requests":
		return "requests (req/s)", 1
	case "peak.concurrency":
		return "peak concurrency", 1
	}
	metric, statistic, _ := strings.Cut(name, ".")
	return fmt.Sprintf("%s %s (ms)", strings.ToUpper(metric), statistic), 1000
}

// digits writes four digits or whole numbers.
func digits(x float64) string {
	if x >= 1000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.4g", x)
}
