package ingest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// isAIPerf knows a profile of AIPerf, or of GenAI-Perf whose names it kept, by
// the shape of its latencies: statistics with a unit.
func isAIPerf(o *object) bool { return aiperfMetrics(o) != nil }

// aiperfMetrics is where the metrics are: AIPerf's first versions had them in an
// object of their own.
func aiperfMetrics(o *object) *object {
	for _, m := range []*object{o, o.object("records")} {
		if l := m.object("request_latency"); l.has("unit", "avg") {
			return m
		}
	}
	return nil
}

// aiperfTerms are what they call the statistics; p50 is also their median.
var aiperfTerms = []naming{{"avg", "mean"}, {"p50", "median"}, {"std", "std"}, {"min", "min"}, {"max", "max"}}

// aiperfUnits are how many of a unit a second has.
var aiperfUnits = map[string]float64{"ns": 1e9, "us": 1e6, "ms": milliseconds, "s": 1, "sec": 1, "seconds": 1}

// aiperfNumbers are metrics of one number.
var aiperfNumbers = []naming{
	{"request_count", "requests.ok"},
	{"error_request_count", "requests.failed"},
	{"benchmark_duration", "duration"},
	{"total_isl", "tokens.input"},
	{"total_input_tokens", "tokens.input"},
	{"total_osl", "tokens.output"},
	{"total_output_tokens", "tokens.output"},
	{"request_throughput", "throughput.requests"},
	{"goodput", "goodput"},
	{"request_goodput", "goodput"},
	{"input_token_throughput", "throughput.input"},
	{"output_token_throughput", "throughput.output"},
	{"total_token_throughput", "throughput.total"},
	{"effective_concurrency", "concurrency"},
}

// aiperfLatencies are distributions. ITL and ICL are these tools' own words: the
// first is a mean per request, the second are the gaps.
var aiperfLatencies = []naming{
	{"time_to_first_token", "ttft"},
	{"inter_token_latency", "itl"},
	{"inter_chunk_latency", "icl"},
	{"request_latency", "e2el"},
}

func readAIPerf(r *reading) {
	o := r.object
	tool := "aiperf"
	if !o.has("aiperf_version") && !o.has("schema_version") && !o.has("records") {
		tool = "genai-perf"
	}
	f := r.draft(tool)
	m := aiperfMetrics(o)
	used := f.aiperfFigures(m)
	f.settings("", o, func(name string) bool {
		root, _, _ := strings.Cut(name, ".")
		return used[root] || slices.Contains([]string{
			"records", "telemetry_data", "error_summary", "benchmark_id", "run_info.benchmark_id", "run_info.trial", "start_time", "end_time", "input_config.artifacts",
		}, name)
	})
	f.aiperfPlan(o)
	f.aiperfTime(o)
}

// aiperfFigures adds what the metrics say, and reports which members they are. Of
// metrics that other tools do not know the mean is kept.
func (f *draft) aiperfFigures(m *object) (used map[string]bool) {
	used = map[string]bool{}
	unit := func(o *object) float64 {
		if u, ok := aiperfUnits[o.text("unit")]; ok {
			return u
		}
		return 1
	}
	for _, n := range aiperfNumbers {
		if v, ok := m.object(n.member).float("avg"); ok {
			f.figure(n.figure, v/unit(m.object(n.member)))
		}
	}
	f.aiperfTokens(m)
	for _, n := range aiperfLatencies {
		o := m.object(n.member)
		if _, known := aiperfUnits[o.text("unit")]; o != nil && !known {
			f.doubt(o.at, "%q is left out, since its unit %q is not known", n.member, o.text("unit"))
			continue
		}
		f.distribution(n.figure, o, aiperfTerms, unit(o))
	}
	named := func(all []naming, name string) bool {
		return slices.ContainsFunc(all, func(n naming) bool { return n.member == name })
	}
	for _, name := range m.names {
		o := m.object(name)
		v, ok := o.float("avg")
		if used[name] = ok && o.has("unit"); used[name] && !named(aiperfNumbers, name) && !named(aiperfLatencies, name) {
			f.figure(name+".mean", v/unit(o))
		}
	}
	return used
}

