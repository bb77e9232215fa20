package report

import (
	"fmt"
	"io"
	"math"
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
	fmt.Fprintf(w, "    %-24s %30.1f%%   ±%.1f%% over other sets of %d draws\n", fmt.Sprintf("mean error of %d", len(c.Figures)), 100*c.Error, 100*c.Within, c.Draws)
	fmt.Fprintf(w, "    %-24s %30.1f%%   %.1f to %.1f%% in nine of ten; %.1f%% of it by chance alone\n", "of a single draw", 100*c.Single, 100*c.Low, 100*c.High, 100*c.Floor)
}

// Fitted shows what a fit found, and which numbers the evidence does not determine.
func Fitted(w io.Writer, f calibrate.Fitted) {
	fmt.Fprintf(w, "%-36s %12s %12s  %s\n", "", "before", "after", "lies in, 95 % sure")
	for _, field := range f.Fields {
		line := fmt.Sprintf("%-36s %12s %12s  %s", field.Path, field.Before, field.After, howSure(field))
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	if !math.IsInf(f.Before, 1) {
		fmt.Fprintf(w, "%-36s %11.1f%% %11.1f%%\n", "mean error", 100*f.Before, 100*f.After)
	}
}

// howSure is what is known of where a fitted number lies.
func howSure(f calibrate.FittedField) string {
	i := f.Interval
	switch {
	case f.Idle:
		return "(the evidence does not depend on it)"
	case i.Share == 0:
		return ""
	case !i.Determined():
		return fmt.Sprintf("%s to %s: not determined by these data", i.Low, i.High)
	}
	return i.Low + " to " + i.High
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
	case "throughput.total":
		return "total (tok/s)", 1
	case "concurrency":
		return "requests in flight", 1
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
