package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
)

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
	add(true, "%s", w.foreign(workload))
	add(!strings.Contains(workload, "requests"), w.requestsOf, value["requests"])
	add(workload == "", w.inputEach, short(value["input-length"]))
	add(true, "%s", w.foreign(arrival))
	add(arrival == "" && value["rate"] != "none", w.atRate, value["rate"])
	add(value["ramp"] == "true", w.ramped, "true")
	add(limit != "no limit", w.inFlight, limit)
	add(true, w.through, value["protocol"])
	add(value["stream"] == "false", w.unstreamed, "false")
	for _, s := range settings {
		add(!slices.Contains(loadNames, s.Name), w.setting(s.Name)+" %s", s.Value)
	}
	return strings.Join(parts, w.comma)
}

// short is a number in the digits that tell a load.
func short(number string) string {
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return number
	}
	return strconv.FormatFloat(v, 'f', decimalsOf(v, 4, 1), 64)
}

// loadNames are the settings that loadOf has words for.
var loadNames = []string{"workload", "requests", "input-length", "arrival", "rate", "ramp", "concurrency", "protocol", "stream"}
