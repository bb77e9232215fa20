package ingest

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/argparse"
)

// limitLabels and rateLabels are where the tables tell the load.
var (
	limitLabels = map[string]string{"vllm": "Maximum request concurrency", "sglang": "Max request concurrency"}
	rateLabels  = map[string]string{"vllm": "Request rate configured (RPS)", "sglang": "Traffic request rate"}
)

// sent is how many requests a table counts.
func sent(o *trace.Origin) int {
	n := 0
	for _, name := range []string{"requests.ok", "requests.failed"} {
		if f, ok := o.Figure(name); ok && f.Value > 0 && f.Value < math.MaxInt32 {
			n += int(f.Value)
		}
	}
	return n
}

// planOf is what a table and what stands around it tell of what was asked for.
func planOf(o *trace.Origin, a *surroundings) trace.Plan {
	s := argparse.Settings{}
	if n := sent(o); n > 0 {
		s["num_prompts"] = strconv.Itoa(n)
	}
	limit, rate := o.Setup[limitLabels[o.Tool]], o.Setup[rateLabels[o.Tool]]
	if limit != "" && limit != "not set" {
		s["max_concurrency"] = limit
	}
	_, saysRate := a.traffic["request_rate"]
	switch {
	case rate == "trace":
		s["use_trace_timestamps"] = "True"
	case rate != "":
		s["request_rate"] = rate
	case o.Tool == "vllm" && hasRateRow(o):
		s["request_rate"] = "inf"
	}
	if backend := o.Setup["Backend"]; backend != "" {
		s["backend"] = backend
	}
	maps.Copy(s, a.traffic)
	maps.Copy(s, a.settings)
	p := s.Plan(o.Tool)
	if o.Tool == "vllm" && p.Rate > 0 && !p.Ramp && !saysRate && a.settings["request_rate"] == "" {
		p.Arrival = plan.Text(fmt.Sprintf("%g req/s", p.Rate)) // by which process nobody says
	}
	return p
}

// hasRateRow reports whether a table of vLLM's would tell a rate: it is whole where
// the row stands, and has rows that are younger.
func hasRateRow(o *trace.Origin) bool {
	has := func(name string) bool {
		_, ok := o.Figure(name)
		return ok
	}
	return has("requests.ok") && has("duration") && (has("requests.failed") || has("peak.concurrency"))
}

// contradiction is where the settings of a Namespace are not those of the table
// below it, "" if nowhere.
func contradiction(o *trace.Origin, settings map[string]string) string {
	p := argparse.Settings(settings).Plan(o.Tool)
	limit, rate := o.Setup[limitLabels[o.Tool]], o.Setup[rateLabels[o.Tool]]
	if n, err := strconv.Atoi(limit); err == nil && settings["max_concurrency"] != "" && n != p.Concurrency {
		return "max_concurrency " + settings["max_concurrency"] + ", the table " + limit
	}
	if v, err := strconv.ParseFloat(rate, 64); err == nil && !math.IsInf(v, 0) && settings["request_rate"] != "" && math.Abs(v-p.Rate) > 0.0051 {
		return "request_rate " + settings["request_rate"] + ", the table " + rate
	}
	if n := sent(o); settings["num_prompts"] != "" && n > p.Requests {
		return "num_prompts " + settings["num_prompts"] + ", the table " + strconv.Itoa(n)
	}
	return ""
}

// serverLine is a line of a listing or of a server that tells its version.
var serverLine = regexp.MustCompile(`^(?i:(vllm|sglang)(?:==|\s+|\s*(?:version)?\s*[:：]\s*)|(vLLM) API server version )v?(\d\S*)`)

// server is the server's name and version, as lines around a table tell them.
func server(around []string, tool string) string {
	found := ""
	for _, text := range around {
		m := serverLine.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		name := strings.ToLower(m[1] + m[2])
		if found == "" || name == tool {
			found = name + " " + m[3]
		}
	}
	return found
}
