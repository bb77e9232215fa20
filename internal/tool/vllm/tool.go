package vllm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// Tool is `vllm bench serve`.
func Tool() tool.Tool {
	return tool.Tool{
		Name: "vllm", Program: "vllm bench serve", Definitions: Definitions(), Result: Format(),
		Report: report, Refuses: refuses, Forms: python.Names(Versions()), Datasets: Kinds(), Arrivals: Arrivals(),
		Plan: planOf,
		Log: &tool.Printout{
			Table: Table(), Settings: tableSettings, Load: readLoad,
			Lines: []string{
				"Starting initial single prompt test run", "Initial test run completed", "Traffic request rate:", "Traffic ramp-up strategy:",
				"Will increase RPS from", "Burstiness factor:", "Maximum request concurrency:", "vLLM API server version",
			},
			Commands: `\bvllm(?:-rs)? (?:bench )?serve\b|\bvllm-bench\b|\bbenchmark_serving\.py\b|\bvllm\.entrypoints\b`,
		},
	}
}

func report(t *trace.Trace, form string) (tool.Report, error) { return NewReport(t, form) }

// refuses knows no objective on ITL, and none but those of its own command line.
func refuses(run trace.Run, objectives []plan.Objective, _ []float64) error {
	switch {
	case run.Plan.Dialect == "vllm":
		return fmt.Errorf("run %s has the objectives and percentiles of its own command line; --slo and --percentiles only apply to --dialect pitot", run.ID)
	case slices.ContainsFunc(objectives, func(o plan.Objective) bool { return o.Metric == string(figure.ITL) }):
		return errors.New("--slo itl: vllm knows objectives on ttft, tpot and e2el")
	case slices.ContainsFunc(objectives, plan.Objective.OfRun):
		return errors.New("--slo: vllm knows objectives of each request alone, such as ttft=200ms")
	}
	return nil
}

// tableSettings are the arguments that a table tells. By which process requests arrived
// it does not.
func tableSettings(o *trace.Origin) tool.ReportedArgs {
	s := tool.ReportedArgs{}
	if limit := o.Setup["Maximum request concurrency"]; limit != "" {
		s["max_concurrency"] = limit
	}
	if rate := o.Setup["Request rate configured (RPS)"]; rate != "" {
		s["request_rate"] = rate
	} else if reportsRate(o) {
		s["request_rate"] = "inf"
	}
	return s
}

// planOf is the load that the reported arguments of a run ask for, as far as they go.
func planOf(args tool.ReportedArgs) trace.Load {
	p := args.Plan("vllm")
	args.Uncounted(&p, "random", "random-mm", "random-rerank", "sharegpt", "sonnet", "burstgpt", "custom", "hf")
	p.Protocol = backendsByName[args.Text("backend", "endpoint_type")].protocol
	a := defaults("", V2611)
	python.Fill(a.options, args)
	p.Workload = a.workload(args)
	switch arrival := a.arrival(); {
	case args.Text("self_timed") == "True":
		p.Arrival = plan.Msg(workload.ArriveRecorded)
	case p.Rate > 0 && !args.Has("burstiness"):
		p.Arrival = plan.Msg(workload.ArriveUnknown, "rate", p.Rate)
	case p.Ramp || args.Has("request_rate"):
		p.Arrival = arrival.Describe()
	}
	return p
}

// lengths are the arguments without which a dataset that draws is no more than its name.
var lengths = map[string][]string{
	"random": {"random_input_len", "random_output_len"}, "random-mm": {"random_input_len", "random_output_len"}, "random-rerank": {"random_input_len"},
	"prefix_repetition": {"prefix_repetition_num_prefixes", "prefix_repetition_prefix_len", "prefix_repetition_suffix_len", "prefix_repetition_output_len"},
}

// workload is the workload, as far as it was reported.
func (a *Args) workload(args tool.ReportedArgs) plan.Message {
	name := args.Text("dataset_name")
	d, _, err := a.dataset()
	switch {
	case name == "":
		return plan.Message{}
	case err != nil || a.DatasetName != name || !args.Has(lengths[name]...):
		return workload.Describe(name, plan.Text(args.Text("dataset_path")))
	}
	_ = d.Check(&workload.Source{Ask: workload.Ask{Protocol: a.protocol(), Silent: a.backend().pooling}}) // it is over
	return d.Describe()
}

// reportsRate reports whether a table would have a rate: all lines up to that row are there, and so
// are rows of newer versions.
func reportsRate(o *trace.Origin) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(o.Figures, func(f trace.ReportedFigure) bool { return f.Name == name })
	}
	return has(figure.RequestsOK) && has(figure.Duration) && (has(figure.RequestsFailed) || has(figure.PeakConcurrency))
}

// How the tool tells of a rate that rises.
var (
	ramp     = lazy.Regexp(`^Traffic ramp-up strategy: (\w+)`)
	rampFrom = lazy.Regexp(`(\d+) to (\d+) RPS`)
)

// readLoad reads what the tool says of the load ahead of a run.
func readLoad(line string, into tool.ReportedArgs) {
	if m := ramp.FindStringSubmatch(line); m != nil {
		into["ramp_up_strategy"] = m[1]
	}
	if m := rampFrom.FindStringSubmatch(line); m != nil {
		into["ramp_up_start_rps"], into["ramp_up_end_rps"] = m[1], m[2]
	}
	label, value, _ := strings.Cut(line, ":")
	value, _, _ = strings.Cut(strings.TrimSpace(value), " ")
	switch label {
	case "Traffic request rate":
		into["request_rate"] = strings.TrimSuffix(value, ".")
	case "Burstiness factor":
		into["burstiness"] = value
	}
}
