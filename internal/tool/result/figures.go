package result

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// IsFinite reports whether a value is a number.
func IsFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Milliseconds are those in a second.
const Milliseconds = 1000

// Names are how members of a result are called here: pairs of a member and a figure.
type Names [][2]string

// Has reports whether a member has a name.
func (n Names) Has(member string) bool {
	return slices.ContainsFunc(n, func(pair [2]string) bool { return pair[0] == member })
}

// Flat adds the members that a tool of the Python family has at the outermost
// level, and reports which of them are figures. What it measures in milliseconds
// says so in its name.
func (f *PartialRun) Flat(o *Object, named Names) (used map[string]bool) {
	used = map[string]bool{}
	for _, member := range o.Names {
		name, unit := flatName(member, named)
		if name == "" {
			continue
		}
		used[member] = true
		switch v := o.Values[member].(type) {
		case nil:
		case Number:
			f.Figure(name, v.Float()/unit)
		case *List:
			for i, item := range v.Items {
				if n, ok := item.(Number); ok {
					f.Figure(name+"."+strconv.Itoa(i), n.Float())
				}
			}
		default:
			f.Doubt(o.At, "%q is no number, so it is left out", member)
		}
	}
	return used
}

// Add adds a member of o, if it is a number.
func (f *PartialRun) Add(figure string, o *Object, member string) {
	if v, ok := o.Float(member); ok {
		f.Figure(figure, v)
	}
}

// Lasted says how long the run took, in seconds.
func (f *PartialRun) Lasted(seconds float64, ok bool) {
	if ok && seconds >= 0 && seconds < maxRun {
		f.Run.End = instant(seconds)
	}
}

// Doubt notes a part of the result that could not be read.
func (f *PartialRun) Doubt(at place, format string, a ...any) {
	f.problems = append(f.problems, &scanError{at, fmt.Sprintf(format, a...)})
}

// families are the prefixes of members that belong together.
var families = []string{"spec_decode", "diffusion", "probe", "steady_state"}

// flatName is the name of a figure, "" for a setting.
func flatName(member string, named Names) (name string, unit float64) {
	unit = 1
	bare, inMilliseconds := strings.CutSuffix(member, "_ms")
	if inMilliseconds {
		unit = Milliseconds
	}
	if i := slices.IndexFunc(named, func(n [2]string) bool { return n[0] == member }); i >= 0 {
		return named[i][1], unit
	}
	if strings.HasSuffix(member, "_acceptance_rate") {
		return "", 0 // in percent, unlike all others
	}
	for _, family := range families {
		if rest, ok := strings.CutPrefix(bare, family+"_"); ok {
			return family + "." + rest, unit
		}
	}
	statistic, metric, ok := strings.Cut(bare, "_")
	if !inMilliseconds || !ok || !figure.IsStatistic(statistic) {
		return "", 0
	}
	return metricName(metric) + "." + statistic, unit
}

// metricName is the common name of a metric, or the tool's own.
func metricName(metric string) string {
	switch metric {
	case "e2e_latency":
		return "e2el"
	case "client_queue_time":
		return "queue"
	case "e2el_including_client_queue":
		return "e2el_queue"
	}
	return metric
}

// Distribution adds the statistics of o, whose members are called by the names
// in terms or pN, in a unit of which a second has so many.
func (f *PartialRun) Distribution(metric string, o *Object, terms Names, unit float64) {
	for _, t := range terms {
		if v, ok := o.Float(t[0]); ok {
			f.Figure(metric+"."+t[1], v/unit)
		}
	}
	for name := range o.All() {
		if p, ok := figure.ParsePercentile(name); ok {
			if v, ok := o.Float(name); ok {
				f.Figure(metric+".p"+strconv.FormatFloat(p, 'f', -1, 64), v/unit)
			}
		}
	}
}

// Requests is how many there were, as the figures tell.
func (f *PartialRun) Requests() int { return Sent(f.Origin) }

// Sent is how many requests a tool counts.
func Sent(o *trace.Origin) (n int) {
	for _, name := range []string{figure.RequestsOK, figure.RequestsFailed, "requests.incomplete"} {
		f, ok := o.Figure(name)
		n += max(0, toInt(f.Value, ok))
	}
	return n
}

// Percentiles are those that a result has of any metric.
func (f *PartialRun) Percentiles() (all []float64) {
	for _, one := range f.Origin.Figures {
		_, statistic := figure.Split(one.Name)
		if p, ok := figure.ParsePercentile(statistic); ok && figure.Known(one.Name) && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}
