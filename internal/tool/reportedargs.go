package tool

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// ReportedArgs are the arguments of a run that a table, a log or a result reports: texts by name,
// with underscores, as Python shows them.
type ReportedArgs map[string]string

// Text is the first of some arguments that is reported and not None.
func (t ReportedArgs) Text(names ...string) string {
	for _, n := range names {
		if v := t[n]; v != "" && v != "None" {
			return v
		}
	}
	return ""
}

// Has reports whether all of the arguments are reported.
func (t ReportedArgs) Has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return t.Text(name) == "" })
}

func (t ReportedArgs) int(name string) int {
	n, err := python.ParseInt(t.Text(name))
	if err != nil {
		return 0
	}
	return max(0, n)
}

// Plan has the arguments that the tools share. Protocol, dataset and schedule are left to the tool.
func (t ReportedArgs) Plan(tool string) trace.Load {
	p := trace.Load{
		Dialect: tool, Stream: t.Text("disable_stream") != "True", Model: t.Text("model", "model_id"), Requests: t.int("num_prompts"),
		Seed: uint64(t.int("seed")), Concurrency: t.int("max_concurrency"), Ramp: t.Text("ramp_up_strategy") != "", URL: t.url(), Objectives: t.objectives(),
	}
	rate, err := python.ParseFloat(t.Text("request_rate"))
	if err == nil && rate > 0 && !math.IsInf(rate, 1) && !p.Ramp {
		p.Rate = rate
	}
	for percentile := range strings.SplitSeq(t.Text("metric_percentiles"), ",") {
		if v, err := python.ParseFloat(percentile); err == nil && v >= 0 && v <= 100 {
			p.Percentiles = append(p.Percentiles, v)
		}
	}
	return p
}

// Uncounted clears the number of requests without oversampling, or if the dataset is reported and
// not one of counted, which have num_prompts requests.
func (t ReportedArgs) Uncounted(p *trace.Load, counted ...string) {
	if name := t.Text("dataset_name"); name != "" && !slices.Contains(counted, name) || t.Text("no_oversample") == "True" {
		p.Requests = 0
	}
}

// url is that of the server, without what a URL can hold of secrets.
func (t ReportedArgs) url() string {
	url := t.Text("base_url")
	if url == "" && t.Has("host", "port") {
		url = "http://" + t["host"] + ":" + t["port"]
	}
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		url = url[:i]
	}
	return secret.Mask(url)
}

// objectives are the limits of goodput, given as a list of NAME:MILLISECONDS.
func (t ReportedArgs) objectives() (all []plan.Objective) {
	for _, item := range python.Strings(t.Text("goodput")) {
		name, limit, _ := strings.Cut(item, ":")
		ms, err := strconv.ParseFloat(limit, 64)
		if err == nil && ms > 0 && ms < 1e9 && slices.Contains([]string{"ttft", "tpot", "e2el"}, name) {
			all = append(all, plan.Objective{Metric: name, Limit: plan.Duration(ms * 1e6)})
		}
	}
	return all
}
