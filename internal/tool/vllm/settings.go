package vllm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// Settings are what a Spec of the tool's has and no other: how its report comes out.
type Settings struct {
	NumPrompts        int      `json:"num_prompts,omitempty"` // as asked for, where the run has another number
	Backend           string   `json:"backend,omitempty" flag:"backend"`
	Label             *string  `json:"label,omitempty" flag:"label"`
	Metadata          []string `json:"metadata,omitempty" flag:"metadata"` // KEY=VALUE
	Goodput           []string `json:"goodput,omitempty" flag:"goodput"`   // NAME:MILLISECONDS
	PercentileMetrics *string  `json:"percentile_metrics,omitempty" flag:"percentile-metrics"`
	MetricPercentiles string   `json:"metric_percentiles,omitempty" flag:"metric-percentiles"`
	SkipTokenizerInit bool     `json:"skip_tokenizer_init,omitempty" flag:"skip-tokenizer-init"`
	SaveResult        bool     `json:"save_result,omitempty" flag:"save-result"`
	SaveDetailed      bool     `json:"save_detailed,omitempty" flag:"save-detailed"`
	AppendResult      bool     `json:"append_result,omitempty" flag:"append-result"`
	ResultDir         *string  `json:"result_dir,omitempty" flag:"result-dir"`
	ResultFilename    *string  `json:"result_filename,omitempty" flag:"result-filename"`
}

// pooling reports whether answers have no text: embeddings, scores.
func (s *Settings) pooling() bool { return backendsByName[s.Backend].pooling }

func (s *Settings) metadata() ([][2]string, error) { return pairs("--metadata", s.Metadata) }

func (s *Settings) percentiles() ([]float64, error) {
	var out []float64
	for item := range strings.SplitSeq(s.MetricPercentiles, ",") {
		p, err := python.ParseFloat(item)
		if err != nil || !(p >= 0 && p <= 100) {
			return nil, fmt.Errorf("--metric-percentiles %q: must be numbers from 0 to 100, separated by commas", s.MetricPercentiles)
		}
		out = append(out, p)
	}
	return out, nil
}

// limits are the --goodput pairs, in milliseconds.
func (s *Settings) limits() (map[string]float64, error) {
	limits := map[string]float64{}
	for _, item := range s.Goodput {
		name, value, ok := strings.Cut(item, ":")
		limit, err := python.ParseFloat(value)
		switch {
		case !ok || err != nil:
			return nil, fmt.Errorf("--goodput %q: must be NAME:MILLISECONDS", item)
		case !slices.Contains([]string{"ttft", "tpot", "e2el"}, name):
			return nil, fmt.Errorf("--goodput %q: the name must be ttft, tpot or e2el", item)
		case !(limit >= 0):
			return nil, fmt.Errorf("--goodput %q: must not be negative", item)
		}
		limits[name] = limit
	}
	return limits, nil
}

// objectives are the limits in Pitot's form.
func (s *Settings) objectives() (out []plan.Objective) {
	limits, _ := s.limits() // checked
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		ms := min(limits[name], math.MaxInt64/1e7)
		out = append(out, plan.Objective{Metric: name, Limit: plan.Duration(ms * float64(time.Millisecond))})
	}
	return out
}

// sections are the metrics to print, as they were named; unknown names print nothing.
func (s *Settings) sections() []string {
	if s.PercentileMetrics == nil || *s.PercentileMetrics == "" {
		if s.pooling() {
			return []string{"e2el"}
		}
		return []string{"ttft", "tpot", "itl"}
	}
	return strings.Split(*s.PercentileMetrics, ",")
}

// An requestedRun is what a report repeats of what was asked for.
type requestedRun struct {
	Settings
	version     Version
	arrival     Arrival
	prompts     int
	concurrency int
	model       string // its id: the name or path of the weights
	tokenizer   string
	asBytes     bool // answers are bytes, in which nobody tells the lengths of prompts
}

// requestedRunOf is that of a run: by its Spec, by the command line of an imported result, or by what the
// plan of another tool amounts to.
func requestedRunOf(run *trace.Run) (q requestedRun, err error) {
	p := &run.Plan
	q = adopted(p)
	switch {
	case p.Spec != nil && p.Spec.Dialect.Name == "vllm":
		err = q.take(p.Spec)
	case run.Origin != nil && run.Origin.Command != nil:
		err = q.parse(run.Origin.Command)
	}
	return q, err
}

// adopted is what a plan amounts to that says nothing in the tool's way.
func adopted(p *trace.Load) requestedRun {
	q := requestedRun{
		Settings: Settings{Backend: backendOf(p.Protocol), MetricPercentiles: "99"}, version: V2611,
		arrival: Arrival{Rate: p.Rate, Burstiness: 1}, prompts: p.Requests, concurrency: p.Concurrency, model: p.Model, tokenizer: p.Model,
	}
	if len(p.Percentiles) > 0 {
		q.MetricPercentiles = joinFloats(p.Percentiles)
	}
	for _, o := range p.Objectives {
		if o.Metric != "itl" && !o.OfRun() {
			q.Goodput = append(q.Goodput, o.Metric+":"+python.Float(o.Limit.Std().Seconds()*1000))
		}
	}
	return q
}

func joinFloats(values []float64) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = python.Float(v)
	}
	return strings.Join(texts, ",")
}

func (q *requestedRun) take(spec *plan.Spec) error {
	problems := tool.Take(spec, &q.Settings, arrivalKind, &q.arrival)
	if spec.Dialect.Version != "" {
		q.version = Version(spec.Dialect.Version)
	}
	q.prompts, q.concurrency, q.asBytes = cmp.Or(q.NumPrompts, spec.Requests), spec.Gate.Concurrency, asBytes(spec.Request.Body)
	for _, id := range []string{spec.Request.Root, spec.Tokens.Where} {
		if id != "" {
			q.tokenizer = id
		}
	}
	if spec.Request.Root != "" {
		q.model = spec.Request.Root
	}
	return problems.Err()
}

// asBytes reports whether a body asks for answers that are bytes.
func asBytes(body json.RawMessage) bool {
	var fields struct {
		Format string `json:"encoding_format"`
	}
	return json.Unmarshal(body, &fields) == nil && fields.Format == "bytes_only"
}

// A stored command line is the one of an imported result. It holds no header values.
type stored struct {
	Args        []string `json:"args"`
	ModelID     string   `json:"model_id"`
	TokenizerID string   `json:"tokenizer_id"`
}

func (q *requestedRun) parse(command json.RawMessage) error {
	var kept stored
	if err := json.Unmarshal(command, &kept); err != nil {
		return err
	}
	// The newest version was called main.
	args := slices.DeleteFunc(kept.Args, func(arg string) bool { return arg == "--dialect-version=main" })
	a, err := Parse(args, "")
	if err != nil {
		return err
	}
	c, err := a.Compile(tool.Env{})
	if err != nil {
		return err
	}
	*q = requestedRun{}
	err = q.take(&c.Spec)
	q.model, q.tokenizer = kept.ModelID, kept.TokenizerID
	return err
}

func (q *requestedRun) figures() Options {
	percentiles, _ := q.percentiles() // checked
	limits, _ := q.limits()
	return Options{Version: q.version, NoTokenizer: q.SkipTokenizerInit, CountsPrompts: q.asBytes, Percentiles: percentiles, Goodput: limits}
}
