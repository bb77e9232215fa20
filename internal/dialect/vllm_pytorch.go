package dialect

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// pytorchMetrics are the figures that become records of their own.
var pytorchMetrics = func() []string {
	var names []string
	for _, metric := range []string{"ttft", "tpot", "itl"} {
		for _, statistic := range []string{"median", "mean", "std", "p99"} {
			names = append(names, statistic+"_"+metric+"_ms")
		}
	}
	return names
}()

// PyTorch is the content of the file that the tool writes beside its result for
// the PyTorch benchmark database: a list with one record a figure. It is nil
// when none of the figures was computed.
func (r *VLLMReport) PyTorch() ([]byte, error) {
	result, err := r.decoded()
	if err != nil {
		return nil, err
	}
	extra := map[string]any{}
	for name, v := range result {
		if !slices.Contains(pytorchMetrics, name) && !slices.Contains([]string{"ttfts", "itls", "generated_texts", "errors"}, name) {
			extra[name] = v
		}
	}
	var records []any
	for _, name := range pytorchMetrics {
		if v, ok := result[name]; ok {
			records = append(records, r.pytorchRecord(name, v, extra))
		}
	}
	if records == nil {
		return nil, nil
	}
	return json.Marshal(records)
}

func (r *VLLMReport) pytorchRecord(name string, value any, extra map[string]any) any {
	type object = map[string]any
	return object{
		"benchmark": object{"name": "vLLM benchmark", "extra_info": object{"args": r.Args.values()}},
		"model":     object{"name": r.Args.Model},
		"metric":    object{"name": name, "benchmark_values": []any{value}, "extra_info": extra},
	}
}

// values are all arguments, header values masked and infinities in words.
func (a *VLLMArgs) values() map[string]any {
	m := map[string]any{}
	for _, o := range a.options {
		if o.value == nil {
			continue
		}
		v := o.value()
		if f, ok := v.(float64); ok && math.IsInf(f, 0) {
			v = reprFloat(f)
		}
		m[strings.ReplaceAll(o.name, "-", "_")] = v
	}
	if a.Header != nil {
		m["header"] = "***"
	}
	metadata, _ := a.metadata() // checked
	for _, kv := range metadata {
		if kv[0] == "tensor_parallel_size" {
			m[kv[0]] = kv[1]
		}
	}
	return m
}

// decoded is the result file as a JSON value; a bare Infinity, which is not
// JSON, is read as a string.
func (r *VLLMReport) decoded() (map[string]any, error) {
	text := strings.ReplaceAll(string(r.Result()), `"burstiness": Infinity`, `"burstiness": "inf"`)
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		return nil, fmt.Errorf("read the result back: %w", err)
	}
	return m, nil
}
