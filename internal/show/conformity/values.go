package conformity

import (
	"fmt"
	"slices"

	"github.com/pitot-bench/pitot/internal/proof/conform"
)

func (t *table) rate(of []conform.Result) string {
	return middle(of, func(r conform.Result) (float64, bool) {
		return r.Rate.Offered/r.Rate.Asked - 1, r.Rate.Asked > 0 && r.Rate.Offered > 0
	}, func(v float64) string { return t.percent(percentage(v)) })
}

// requests and tokens compare counts, in the run where they differ most.
func (t *table) requests(of []conform.Result) string {
	return t.counted(of, func(r conform.Result) (claimed, true int) { return r.Requests.OK, r.Requests.Served })
}

func (t *table) tokens(of []conform.Result) string {
	return t.counted(of, func(r conform.Result) (claimed, true int) { return r.Tokens.Claimed, r.Tokens.Written })
}

func (t *table) counted(of []conform.Result, counts func(conform.Result) (claimed, true int)) string {
	worst, text := -1, ""
	for _, r := range of {
		claimed, true := counts(r)
		off := max(claimed-true, true-claimed)
		if claimed < 0 || off <= worst {
			continue
		}
		worst, text = off, t.Word("conformity.all")
		switch {
		case claimed < true:
			text = t.Word("conformity.lost", "n", off, "of", true)
		case claimed > true:
			text = t.Word("conformity.invented", "n", off, "of", true)
		}
	}
	return text
}

func (t *table) merged(of []conform.Result) string {
	return middle(of, func(r conform.Result) (float64, bool) {
		if r.Claim == nil || r.Claim.Merged == nil {
			return 0, false
		}
		return *r.Claim.Merged, true
	}, t.share(2))
}

// verdict is what the client says of its own runs, the gravest of it.
func (t *table) verdict(of []conform.Result) string {
	grave := []string{"", "valid", "doubtful", "invalid"}
	worst := 0
	for _, r := range of {
		if r.Claim != nil {
			worst = max(worst, slices.Index(grave, r.Claim.Verdict))
		}
	}
	return []string{"", t.Word("conformity.valid"), t.Word("conformity.doubtful"), t.Word("conformity.invalid")}[worst]
}

// bounds reports whether the client's bounds contain the true figures.
func (t *table) bounds(of []conform.Result) string {
	all, missed := 0, 0
	for _, r := range of {
		for _, f := range r.Figures {
			if f.Bound == nil {
				continue
			}
			if all++; !f.InBounds() {
				missed++
			}
		}
	}
	switch {
	case all == 0:
		return ""
	case missed == 0:
		return t.Word("conformity.hold")
	}
	return t.Word("conformity.miss", "n", missed, "of", all)
}

// spread sums up the errors of single instants, the middle one of the repeats.
func (t *table) spread(of []conform.Result, errors func(conform.Precision) conform.Errors) string {
	var parts []string
	for _, q := range []struct {
		name string
		of   func(conform.Errors) float64
	}{
		{t.Word("report.median"), func(s conform.Errors) float64 { return s.Median }},
		{"P99", func(s conform.Errors) float64 { return s.P99 }},
		{"P99.9", func(s conform.Errors) float64 { return s.P999 }},
	} {
		text := precise(of, func(p conform.Precision) (float64, bool) { return q.of(errors(p)), errors(p).N > 0 }, duration)
		if text != "" {
			parts = append(parts, q.name+" "+text)
		}
	}
	return t.Join("comma", parts...)
}

// gap is the error of a single gap.
func (t *table) gap(of []conform.Result) string {
	return precise(of, func(p conform.Precision) (float64, bool) { return p.Gap.P99, p.Gap.N > 0 }, duration)
}

// inBounds is the share of gaps that lie within their bounds.
func (t *table) inBounds(of []conform.Result) string {
	return precise(of, func(p conform.Precision) (float64, bool) { return p.InBounds, true }, t.share(2))
}

// precise is middle of a value of the precision of single instants.
func precise(of []conform.Result, value func(conform.Precision) (float64, bool), say func(float64) string) string {
	return middle(of, func(r conform.Result) (float64, bool) {
		if r.Precision == nil {
			return 0, false
		}
		return value(*r.Precision)
	}, say)
}

// busy is the client's share of one processor.
func (t *table) busy(of []conform.Result) string {
	return middle(of, func(r conform.Result) (float64, bool) { return r.Usage.Share, r.Usage.Share > 0 }, t.share(0))
}

// share puts a share in percent, with so many decimals.
func (t *table) share(decimals int) func(float64) string {
	return func(v float64) string { return t.percent(fmt.Sprintf("%.*f", decimals, 100*v)) }
}

func (t *table) perToken(of []conform.Result) string {
	return middle(of, func(r conform.Result) (float64, bool) { return r.Usage.PerToken, r.Usage.PerToken > 0 }, duration)
}

func (t *table) memory(of []conform.Result) string {
	return middle(of, func(r conform.Result) (float64, bool) { return float64(r.Usage.Memory), r.Usage.Memory > 0 },
		func(v float64) string { return fmt.Sprintf("%.0f MiB", v/(1<<20)) })
}

// middle is the middle one of the values that results have, as say puts it.
func middle(of []conform.Result, value func(conform.Result) (float64, bool), say func(float64) string) string {
	var values []float64
	for _, r := range of {
		if v, ok := value(r); ok {
			values = append(values, v)
		}
	}
	if values == nil {
		return ""
	}
	slices.Sort(values)
	return say(values[len(values)/2])
}
