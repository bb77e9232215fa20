package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/proof/conform"
)

// middle is the middle one of the values that results have.
func middle(of []conform.Result, value func(conform.Result) (float64, bool)) (float64, bool) {
	var values []float64
	for _, r := range of {
		if v, ok := value(r); ok {
			values = append(values, v)
		}
	}
	if values == nil {
		return 0, false
	}
	slices.Sort(values)
	return values[len(values)/2], true
}

func rateOf(of []conform.Result) string {
	v, ok := middle(of, func(r conform.Result) (float64, bool) {
		return r.Rate.Offered/r.Rate.Asked - 1, r.Rate.Asked > 0 && r.Rate.Offered > 0
	})
	if !ok {
		return ""
	}
	return percent(v)
}

// requestsOf and tokensOf compare counts, in the run where they differ most.
func requestsOf(of []conform.Result) string {
	return counted(of, func(r conform.Result) (claimed, true int) { return r.Requests.OK, r.Requests.Served })
}

func tokensOf(of []conform.Result) string {
	return counted(of, func(r conform.Result) (claimed, true int) { return r.Tokens.Claimed, r.Tokens.Written })
}

func counted(of []conform.Result, counts func(conform.Result) (claimed, true int)) string {
	worst, text := -1, ""
	for _, r := range of {
		claimed, true := counts(r)
		if claimed < 0 {
			continue
		}
		off := max(claimed-true, true-claimed)
		if off <= worst {
			continue
		}
		worst, text = off, "all"
		switch {
		case claimed < true:
			text = fmt.Sprintf("%d of %d lost", off, true)
		case claimed > true:
			text = fmt.Sprintf("%d, and %d invented", true, off)
		}
	}
	return text
}

func mergedOf(of []conform.Result) string {
	v, ok := middle(of, func(r conform.Result) (float64, bool) {
		if r.Claim == nil || r.Claim.Merged == nil {
			return 0, false
		}
		return *r.Claim.Merged, true
	})
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.2f %%", 100*v)
}

// verdictOf is what the client says of its own runs, the gravest of it.
func verdictOf(of []conform.Result) string {
	grave := []string{"", "valid", "doubtful", "invalid"}
	worst, last := 0, ""
	for _, r := range of {
		if r.Claim == nil {
			continue
		}
		if i := slices.Index(grave, r.Claim.Verdict); i >= worst {
			worst, last = i, r.Claim.Verdict
		}
	}
	return last
}

// boundsOf tells whether the client's bounds hold what is true.
func boundsOf(of []conform.Result) string {
	held, missed := 0, 0
	for _, r := range of {
		for _, f := range r.Figures {
			switch {
			case f.Bound == nil:
			case f.Held():
				held++
			default:
				missed++
			}
		}
	}
	switch {
	case held+missed == 0:
		return ""
	case missed == 0:
		return "hold"
	}
	return fmt.Sprintf("miss %d of %d", missed, held+missed)
}

// errorsOf sums up the errors of single instants, the middle one of the repeats.
func errorsOf(of []conform.Result, spread func(conform.Precision) conform.Errors) string {
	var parts []string
	for _, q := range []struct {
		name string
		of   func(conform.Errors) float64
	}{
		{"median", func(s conform.Errors) float64 { return s.Median }},
		{"P99", func(s conform.Errors) float64 { return s.P99 }},
		{"P99.9", func(s conform.Errors) float64 { return s.P999 }},
	} {
		v, ok := middle(of, func(r conform.Result) (float64, bool) {
			if r.Precision == nil || spread(*r.Precision).N == 0 {
				return 0, false
			}
			return q.of(spread(*r.Precision)), true
		})
		if ok {
			parts = append(parts, q.name+" "+duration(v))
		}
	}
	return strings.Join(parts, ", ")
}

// gapOf is the error of a single gap.
func gapOf(of []conform.Result) string {
	v, ok := middle(of, func(r conform.Result) (float64, bool) {
		if r.Precision == nil || r.Precision.Gap.N == 0 {
			return 0, false
		}
		return r.Precision.Gap.P99, true
	})
	if !ok {
		return ""
	}
	return duration(v)
}

// heldOf is the share of gaps that lie within their bounds.
func heldOf(of []conform.Result) string {
	v, ok := middle(of, func(r conform.Result) (float64, bool) {
		if r.Precision == nil {
			return 0, false
		}
		return r.Precision.Held, true
	})
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.2f %%", 100*v)
}

// busyOf is the client's share of one processor.
func busyOf(of []conform.Result) string {
	v, ok := middle(of, func(r conform.Result) (float64, bool) { return r.Usage.Share, r.Usage.Share > 0 })
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

func cpuOf(of []conform.Result) string {
	v, ok := middle(of, func(r conform.Result) (float64, bool) { return r.Usage.PerToken, r.Usage.PerToken > 0 })
	if !ok {
		return ""
	}
	return duration(v)
}

func memoryOf(of []conform.Result) string {
	v, ok := middle(of, func(r conform.Result) (float64, bool) { return float64(r.Usage.Memory), r.Usage.Memory > 0 })
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.0f MiB", v/(1<<20))
}
