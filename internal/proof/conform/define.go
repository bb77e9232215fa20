package conform

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/tool/known"
)

// Formats lists the tools that have reports to compare with the server's own: Pitot, and each of the known ones that
// says what its latencies are of a server's writes.
func Formats() []metrics.Definitions {
	all := append(metrics.Rules{metrics.PitotDefinitions()}, known.Rules()...)
	return slices.DeleteFunc(all, func(d metrics.Definitions) bool { return d.Truth == nil })
}

// Definitions returns the definitions of a format, as stored in a report.
func Definitions(f metrics.Definitions) map[Metric]plan.Message {
	all := map[Metric]plan.Message{}
	for m, code := range f.Truth {
		all[m] = plan.Msg(code)
	}
	return all
}

// FormatNamed returns the format with that name.
func FormatNamed(name string) (metrics.Definitions, bool) {
	all := Formats()
	i := slices.IndexFunc(all, func(d metrics.Definitions) bool { return d.Tool == name })
	if i < 0 {
		return metrics.Definitions{}, false
	}
	return all[i], true
}

// FormatNames lists the names.
func FormatNames() (names []string) {
	for _, d := range Formats() {
		names = append(names, d.Tool)
	}
	return names
}
