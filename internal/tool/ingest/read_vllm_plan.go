package ingest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/tool/argparse"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// vllmForeign keeps the command line that writes such a result, as far as the
// result tells, so that its report can be printed as that of our own runs.
func (f *draft) vllmForeign(o *object) {
	p := &f.Run.Plan
	args := f.vllmArgs(o)
	a, err := vllm.Parse(args, "")
	if err != nil { // a backend or a ramp of somebody else's
		args = slices.DeleteFunc(args, func(arg string) bool {
			return strings.HasPrefix(arg, "--backend=") || strings.HasPrefix(arg, "--ramp-up")
		})
		if a, err = vllm.Parse(args, ""); err != nil {
			f.Run.Notes = append(f.Run.Notes, plan.Text("its settings make no command line of vLLM's: "+err.Error()))
			a, args = new(vllm.Args), nil
		}
	}
	p.Objectives, _ = a.Objectives()
	foreign, err := a.Foreign(args, p.Model, argparse.Mask(o.text("tokenizer_id")))
	if err == nil {
		p.Foreign = foreign
	}
	f.Run.ServerCounters = specCounters(o)
}

// vllmArgs are the flags for which a result has a member. A result file's
// --goodput is known only from the arguments in a file for the PyTorch benchmark
// database.
func (f *draft) vllmArgs(o *object) (args []string) {
	add := func(flag, value string) {
		if value != "" && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' }) {
			args = append(args, "--"+flag+"="+maskValue(value))
		}
	}
	add("backend", f.origin.Setup["backend"])
	add("model", f.Run.Plan.Model)
	add("tokenizer", o.text("tokenizer_id"))
	add("label", o.text("label"))
	for member, flag := range map[string]string{
		"num_prompts": "num-prompts", "max_concurrency": "max-concurrency",
		"ramp_up_start_rps": "ramp-up-start-rps", "ramp_up_end_rps": "ramp-up-end-rps",
	} {
		if n, ok := o.float(member); ok && n == math.Trunc(n) && n > 0 && n < math.MaxInt32 {
			add(flag, strconv.Itoa(int(n)))
		}
	}
	add("ramp-up-strategy", o.text("ramp_up_strategy"))
	if f.Run.Plan.Rate > 0 {
		add("request-rate", strconv.FormatFloat(f.Run.Plan.Rate, 'g', -1, 64))
	}
	if n, ok := o.get("burstiness").(number); ok && n.float() > 0 {
		add("burstiness", strings.Replace(string(n), "Infinity", "inf", 1))
	}
	slices.Sort(args) // the order of a map is nobody's
	args = append(args, f.vllmFigureArgs(o)...)
	return append(args, f.vllmMetadata(o)...)
}

// vllmFigureArgs are the flags that say which figures there are.
func (f *draft) vllmFigureArgs(o *object) (args []string) {
	var sections, percentiles []string
	for _, name := range o.names {
		section, ok := strings.CutPrefix(strings.TrimSuffix(name, "_ms"), "mean_")
		if ok && strings.HasSuffix(name, "_ms") {
			sections = append(sections, section)
		}
	}
	for _, p := range f.Run.Plan.Percentiles {
		percentiles = append(percentiles, strconv.FormatFloat(p, 'f', -1, 64))
	}
	if len(sections) > 0 {
		args = append(args, "--percentile-metrics="+strings.Join(sections, ","))
	}
	if len(percentiles) > 0 {
		args = append(args, "--metric-percentiles="+strings.Join(percentiles, ","))
	}
	if hasName(o, "tokenizer_id") && !o.has("tokenizer_id") && !o.has("mean_ttft_ms") {
		args = append(args, "--skip-tokenizer-init")
	}
	if limits := goodputLimits(o.object("args").list("goodput")); limits != nil {
		args = append(append(args, "--goodput"), limits...)
	}
	return append(args, "--dialect-version="+f.origin.Form)
}

// goodputLimits are ttft:100 and the like.
func goodputLimits(l *list) (limits []string) {
	if l == nil {
		return nil
	}
	for _, item := range l.items {
		if text, ok := item.(string); ok && strings.Contains(text, ":") && !strings.HasPrefix(text, "-") {
			limits = append(limits, text)
		}
	}
	return limits
}

// vllmMembers are those that no --metadata wrote.
var vllmMembers = []string{
	"date", "endpoint_type", "backend", "label", "model_id", "tokenizer_id", "request_rate", "ramp_up_strategy",
}

// vllmMetadata are the strings that vLLM itself does not write.
func (f *draft) vllmMetadata(o *object) []string {
	var pairs []string
	for _, name := range o.names {
		text, ok := o.values[name].(string)
		if ok && f.origin.Setup[name] == text && !slices.Contains(vllmMembers, name) && !strings.HasPrefix(name, "-") && !strings.Contains(name, "=") {
			pairs = append(pairs, name+"="+text)
		}
	}
	if pairs == nil {
		return nil
	}
	return append([]string{"--metadata"}, pairs...)
}

// specCounters are the server's counters that a result's speculative decoding was
// computed from.
func specCounters(o *object) map[string]float64 {
	drafts, ok := o.float("spec_decode_num_drafts")
	if !ok {
		return nil
	}
	counters := map[string]float64{"vllm:spec_decode_num_drafts_total": drafts}
	for _, of := range []string{"draft_tokens", "accepted_tokens"} {
		if v, ok := o.float("spec_decode_" + of); ok {
			counters["vllm:spec_decode_num_"+of+"_total"] = v
		}
	}
	if positions := o.list("spec_decode_per_position_acceptance_rates"); positions != nil {
		for i, item := range positions.items {
			if share, ok := item.(number); ok && isFinite(share.float()) {
				name := fmt.Sprintf(`vllm:spec_decode_num_accepted_tokens_per_pos_total{position="%d"}`, i)
				counters[name] = math.Round(share.float() * drafts)
			}
		}
	}
	return counters
}

// A result for the PyTorch benchmark database is a list with an object for each
// figure, which repeats everything else.

func isBenchmark(o *object) bool {
	return o.object("benchmark") != nil && o.object("model") != nil && o.object("metric").has("name", "benchmark_values")
}

// gather adds a figure to the result that is being put together.
func (d *document) gather(o *object, id []byte) {
	metric := o.object("metric")
	if d.benchmark == nil {
		d.benchmark = &object{at: o.at, values: map[string]any{}}
		if extra := metric.object("extra_info"); extra != nil {
			for _, name := range extra.names {
				d.benchmark.set(name, extra.values[name])
			}
		}
		if args := o.object("benchmark", "extra_info", "args"); args != nil {
			d.benchmark.set("args", args)
		}
	}
	if values := metric.list("benchmark_values"); values != nil && len(values.items) == 1 {
		d.benchmark.set(metric.text("name"), values.items[0])
	}
	d.benchmarkID = append(d.benchmarkID, id...)
}

// pytorch ends the list.
func (d *document) pytorch() {
	if d.benchmark == nil {
		return
	}
	o, id := d.benchmark, d.benchmarkID
	d.benchmark, d.benchmarkID = nil, nil
	if isVLLM(o) {
		readVLLM(&reading{d, o, id})
		return
	}
	d.refuse(o)
}
