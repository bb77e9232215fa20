package sglang

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// Settings are the part of a Spec that only this tool has: options of its report, and arguments
// that its result repeats, effective or not.
type Settings struct {
	Backend            string  `json:"backend" flag:"backend"`
	Tag                *string `json:"tag,omitempty" flag:"tag"`
	DatasetName        string  `json:"dataset_name" flag:"dataset-name"`
	NumPrompts         int     `json:"num_prompts" flag:"num-prompts"`
	UseTraceTimestamps bool    `json:"use_trace_timestamps,omitempty" flag:"use-trace-timestamps"`
	MaxConcurrency     *int    `json:"max_concurrency,omitempty" flag:"max-concurrency"`
	ShareGPTOutputLen  *int    `json:"sharegpt_output_len,omitempty" flag:"sharegpt-output-len"`
	RandomInputLen     int     `json:"random_input_len" flag:"random-input-len"`
	RandomOutputLen    int     `json:"random_output_len" flag:"random-output-len"`
	RandomRangeRatio   float64 `json:"random_range_ratio" flag:"random-range-ratio"`
	ImageCount         int     `json:"image_count" flag:"image-count"`
	ImageResolution    string  `json:"image_resolution" flag:"image-resolution"`
	Goodput            []Limit `json:"goodput,omitempty" flag:"goodput"`
	CacheReport        bool    `json:"cache_report,omitempty" flag:"cache-report"`
	OutputFile         *string `json:"output_file,omitempty" flag:"output-file"`
	OutputDetails      bool    `json:"output_details,omitempty" flag:"output-details"`
	PlotThroughput     bool    `json:"plot_throughput,omitempty" flag:"plot-throughput"`
	Turns              bool    `json:"turns,omitempty"` // requests are of conversations
}

// A Limit is one of --goodput, in milliseconds.
type Limit struct {
	Name string  `json:"name"`
	MS   float64 `json:"ms"`
}

// embedding tells whether the backend asks for no text.
func (s *Settings) embedding() bool { return strings.HasSuffix(s.Backend, "-embedding") }

func (s *Settings) pictures() bool { return s.DatasetName == "image" || s.DatasetName == "mmmu" }

// limits are those of --goodput, the last of each name in the place of the first.
func (s *Settings) limits() (out []Limit) {
	for _, l := range s.Goodput {
		i := slices.IndexFunc(out, func(m Limit) bool { return m.Name == l.Name })
		if i < 0 {
			out = append(out, l)
			continue
		}
		out[i] = l
	}
	return out
}

// ResultFile is the path of the result file, which every run has: with a name of its own
// it holds the runs of one setting on one day.
func (s *Settings) ResultFile(now time.Time) string {
	if python.Value(s.OutputFile) != "" {
		return *s.OutputFile
	}
	name := fmt.Sprintf("%s_%s_%d_", s.Backend, now.Local().Format("0102"), s.NumPrompts)
	switch {
	case s.DatasetName == "image":
		name += fmt.Sprintf("%d_%d_%dimgs_%s", s.RandomInputLen, s.RandomOutputLen, s.ImageCount, s.ImageResolution)
	case strings.HasPrefix(s.DatasetName, "random"):
		name += fmt.Sprintf("%d_%d", s.RandomInputLen, s.RandomOutputLen)
	default:
		name += s.DatasetName
	}
	return name + ".jsonl"
}

// An requestedRun is what a report repeats of what was asked for.
type requestedRun struct {
	Settings
	version Version
	rate    float64 // requests per second, infinite for all at once
	own     bool    // in the tool's dialect
}

// requestedRunOf is that of a run: by its Spec, or by what the plan of another tool amounts to.
func requestedRunOf(t *trace.Trace) (requestedRun, error) {
	q := adopted(t)
	p := &t.Run.Plan
	if !isSGLang(p) {
		return q, nil
	}
	q.own = true
	q.version = Version(p.Spec.Dialect.Version)
	if p.Spec.Dialect.Settings == nil {
		return q, nil // an imported run
	}
	q.UseTraceTimestamps, q.rate = false, math.Inf(1)
	var arrival Arrival
	problems := tool.Take(p.Spec, &q.Settings, arrivalKind, &arrival)
	if arrival.Rate > 0 {
		q.rate = arrival.Rate
	}
	return q, problems.Err()
}

// isSGLang tells whether a run is of the tool's dialect.
func isSGLang(p *trace.Load) bool { return p.Spec != nil && p.Spec.Dialect.Name == "sglang" }

// adopted is what a run amounts to that says nothing in the tool's way.
func adopted(t *trace.Trace) requestedRun {
	p := t.Run.Plan
	q := requestedRun{Settings: Settings{Backend: backendOf(p.Protocol)}, rate: math.Inf(1)}
	if p.Concurrency > 0 {
		q.MaxConcurrency = &p.Concurrency
	}
	switch {
	case p.Rate > 0:
		q.rate = p.Rate
	case t.Run.Origin != nil && t.Run.Origin.Setup["request_rate"] == "inf": // it took its time even so
	case slices.ContainsFunc(t.Records, func(r *trace.Record) bool { return r.Due > 0 }):
		q.UseTraceTimestamps = true
	}
	return q
}

// backendOf is the name that the tool has for a protocol.
func backendOf(protocol string) string {
	switch protocol {
	case "completions":
		return "sglang-oai"
	case "chat":
		return "sglang-oai-chat"
	case "embeddings":
		return "sglang-embedding"
	case "trt", "truss":
		return protocol
	}
	return "sglang"
}

// rateText is the rate as Python prints it, or trace for send times that no one rate
// describes.
func (q *requestedRun) rateText() string {
	if q.UseTraceTimestamps {
		return "trace"
	}
	return python.Float(q.rate)
}
