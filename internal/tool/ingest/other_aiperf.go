package ingest

import (
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// aiperfIsResult recognizes a profile of AIPerf, or of GenAI-Perf, which has the same names, by the
// shape of its latencies: statistics with a unit.
func aiperfIsResult(o *result.Object) bool { return metricsOf(o) != nil }

// metricsOf is where the metrics are: AIPerf's first versions had them in an
// object of their own.
func metricsOf(o *result.Object) *result.Object {
	for _, m := range []*result.Object{o, o.Object("records")} {
		if l := m.Object("request_latency"); l.Has("unit", "avg") {
			return m
		}
	}
	return nil
}

// terms are what they call the statistics; p50 is also their median.
var aiperfTerms = result.Names{{"avg", "mean"}, {"p50", "median"}, {"std", "std"}, {"min", "min"}, {"max", "max"}}

// aiperfUnits are how many of a unit a second has.
var aiperfUnits = map[string]float64{"ns": 1e9, "us": 1e6, "ms": result.Milliseconds, "s": 1, "sec": 1, "seconds": 1}

var aiperfNumbers = result.Names{
	{"request_count", figure.RequestsOK},
	{"error_request_count", figure.RequestsFailed},
	{"benchmark_duration", figure.Duration},
	{"total_isl", figure.InputTokens},
	{"total_input_tokens", figure.InputTokens},
	{"total_osl", figure.OutputTokens},
	{"total_output_tokens", figure.OutputTokens},
	{"request_throughput", figure.RequestThroughput},
	{"goodput", figure.Goodput},
	{"request_goodput", figure.Goodput},
	{"input_token_throughput", figure.InputThroughput},
	{"output_token_throughput", figure.OutputThroughput},
	{"total_token_throughput", figure.TotalThroughput},
	{"effective_concurrency", figure.Concurrency},
}

// latencies are distributions. ITL and ICL are these tools' own words: the
// first is a mean per request, the second are the gaps.
var aiperfLatencies = result.Names{
	{"time_to_first_token", "ttft"},
	{"inter_token_latency", "itl"},
	{"inter_chunk_latency", "icl"},
	{"request_latency", "e2el"},
}

// genaiPerf is the tool that AIPerf grew out of, with the same names.
const genaiPerf = "genai-perf"

func aiperfRead(r *result.Reading) {
	o := r.Object
	tool := "aiperf"
	if !o.Has("aiperf_version") && !o.Has("schema_version") && !o.Has("records") {
		tool = genaiPerf
	}
	f := r.Draft(tool)
	m := metricsOf(o)
	used := aiperfFigures(f, m)
	f.Settings("", o, func(name string) bool {
		root, _, _ := strings.Cut(name, ".")
		return used[root] || slices.Contains([]string{
			"records", "telemetry_data", "error_summary", "benchmark_id", "run_info.benchmark_id", "run_info.trial", "start_time", "end_time", "input_config.artifacts",
		}, name)
	})
	aiperfPlan(f, o)
	aiperfTimes(f, o)
}

// aiperfFigures adds the figures of the metrics, and reports their members. Metrics that other
// tools do not know give only the mean.
func aiperfFigures(f *result.PartialRun, m *result.Object) (used map[string]bool) {
	used = map[string]bool{}
	unit := func(o *result.Object) float64 {
		if u, ok := aiperfUnits[o.Text("unit")]; ok {
			return u
		}
		return 1
	}
	for _, n := range aiperfNumbers {
		if v, ok := m.Object(n[0]).Float("avg"); ok {
			f.Figure(n[1], v/unit(m.Object(n[0])))
		}
	}
	aiperfTokens(f, m)
	for _, n := range aiperfLatencies {
		o := m.Object(n[0])
		if _, known := aiperfUnits[o.Text("unit")]; o != nil && !known {
			f.Doubt(o.At, "%q is left out, since its unit %q is not known", n[0], o.Text("unit"))
			continue
		}
		f.Distribution(n[1], o, aiperfTerms, unit(o))
	}
	for _, name := range m.Names {
		o := m.Object(name)
		v, ok := o.Float("avg")
		if used[name] = ok && o.Has("unit"); used[name] && !aiperfNumbers.Has(name) && !aiperfLatencies.Has(name) {
			f.Figure(name+".mean", v/unit(o))
		}
	}
	return used
}

// aiperfTokens takes sums of tokens from the lengths where there is no count, and
// no failures where there is no count of any.
func aiperfTokens(f *result.PartialRun, m *result.Object) {
	ok, counted := f.Origin.Figure(figure.RequestsOK)
	if _, failed := f.Origin.Figure(figure.RequestsFailed); counted && !failed {
		f.Figure(figure.RequestsFailed, 0)
	}
	for _, n := range [][2]string{{"input_sequence_length", figure.InputTokens}, {"output_sequence_length", figure.OutputTokens}} {
		if mean, has := m.Object(n[0]).Float("avg"); has && counted {
			f.Figure(n[1], mean*ok.Value)
		}
	}
}

func aiperfPlan(f *result.PartialRun, o *result.Object) {
	p, config := &f.Run.Plan, o.Object("input_config")
	endpoint := config.Object("endpoint")
	p.Model = config.Object("models").List("items").First().Text("name")
	for _, l := range []*result.List{endpoint.List("model_names"), config.List("model_names"), config.List("model")} {
		if names := l.Values(); len(names) == 1 && p.Model == "" {
			p.Model, _ = names[0].(string)
		}
	}
	if urls := endpoint.List("urls").Values(); len(urls) > 0 {
		url, _ := urls[0].(string)
		p.URL = secret.Mask(url)
	}
	switch endpoint.Text("type") {
	case "chat", "completions":
		p.Protocol = endpoint.Text("type")
	}
	p.Stream = o.Has("inter_token_latency") || endpoint.Get("streaming") == true
	p.Requests = f.Requests()
	p.Percentiles = f.Percentiles()
	aiperfLoad(f, config)
	data := config.List("datasets").First()
	prompts := data.Object("prompts")
	mean := func(name string) int { return prompts.Object(name).Int("mean") }
	p.Workload = result.Synthetic(data.Text("type"), mean("isl"), mean("osl"))
	p.Seed = uint64(max(0, o.Object("run_info").Int("random_seed")))
}

// isProfiling reports whether a phase is measured. 0.10 tells it by the name, later versions by the
// kind, and leave out what was not set.
func isProfiling(phase *result.Object) bool {
	return phase.Text("kind") == "profiling" || phase.Text("kind") == "" && phase.Text("name") == "profiling"
}

// aiperfLoad finds the load where one of the versions keeps it.
func aiperfLoad(f *result.PartialRun, config *result.Object) {
	p := &f.Run.Plan
	kind := ""
	phases := []*result.Object{config.Object("loadgen"), config.Object("perf_analyzer", "stimulus"), config}
	all := config.List("phases").Values()
	for _, item := range all {
		if phase, ok := item.(*result.Object); ok && (isProfiling(phase) || len(all) == 1) {
			phases = append([]*result.Object{phase}, phases...)
			kind = phase.Text("type")
		}
	}
	for _, o := range phases {
		for _, name := range []string{"rate", "request_rate"} {
			if v, ok := o.Float(name); ok && p.Rate == 0 {
				p.Rate = max(0, v)
			}
		}
		if p.Concurrency == 0 {
			p.Concurrency = max(0, o.Int("concurrency"))
		}
	}
	p.Arrival = result.At(kind, p.Rate)
}

func aiperfTimes(f *result.PartialRun, o *result.Object) {
	const layout = "2006-01-02T15:04:05.999999"
	begin, err := time.ParseInLocation(layout, o.Text("start_time"), time.Local)
	if err != nil {
		begin, err = time.Parse(time.RFC3339Nano, o.Text("start_time"))
	}
	if err == nil {
		f.Run.Started = begin
	}
	d, ok := f.Origin.Figure(figure.Duration)
	f.Lasted(d.Value, ok)
}

func aiperfFormat() result.Format {
	return result.Format{
		Is: aiperfIsResult, Read: aiperfRead,
		Explain: func(o *result.Object) string {
			if o.Has("metadata", "metrics") && o.Object("metadata").Has("request_start_ns") {
				return "it is AIPerf's file of single requests: read profile_export_aiperf.json beside it"
			}
			return ""
		},
		Beside: []result.Side{
			{Result: "profile_export_aiperf.json", Files: []string{"inputs.json", "profile_export*.jsonl", "profile_export_console.txt", "*_export.json", "*_export.jsonl", "*_timeslices.json", "logs/*"}},
			{Result: "profile_export_genai_perf.json", Files: []string{"inputs.json", "profile_export.json", "*.log"}},
		},
	}
}

// AIPerf is AIPerf, and GenAI-Perf, which it grew out of. Like the others here it has no command line in Pitot.
func AIPerf() tool.Tool {
	return tool.Tool{Name: "aiperf", Program: "aiperf", Result: aiperfFormat(), Definitions: metrics.Definitions{
		Tool: "aiperf", Also: genaiPerf,
		Descriptions: map[figure.Metric]plan.Code{
			figure.TTFT: "definition.request-to-token", figure.ITL: "definition.gap-mean-as-itl",
			figure.ICL:  "definition.chunk-gaps-as-icl",
			figure.E2EL: "definition.request-to-last-token",
		},
		Truth: map[figure.Metric]plan.Code{
			figure.TTFT: metrics.ToFirstToken, figure.ITL: metrics.BetweenTokens,
			figure.ICL: metrics.Gaps, figure.E2EL: metrics.ToLastToken,
		},
	}}
}
