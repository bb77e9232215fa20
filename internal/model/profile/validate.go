package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/plan"
)

type checker struct{ plan.Problems }

func (v *checker) requireText(path, text string) {
	v.If(strings.TrimSpace(text) == "", path, nil, "is missing")
}

func (v *checker) oneLine(path, text string) {
	v.If(strings.Contains(strings.TrimSpace(text), "\n"), path, nil, "must be one line")
}

func (v *checker) required(path, value string, names ...string) {
	v.If(value == "", path, nil, "is missing; allowed: %s", strings.Join(names, ", "))
	v.OneOf(path, value, names...)
}

// number requires a finite, nonnegative number.
func (v *checker) number(path string, x float64) {
	v.If(!(x >= 0) || !finite(x), path, x, "must be a number from 0")
}

// sigma requires the standard deviation of a logarithm. Beyond 5, where one
// standard deviation is a factor of 148, a few requests would have all the tokens.
func (v *checker) sigma(path string, x float64) {
	v.If(!(x >= 0 && x <= 5), path, x, "must be between 0 and 5")
}

// adapters checks that every name is unique.
func (v *checker) adapters(path string, m Model) {
	for i, name := range m.Adapters {
		at := fmt.Sprintf("%s[%d]", path, i)
		v.requireText(at, name)
		v.If(name == cmp.Or(m.Name, DefaultModel), at, nil, "%q is the name of the model", name)
		v.If(name != "" && slices.Contains(m.Adapters[:i], name), at, nil, "%q names two adapters", name)
	}
}

func (v *checker) evidence(path string, e Evidence) {
	v.requireText(path+".name", e.Name)
	v.requireText(path+".log", e.Log)
	if e.Dialect != "" {
		v.required(path+".dialect", e.Dialect, DefaultDialect, "sglang")
	}
	v.number(path+".rate", e.Rate)
	v.If(e.Concurrency < 0, path+".concurrency", e.Concurrency, "must not be negative")
	v.If(e.Requests < 1 || e.Requests > maxRequests, path+".requests", e.Requests, "must be from 1 to %d", maxRequests)
	if n := e.Requests; n >= 1 && n <= maxRequests {
		v.lengths(path+".workload.input_tokens", path+".workload.text", e.Workload.InputTokens, n, e.Workload.Text)
		v.lengths(path+".workload.output_tokens", path+".workload.output", e.Workload.OutputTokens, n, e.Workload.Output)
	}
	if e.Workload.Image != nil {
		v.images(path+".workload.image", *e.Workload.Image)
	}
	for _, f := range e.Measured.all() {
		v.number(path+".measured."+f.Name, f.Value)
	}
	v.If(len(e.Measured.Figures()) == 0, path+".measured", nil, "has no figures")
}

// maxRequests keeps totals and rounding exact.
const maxRequests = 1_000_000

// lengths checks that a total can spread over n requests as the law says.
func (v *checker) lengths(totalPath, path string, total, n int, l Lengths) {
	v.If(total < n, totalPath, total, "each of the %d requests has at least one token", n)
	v.required(path+".law", l.Law, Fixed, Lognormal, Capped)
	v.sigma(path+".sigma", l.Sigma)
	v.Share(path+".at_cap", l.AtCap)
	v.If(l.Max < 0, path+".max", l.Max, "must not be negative")
	v.If(l.Law != Lognormal && l.Sigma != 0, path+".sigma", nil, "only applies to the law lognormal")
	v.If(l.Law != Capped && l.AtCap != 0, path+".at_cap", nil, "only applies to the law capped")
	v.If(l.Law == Fixed && l.Max != 0, path+".max", nil, "only applies to the laws lognormal and capped")
	v.If(l.Law == Fixed && total%n != 0, totalPath, total, "cannot be divided evenly among %d requests", n)
	v.If(l.Law == Capped && l.Max < 1, path+".max", nil, "is missing")
	v.If(l.Max > 0 && l.Max < math.MaxInt/maxRequests && total > n*l.Max, totalPath, total, "exceeds %d requests of %d tokens", n, l.Max)
	if l.Law == Capped && l.Max > 0 && l.Max < math.MaxInt/maxRequests && l.AtCap >= 0 && l.AtCap <= 1 {
		capped := int(math.Round(l.AtCap * float64(n)))
		v.If(total < capped*l.Max+n-capped, totalPath, total, "is below the sum of %d requests at the cap and one token for each other", capped)
	}
}

func (v *checker) images(path string, m Images) {
	v.If(!(m.Mean >= 1 && m.Mean <= engine.MaxContext), path+".mean", m.Mean, "must be from 1 to %d", engine.MaxContext)
	v.sigma(path+".sigma", m.Sigma)
	v.Share(path+".giant_share", m.GiantShare)
	v.If(m.GiantShare > 0 && m.GiantTokens < 1, path+".giant_tokens", m.GiantTokens, "must be at least 1")
	v.If(m.GiantTokens < 0 || m.GiantTokens > engine.MaxContext, path+".giant_tokens", m.GiantTokens, "must be from 0 to %d", engine.MaxContext)
}
