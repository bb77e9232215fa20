package report

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/compare"
)

// allAtOnce is the arrival that plans have words for, and that has a translation.
const allAtOnce = "all at once"

// loadOf says what load a workload is, by the settings that make it: what says nothing
// is left out, and what other words tell already.
func (w words) loadOf(settings []compare.Setting) string {
	value := map[string]string{}
	for _, s := range settings {
		value[s.Name] = s.Value
	}
	var parts []string
	add := func(when bool, format, text string) {
		if when && text != "" {
			parts = append(parts, strings.Replace(format, "%s", text, 1))
		}
	}
	workload, arrival, limit := value["workload"], value["arrival"], value["concurrency"]
	add(true, "%s", workload)
	add(!strings.Contains(workload, "requests"), w.requestsOf, value["requests"])
	add(workload == "", w.inputEach, value["input-length"])
	if arrival == allAtOnce {
		arrival = w.atOnce
	}
	add(true, "%s", arrival)
	add(arrival == "" && value["rate"] != "none", w.atRate, value["rate"])
	add(value["ramp"] == "true", w.ramped, "true")
	add(limit != "no limit", w.inFlight, limit)
	add(true, "%s", value["protocol"])
	add(value["stream"] == "false", w.unstreamed, "false")
	for _, s := range settings {
		add(!slices.Contains(loadNames, s.Name), s.Name+" %s", s.Value)
	}
	return strings.Join(parts, w.comma)
}

// loadNames are the settings that loadOf has words for.
var loadNames = []string{"workload", "requests", "input-length", "arrival", "rate", "ramp", "concurrency", "protocol", "stream"}
