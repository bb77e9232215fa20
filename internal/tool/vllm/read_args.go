package vllm

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// unreadable is noticed of a result.
const unreadable plan.Code = "import.no-command-line" // why

// readCommand keeps the command line that writes such a result, as far as the
// result tells, so that its report can be printed as that of our own runs.
func readCommand(f *result.PartialRun, o *result.Object) {
	p := &f.Run.Plan
	args := argsOf(f, o)
	a, err := Parse(args, "")
	if err != nil { // an unknown backend or ramp
		args = slices.DeleteFunc(args, func(arg string) bool {
			return strings.HasPrefix(arg, "--backend=") || strings.HasPrefix(arg, "--ramp-up")
		})
		if a, err = Parse(args, ""); err != nil {
			f.Run.Notes = append(f.Run.Notes, plan.Msg(unreadable, "why", err))
			a, args = new(Args), nil
		}
	}
	p.Objectives = a.settings().objectives()
	command, err := json.Marshal(stored{Args: args, ModelID: p.Model, TokenizerID: secret.Mask(o.Text("tokenizer_id"))})
	if err == nil {
		f.Origin.Command = command
	}
	f.Run.ServerCounters = specCounters(o)
}

// argsOf are the flags for which a result has a member. A result file's
// --goodput is known only from the arguments in a file for the PyTorch benchmark
// database.
func argsOf(f *result.PartialRun, o *result.Object) (args []string) {
	add := func(flag, value string) {
		if value != "" && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' }) {
			args = append(args, "--"+flag+"="+secret.Mask(value))
		}
	}
	add("backend", f.Origin.Setup["backend"])
	add("model", f.Run.Plan.Model)
	add("tokenizer", o.Text("tokenizer_id"))
	add("label", o.Text("label"))
	for member, flag := range map[string]string{
		"num_prompts": "num-prompts", "max_concurrency": "max-concurrency",
		"ramp_up_start_rps": "ramp-up-start-rps", "ramp_up_end_rps": "ramp-up-end-rps",
	} {
		if n, ok := o.Float(member); ok && n == math.Trunc(n) && n > 0 && n < math.MaxInt32 {
			add(flag, strconv.Itoa(int(n)))
		}
	}
	add("ramp-up-strategy", o.Text("ramp_up_strategy"))
	if f.Run.Plan.Rate > 0 {
		add("request-rate", strconv.FormatFloat(f.Run.Plan.Rate, 'g', -1, 64))
	}
	if n, ok := o.Get("burstiness").(result.Number); ok && n.Float() > 0 {
		add("burstiness", strings.Replace(string(n), "Infinity", "inf", 1))
	}
	slices.Sort(args) // the order of a map is random
	args = append(args, figureArgs(f, o)...)
	return append(args, metadataArgs(f, o)...)
}

// figureArgs are the flags that say which figures there are.
func figureArgs(f *result.PartialRun, o *result.Object) (args []string) {
	var sections, percentiles []string
	for _, name := range o.Names {
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
	if o.Wrote("tokenizer_id") && !o.Has("tokenizer_id") && !o.Has("mean_ttft_ms") {
		args = append(args, "--skip-tokenizer-init")
	}
	if limits := goodputLimits(o.Object("args").List("goodput")); limits != nil {
		args = append(append(args, "--goodput"), limits...)
	}
	return append(args, "--dialect-version="+f.Origin.Form)
}

// goodputLimits are ttft:100 and the like.
func goodputLimits(l *result.List) (limits []string) {
	for _, item := range l.Values() {
		if text, ok := item.(string); ok && strings.Contains(text, ":") && !strings.HasPrefix(text, "-") {
			limits = append(limits, text)
		}
	}
	return limits
}

// ownMembers are those that no --metadata wrote.
var ownMembers = []string{
	"date", "endpoint_type", "backend", "label", "model_id", "tokenizer_id", "request_rate", "ramp_up_strategy",
}

// metadataArgs are the strings that vLLM itself does not write.
func metadataArgs(f *result.PartialRun, o *result.Object) []string {
	var pairs []string
	for _, name := range o.Names {
		text, ok := o.Values[name].(string)
		if ok && f.Origin.Setup[name] == text && !slices.Contains(ownMembers, name) && !strings.HasPrefix(name, "-") && !strings.Contains(name, "=") {
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
func specCounters(o *result.Object) map[string]float64 {
	drafts, ok := o.Float("spec_decode_num_drafts")
	if !ok {
		return nil
	}
	counters := map[string]float64{"vllm:spec_decode_num_drafts_total": drafts}
	for _, of := range []string{"draft_tokens", "accepted_tokens"} {
		if v, ok := o.Float("spec_decode_" + of); ok {
			counters["vllm:spec_decode_num_"+of+"_total"] = v
		}
	}
	for i, item := range o.List("spec_decode_per_position_acceptance_rates").Values() {
		if share, ok := item.(result.Number); ok && result.IsFinite(share.Float()) {
			name := fmt.Sprintf(`vllm:spec_decode_num_accepted_tokens_per_pos_total{position="%d"}`, i)
			counters[name] = math.Round(share.Float() * drafts)
		}
	}
	return counters
}

// A result for the PyTorch benchmark database is a list with an object for each
// figure, which repeats everything else.

func isBenchmark(o *result.Object) bool {
	return o.Object("benchmark") != nil && o.Object("model") != nil && o.Object("metric").Has("name", "benchmark_values")
}

// gather adds a figure to the result that is being put together.
func gather(whole, part *result.Object) {
	metric := part.Object("metric")
	if len(whole.Names) == 0 {
		for name, v := range metric.Object("extra_info").All() {
			whole.Set(name, v)
		}
		if args := part.Object("benchmark", "extra_info", "args"); args != nil {
			whole.Set("args", args)
		}
	}
	if values := metric.List("benchmark_values").Values(); len(values) == 1 {
		whole.Set(metric.Text("name"), values[0])
	}
}
