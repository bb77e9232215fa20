package ingest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// milliseconds are those in a second.
const milliseconds = 1000

// A naming is how a member of a result is called here.
type naming struct{ member, figure string }

// flat adds the members that a tool of the Python family has at the outermost
// level, and reports which of them are figures. What it measures in milliseconds
// says so in its name.
func (f *draft) flat(o *object, names []naming) (used map[string]bool) {
	used = map[string]bool{}
	for _, member := range o.names {
		name, unit := flatName(member, names)
		if name == "" {
			continue
		}
		used[member] = true
		switch v := o.values[member].(type) {
		case nil:
		case number:
			f.figure(name, v.float()/unit)
		case *list:
			f.eachOf(name, v)
		default:
			f.doubt(o.at, "%q is no number, so it is left out", member)
		}
	}
	return used
}

// doubt notes a part of the result that could not be read.
func (f *draft) doubt(at place, format string, a ...any) {
	f.problems = append(f.problems, &scanError{at, fmt.Sprintf(format, a...)})
}

// eachOf adds the numbers of a short array.
func (f *draft) eachOf(name string, l *list) {
	for i, item := range l.items {
		if n, ok := item.(number); ok {
			f.figure(name+"."+strconv.Itoa(i), n.float())
		}
	}
}

// families are the prefixes of members that belong together.
var families = []string{"spec_decode", "diffusion", "probe", "steady_state"}

// flatName is the name of a figure, "" for what is a setting.
func flatName(member string, names []naming) (figure string, unit float64) {
	unit = 1
	bare, inMilliseconds := strings.CutSuffix(member, "_ms")
	if inMilliseconds {
		unit = milliseconds
	}
	if i := slices.IndexFunc(names, func(n naming) bool { return n.member == member }); i >= 0 {
		return names[i].figure, unit
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
	if !inMilliseconds || !ok || !isStatistic(statistic) {
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

func isStatistic(s string) bool {
	_, ok := percentile(s)
	return ok || slices.Contains([]string{"mean", "median", "std", "min", "max"}, s)
}

// percentile reads p99 and p99.9.
func percentile(s string) (float64, bool) {
	digits, ok := strings.CutPrefix(s, "p")
	if !ok || !isNumber([]byte(digits)) {
		return 0, false
	}
	p, err := strconv.ParseFloat(digits, 64)
	return p, err == nil && p >= 0 && p <= 100
}

// distribution adds the statistics of o, whose members are called by the names
// in terms or pN, in a unit of which a second has so many.
func (f *draft) distribution(metric string, o *object, terms []naming, unit float64) {
	if o == nil {
		return
	}
	for _, t := range terms {
		if v, ok := o.float(t.member); ok {
			f.figure(metric+"."+t.figure, v/unit)
		}
	}
	for _, name := range o.names {
		if p, ok := percentile(name); ok {
			if v, ok := o.float(name); ok {
				f.figure(metric+".p"+strconv.FormatFloat(p, 'f', -1, 64), v/unit)
			}
		}
	}
}
