package profile

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// A checker collects mistakes.
type checker struct{ errs []error }

func (v *checker) err() error { return errors.Join(v.errs...) }

func (v *checker) bad(cond bool, path, format string, a ...any) {
	if cond {
		v.errs = append(v.errs, &engine.FieldError{Path: path, Problem: fmt.Sprintf(format, a...)})
	}
}

func (v *checker) given(path, text string) {
	v.bad(strings.TrimSpace(text) == "", path, "is missing")
}

func (v *checker) oneLine(path, text string) {
	v.bad(strings.Contains(strings.TrimSpace(text), "\n"), path, "must be one line")
}

func (v *checker) oneOf(path, value string, names ...string) {
	v.bad(value == "", path, "is missing; allowed: %s", strings.Join(names, ", "))
	v.bad(value != "" && !slices.Contains(names, value), path, "unknown name %q%s; allowed: %s", value, engine.DidYouMean(value, names), strings.Join(names, ", "))
}

// share takes a number from 0 to 1.
func (v *checker) share(path string, x float64) {
	v.bad(!(x >= 0 && x <= 1), path, "%v: must be between 0 and 1", x)
}

// number takes what is finite and not negative.
func (v *checker) number(path string, x float64) {
	v.bad(!(x >= 0) || !finite(x), path, "%v: must be a number from 0", x)
}

// sigma takes the standard deviation of a logarithm. Beyond 5, where one standard
// deviation is a factor of 148, a few requests would have all the tokens.
func (v *checker) sigma(path string, x float64) {
	v.bad(!(x >= 0 && x <= 5), path, "%v: must be between 0 and 5", x)
}

// adapters checks that every name stands for one thing.
func (v *checker) adapters(path string, m Model) {
	for i, name := range m.Adapters {
		at := fmt.Sprintf("%s[%d]", path, i)
		v.given(at, name)
		v.bad(name == cmp.Or(m.Name, DefaultModel), at, "%q is the name of the model", name)
		v.bad(name != "" && slices.Contains(m.Adapters[:i], name), at, "%q names two adapters", name)
	}
}

func (v *checker) evidence(path string, e Evidence) {
	v.given(path+".name", e.Name)
	v.given(path+".log", e.Log)
	if e.Dialect != "" {
		v.oneOf(path+".dialect", e.Dialect, "vllm", "sglang")
	}
	v.number(path+".rate", e.Rate)
	v.bad(e.Concurrency < 0, path+".concurrency", "%d: must not be negative", e.Concurrency)
	v.bad(e.Requests < 1 || e.Requests > maxRequests, path+".requests", "%d: must be from 1 to %d", e.Requests, maxRequests)
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
	v.bad(len(e.Measured.Figures()) == 0, path+".measured", "holds no figure")
}

// maxRequests keeps totals and rounding exact.
const maxRequests = 1_000_000

// lengths checks that a total can spread over n requests as the law says.
func (v *checker) lengths(totalPath, path string, total, n int, l Lengths) {
	v.bad(total < n, totalPath, "%d: each of the %d requests has a token at least", total, n)
	v.oneOf(path+".law", l.Law, Fixed, Lognormal, Capped)
	v.sigma(path+".sigma", l.Sigma)
	v.share(path+".at_cap", l.AtCap)
	v.bad(l.Max < 0, path+".max", "%d: must not be negative", l.Max)
	v.bad(l.Law != Lognormal && l.Sigma != 0, path+".sigma", "belongs to the law lognormal")
	v.bad(l.Law != Capped && l.AtCap != 0, path+".at_cap", "belongs to the law capped")
	v.bad(l.Law == Fixed && l.Max != 0, path+".max", "belongs to the laws lognormal and capped")
	v.bad(l.Law == Fixed && total%n != 0, totalPath, "%d: does not spread evenly over %d requests", total, n)
	v.bad(l.Law == Capped && l.Max < 1, path+".max", "is missing")
	v.bad(l.Max > 0 && l.Max < math.MaxInt/maxRequests && total > n*l.Max, totalPath, "%d: is more than %d requests of %d tokens have", total, n, l.Max)
	if l.Law == Capped && l.Max > 0 && l.Max < math.MaxInt/maxRequests && l.AtCap >= 0 && l.AtCap <= 1 {
		capped := int(math.Round(l.AtCap * float64(n)))
		v.bad(total < capped*l.Max+n-capped, totalPath, "%d: is less than the %d requests at the cap have, and one token for each other", total, capped)
	}
}

func (v *checker) images(path string, m Images) {
	v.bad(!(m.Mean >= 1 && m.Mean <= engine.MaxContext), path+".mean", "%v: must be from 1 to %d", m.Mean, engine.MaxContext)
	v.sigma(path+".sigma", m.Sigma)
	v.share(path+".giant_share", m.GiantShare)
	v.bad(m.GiantShare > 0 && m.GiantTokens < 1, path+".giant_tokens", "%d: must be at least 1", m.GiantTokens)
	v.bad(m.GiantTokens < 0 || m.GiantTokens > engine.MaxContext, path+".giant_tokens", "%d: must be from 0 to %d", m.GiantTokens, engine.MaxContext)
}