// aiperfTokens takes sums of tokens from the lengths where there is no count, and
// no failures where there is no count of any.
func (f *draft) aiperfTokens(m *object) {
	ok, counted := f.origin.Figure("requests.ok")
	if _, failed := f.origin.Figure("requests.failed"); counted && !failed {
		f.figure("requests.failed", 0)
	}
	for _, n := range []naming{{"input_sequence_length", "tokens.input"}, {"output_sequence_length", "tokens.output"}} {
		if mean, has := m.object(n.member).float("avg"); has && counted {
			f.figure(n.figure, mean*ok.Value)
		}
	}
}

func (f *draft) aiperfPlan(o *object) {
	p, config := &f.Run.Plan, o.object("input_config")
	endpoint := config.object("endpoint")
	p.Model = config.object("models").list("items").first().text("name")
	for _, l := range []*list{endpoint.list("model_names"), config.list("model_names"), config.list("model")} {
		if l != nil && len(l.items) == 1 && p.Model == "" {
			p.Model, _ = l.items[0].(string)
		}
	}
	if urls := endpoint.list("urls"); urls != nil && len(urls.items) > 0 {
		url, _ := urls.items[0].(string)
		p.URL = maskValue(url)
	}
	switch endpoint.text("type") {
	case "chat", "completions":
		p.Protocol = endpoint.text("type")
	}
	p.Stream = o.has("inter_token_latency") || endpoint.get("streaming") == true
	p.Requests = f.requests()
	p.Percentiles = f.percentiles()
	f.aiperfLoad(config)
	data := config.list("datasets").first()
	prompts := data.object("prompts")
	mean := func(name string) int { return prompts.object(name).int("mean") }
	p.Workload = plan.Text(syntheticWorkload(data.text("type"), mean("isl"), mean("osl"), p.Requests))
	p.Seed = uint64(max(0, o.object("run_info").int("random_seed")))
}

// aiperfLoad finds the load where one of the versions keeps it.
func (f *draft) aiperfLoad(config *object) {
	p := &f.Run.Plan
	kind := ""
	phases := []*object{config.object("loadgen"), config.object("perf_analyzer", "stimulus"), config}
	if l := config.list("phases"); l != nil {
		for _, item := range l.items {
			if phase, ok := item.(*object); ok && (phase.text("kind") == "profiling" || l.n == 1) {
				phases = append([]*object{phase}, phases...)
				kind = phase.text("type")
			}
		}
	}
	for _, o := range phases {
		for _, name := range []string{"rate", "request_rate"} {
			if v, ok := o.float(name); ok && p.Rate == 0 {
				p.Rate = max(0, v)
			}
		}
		if p.Concurrency == 0 {
			p.Concurrency = max(0, o.int("concurrency"))
		}
	}
	switch {
	case p.Rate > 0 && kind != "":
		p.Arrival = plan.Text(fmt.Sprintf("%s %g req/s", kind, p.Rate))
	case p.Rate > 0:
		p.Arrival = plan.Text(fmt.Sprintf("%g req/s", p.Rate))
	default:
		p.Arrival = plan.Text("all at once")
	}
}

func (f *draft) aiperfTime(o *object) {
	const layout = "2006-01-02T15:04:05.999999"
	begin, err := time.ParseInLocation(layout, o.text("start_time"), time.Local)
	if err != nil {
		begin, err = time.Parse(time.RFC3339Nano, o.text("start_time"))
	}
	if err == nil {
		f.Run.Started = begin
	}
	if d, ok := f.origin.Figure("duration"); ok && d.Value >= 0 && d.Value < maxRun {
		f.Run.End = instant(d.Value)
	}
}
