package ingest

import (
	"cmp"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// plan is what a table and what stands around it tell of what was asked for.
func (r *Reader) plan(o *trace.Origin, a *surroundings) trace.Load {
	t := r.tool(o.Tool)
	s := t.Log.Settings(o)
	if n := result.Sent(o); n > 0 {
		s["num_prompts"] = strconv.Itoa(n)
	}
	maps.Copy(s, a.traffic)
	maps.Copy(s, a.settings)
	p := t.Plan(s)
	p.Requests = cmp.Or(p.Requests, result.Sent(o))
	return p
}

// contradiction is where the settings of a Namespace are not those of the table
// below it, "" if nowhere.
func (r *Reader) contradiction(o *trace.Origin, settings map[string]string) string {
	if len(settings) == 0 {
		return ""
	}
	t := r.tool(o.Tool)
	p, told := t.Plan(settings), t.Log.Settings(o)
	limit, rate := told["max_concurrency"], told["request_rate"]
	if n, err := strconv.Atoi(limit); err == nil && settings["max_concurrency"] != "" && n != p.Concurrency {
		return "max_concurrency " + settings["max_concurrency"] + ", the table " + limit
	}
	if v, err := strconv.ParseFloat(rate, 64); err == nil && !math.IsInf(v, 0) && settings["request_rate"] != "" && math.Abs(v-p.Rate) > 0.0051 {
		return "request_rate " + settings["request_rate"] + ", the table " + rate
	}
	if n := result.Sent(o); settings["num_prompts"] != "" && p.Requests > 0 && n > p.Requests {
		return "num_prompts " + settings["num_prompts"] + ", the table " + strconv.Itoa(n)
	}
	return ""
}

// server is the server's name and version, as lines around a table tell them.
func (r *Reader) server(around []string, tool string) string {
	found := ""
	for _, text := range around {
		m := r.version.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		name := strings.ToLower(m[1])
		if found == "" || name == tool {
			found = name + " " + m[2]
		}
	}
	return found
}
