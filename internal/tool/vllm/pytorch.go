package vllm

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// pytorchMetrics are the figures that become records of their own, in this order.
var pytorchMetrics = []string{
	"median_ttft_ms", "mean_ttft_ms", "std_ttft_ms", "p99_ttft_ms",
	"mean_tpot_ms", "median_tpot_ms", "std_tpot_ms", "p99_tpot_ms",
	"median_itl_ms", "mean_itl_ms", "std_itl_ms", "p99_itl_ms",
}

// PyTorch is the content of the file that the tool writes in addition to its result for
// the PyTorch benchmark database, of a run of this command line: a list with one record
// per figure. It is nil when none of the figures was computed.
func (r *Report) PyTorch(a *Args) ([]byte, error) {
	result, err := r.decoded()
	if err != nil {
		return nil, err
	}
	extra := map[string]any{}
	for name, v := range result {
		if !slices.Contains(pytorchMetrics, name) && !slices.Contains([]string{"ttfts", "itls", "generated_texts", "errors", "server_queue_times", "server_ttfts"}, name) {
			extra[name] = v
		}
	}
	var records []any
	for _, name := range pytorchMetrics {
		if v, ok := result[name]; ok {
			records = append(records, r.pytorchRecord(a, name, v, extra))
		}
	}
	if records == nil {
		return nil, nil
	}
	return json.Marshal(records)
}

func (r *Report) pytorchRecord(a *Args, name string, value any, extra map[string]any) any {
	type object = map[string]any
	return object{
		"benchmark": object{"name": "vLLM benchmark", "extra_info": r.pytorchRun(a.values(), extra)},
		"model":     object{"name": a.Model},
		"metric":    object{"name": name, "benchmark_values": []any{value}, "extra_info": extra},
	}
}

// pytorchRun says how the run was made. What a client cannot know of the server
// is taken from --metadata, and from the name of the result file.
func (r *Report) pytorchRun(args, extra map[string]any) map[string]any {
	if tp, ok := extra["tensor_parallel_size"]; ok {
		args["tensor_parallel_size"] = tp
	}
	run := map[string]any{"args": args}
	for _, name := range []string{"compilation_config.mode", "optimization_level"} {
		run[name] = ""
		if v, ok := extra[name]; ok {
			run[name] = v
		}
	}
	eager := strings.Contains(python.Value(r.ResultFilename), "eager")
	run["use_compile"] = !eager && run["compilation_config.mode"] != "0"
	return run
}

// values are all arguments as they stand when the tool has filled in what
// follows from others, header values masked.
func (a *Args) values() map[string]any {
	m := map[string]any{}
	for name, v := range python.AllValues(a.options) {
		m[name] = jsonValue(v)
	}
	if a.Header != nil {
		m["header"] = "***"
	}
	m["ignore_eos"], m["self_timed"] = a.sendIgnoreEOS(), false
	if f, err := python.ParseFloat(a.RandomRangeRatio); err == nil {
		m["random_range_ratio"] = jsonValue(f)
	} else if json.Valid([]byte(a.RandomRangeRatio)) {
		m["random_range_ratio"] = json.RawMessage(a.RandomRangeRatio)
	}
	if a.InputLen != nil {
		m["random_input_len"] = *a.InputLen
	}
	if a.OutputLen != nil {
		for _, dataset := range []string{"random", "sharegpt", "custom", "hf", "spec_bench", "prefix_repetition"} {
			m[dataset+"_output_len"] = *a.OutputLen
		}
	}
	return m
}

// jsonValue is a value in the form of the PyTorch file: a float keeps its point,
// what JSON has no number for is in words, and buckets are an object.
func jsonValue(v any) any {
	switch x := v.(type) {
	case float64:
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return python.Float(x)
		}
		return json.RawMessage(python.Float(x))
	case *float64:
		if x != nil {
			return jsonValue(*x)
		}
	case []workload.Bucket:
		m := map[string]any{}
		for _, b := range x {
			m[b.String()] = jsonValue(b.P)
		}
		return m
	}
	return v
}

// decoded is the result file as a JSON value; a bare Infinity, which is not
// JSON, is read as a string.
func (r *Report) decoded() (map[string]any, error) {
	text := strings.ReplaceAll(string(r.Result()), `"burstiness": Infinity`, `"burstiness": "inf"`)
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		return nil, fmt.Errorf("read the result back: %w", err)
	}
	return m, nil
}
