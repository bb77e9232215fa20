package sglang

import (
	"errors"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// Tool is sglang.bench_serving.
func Tool() tool.Tool {
	return tool.Tool{
		Name: "sglang", Program: "sglang.bench_serving", Definitions: Definitions(), Result: result.Format{Is: isResult, Read: readResult},
		Report: report, Refuses: refuses, Forms: python.Names(Versions()), Datasets: Kinds(), Arrivals: Arrivals(),
		Plan: planOf,
		Log: &tool.Printout{
			Table: Table(), Settings: tableSettings,
			Lines: []string{
				"#Input tokens:", "#Output tokens:", "#Input text tokens:", "#Input vision tokens:", "Starting warmup", "Warmup completed",
			},
			Commands: `\bsglang\.(?:bench_serving|launch_server)\b|\bbench_serving\.py\b`,
		},
	}
}

func report(t *trace.Trace, form string) (tool.Report, error) { return NewReport(t, form) }

// refuses has nothing but the run's.
func refuses(trace.Run, []plan.Objective, []float64) error {
	return errors.New("--slo and --percentiles only apply to --dialect pitot and vllm")
}

// tableSettings are the arguments that a table tells.
func tableSettings(o *trace.Origin) tool.ReportedArgs {
	s := tool.ReportedArgs{}
	if limit := o.Setup["Max request concurrency"]; limit != "" && limit != "not set" {
		s["max_concurrency"] = limit
	}
	switch rate := o.Setup["Traffic request rate"]; rate {
	case "":
	case "trace":
		s["use_trace_timestamps"] = "True"
	default:
		s["request_rate"] = rate
	}
	if backend := o.Setup["Backend"]; backend != "" {
		s["backend"] = backend
	}
	return s
}

// planOf is the load that the reported arguments of a run ask for, as far as they go.
func planOf(args tool.ReportedArgs) trace.Load {
	p := args.Plan("sglang")
	args.Uncounted(&p, "random", "random-ids", "image", "sharegpt")
	a := &Args{DialectVersion: Main}
	a.bind()
	python.Fill(a.options, args)
	if a.Backend == args.Text("backend") {
		p.Protocol = a.protocol()
	}
	p.Workload = a.workload(args)
	if arrival := a.arrival(); a.UseTraceTimestamps || arrival.OwnTimes {
		p.Arrival = plan.Msg(workload.ArriveRecorded)
	} else if args.Has("request_rate") {
		p.Arrival = arrival.Describe()
	}
	return p
}

// drawn are the arguments without which a dataset that draws is no more than its name.
var drawn = map[string][]string{
	"random": {"random_input_len", "random_output_len"}, "random-ids": {"random_input_len", "random_output_len"}, "image": {"random_input_len", "random_output_len"},
	"generated-shared-prefix": {"gsp_num_groups", "gsp_prompts_per_group", "gsp_system_prompt_len", "gsp_question_len", "gsp_output_len"},
}

// workload is the workload, as far as it was reported.
func (a *Args) workload(args tool.ReportedArgs) plan.Message {
	switch name := args.Text("dataset_name"); {
	case name == "":
		return plan.Message{}
	case a.DatasetName != name || !args.Has(drawn[name]...):
		return workload.Describe(name, plan.Text(args.Text("dataset_path")))
	}
	d, _ := a.dataset("")
	return d.Describe()
}
