package argparse

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// Settings are the arguments of a tool's command line by name, with underscores, as
// Python shows them: those of a Namespace or of a result file.
type Settings map[string]string

// Unknown is the value of a setting that nobody told.
const Unknown = "?"

// text is a setting, "" where there is none.
func (s Settings) text(names ...string) string {
	for _, n := range names {
		if v := s[n]; v != "" && v != "None" {
			return v
		}
	}
	return ""
}

func (s Settings) int(names ...string) int {
	n, err := python.ParseInt(s.text(names...))
	if err != nil {
		return 0
	}
	return n
}

// float is a finite number, else 0.
func (s Settings) float(names ...string) float64 {
	f, err := python.ParseFloat(s.text(names...))
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return 0
	}
	return f
}

// Plan is what the settings say of a run of vllm or sglang, as far as they go.
func (s Settings) Plan(tool string) trace.Plan {
	p := trace.Plan{
		Dialect: tool, Stream: s.text("disable_stream") != "True", Model: s.text("model", "model_id"),
		Requests: max(0, s.int("num_prompts")), Seed: uint64(max(0, s.int("seed"))),
		Rate: max(0, s.float("request_rate")), Concurrency: max(0, s.int("max_concurrency")),
		Ramp: s.text("ramp_up_strategy") != "", URL: s.url(), Objectives: s.objectives(),
	}
	if backend := s.text("backend", "endpoint_type"); backend != "" {
		p.Protocol = protocolOf(backend)
	}
	if p.Ramp {
		p.Rate = 0
	}
	p.Workload, p.Arrival = s.Workload(p), s.Arrival(p)
	for percentile := range strings.SplitSeq(s.text("metric_percentiles"), ",") {
		if v, err := python.ParseFloat(percentile); err == nil && v >= 0 && v <= 100 {
			p.Percentiles = append(p.Percentiles, v)
		}
	}
	return p
}

// protocolOf is the protocol that a backend speaks.
func protocolOf(backend string) string {
	switch {
	case strings.HasSuffix(backend, "-chat"):
		return "chat"
	case backend == "sglang" || backend == "sglang-native":
		return "generate"
	case strings.Contains(backend, "embed") || strings.Contains(backend, "pooling") || strings.Contains(backend, "rerank"):
		return backend
	}
	return "completions"
}

// url is that of the server, without what a URL can hold of secrets.
func (s Settings) url() string {
	url := s.text("base_url")
	host, port := s.text("host"), s.text("port")
	if url == "" && host != "" && port != "" {
		url = "http://" + host + ":" + port
	}
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		url = url[:i]
	}
	return Mask(url)
}

// Workload is what is sent, in the words of a plan.
func (s Settings) Workload(p trace.Plan) string {
	name := s.text("dataset_name")
	if name == "" {
		return ""
	}
	requests := ""
	if p.Requests > 0 {
		requests = fmt.Sprintf(", %d requests", p.Requests)
	}
	switch name {
	case "random", "random-ids", "random-mm", "image":
		in, out := s.int("input_len", "random_input_len"), s.int("output_len", "random_output_len")
		return fmt.Sprintf("%s %d→%d tokens%s%s", name, in, out, s.spread(p.Dialect), requests)
	case "generated-shared-prefix":
		return fmt.Sprintf("%s %d groups of %d prompts, %d+%d→%d tokens", name, s.int("gsp_num_groups"), s.int("gsp_prompts_per_group"),
			s.int("gsp_system_prompt_len"), s.int("gsp_question_len"), s.int("gsp_output_len"))
	}
	return strings.TrimSpace(name+" "+s.text("dataset_path")) + requests
}

// spread says in words by how much lengths differ. To vLLM a ratio is a share on
// both sides; to SGLang it is the least share of a length.
func (s Settings) spread(tool string) string {
	ratio := s.text("random_range_ratio")
	v, err := python.ParseFloat(ratio)
	switch {
	case ratio == "" || err == nil && v == map[string]float64{"vllm": 0, "sglang": 1}[tool]:
		return ""
	case err != nil:
		return " with range ratio " + ratio
	case tool == "vllm":
		return fmt.Sprintf(" ±%.4g %%", 100*v)
	}
	return fmt.Sprintf(" from %.4g %% of that", 100*v)
}

// Arrival is when it is sent, in the words of a plan.
func (s Settings) Arrival(p trace.Plan) string {
	process := "Poisson"
	if b := s.text("burstiness"); b != "" && b != Unknown && b != "inf" && s.float("burstiness") != 1 {
		process = fmt.Sprintf("gamma (burstiness %g)", s.float("burstiness"))
	} else if b == "inf" {
		process = "constant"
	}
	switch {
	case p.Ramp:
		return fmt.Sprintf("%s, %s:%d..%d req/s by position", process, s.text("ramp_up_strategy"), s.int("ramp_up_start_rps"), s.int("ramp_up_end_rps"))
	case s.text("use_trace_timestamps") == "True" || s.text("self_timed") == "True":
		return "as recorded in the dataset"
	case p.Rate == 0 && s.text("request_rate") != "":
		return "all at once"
	case p.Rate == 0:
		return ""
	case s["burstiness"] == Unknown:
		return fmt.Sprintf("%g req/s", p.Rate)
	case p.Dialect == "vllm" && p.Requests > 0:
		return fmt.Sprintf("%s %g req/s, stretched to end at %g s", process, p.Rate, float64(p.Requests)/p.Rate)
	}
	return fmt.Sprintf("%s %g req/s", process, p.Rate)
}

// objectives are the limits of goodput, given as a list of NAME:MILLISECONDS.
func (s Settings) objectives() (all []trace.SLO) {
	for _, item := range python.Strings(s.text("goodput")) {
		name, limit, _ := strings.Cut(item, ":")
		ms, err := strconv.ParseFloat(limit, 64)
		if err == nil && ms > 0 && ms < 1e9 && slices.Contains([]string{"ttft", "tpot", "e2el"}, name) {
			all = append(all, trace.SLO{Metric: name, Limit: time.Duration(ms * 1e6)})
		}
	}
	return all
}
