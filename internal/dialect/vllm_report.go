package dialect

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/metrics"
)

// A VLLMReport is everything the tool prints or saves of a run.
type VLLMReport struct {
	Args        *VLLMArgs
	Figures     metrics.VLLM
	SpecDecode  *SpecDecode // nil unless the server drafted tokens
	Diffusion   *Diffusion  // nil unless the server is a diffusion model
	ModelID     string
	TokenizerID string
	Date        string // of its end, local time, 20060102-150405
	RPSChanges  []RPSChange
}

// Table widths: a label, a blank, a value.
const (
	labelWidth = 40
	valueWidth = 10
	tableWidth = 50
)

// A table writes the lines of a report.
type table struct{ strings.Builder }

func (t *table) text(label, v string) {
	fmt.Fprintf(t, "%-*s %-*s\n", labelWidth, label, valueWidth, v)
}

func (t *table) int(label string, v int) { t.text(label, itoa(v)) }

func (t *table) float(label string, v float64) { t.text(label, strconv.FormatFloat(v, 'f', 2, 64)) }

// heading is s in the middle of a line of fill, the odd character to the right.
func (t *table) heading(s, fill string) {
	space := max(0, tableWidth-len(s))
	left := space / 2
	t.WriteString(strings.Repeat(fill, left) + s + strings.Repeat(fill, space-left) + "\n")
}

// version is the form of the report.
func (r *VLLMReport) version() metrics.VLLMVersion { return metrics.VLLMVersion(r.Args.DialectVersion) }

// counted reports whether token figures are printed.
func (r *VLLMReport) counted() bool {
	return !r.Args.SkipTokenizerInit || !r.version().Since(metrics.VLLM2608)
}

// WriteErrors writes the first ten failures, as the tool does ahead of its
// table.
func (r *VLLMReport) WriteErrors(w io.Writer) error {
	if r.Figures.Failed == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("Failed requests (the first 10):\n")
	n := 0
	for _, q := range r.Figures.Requests {
		if !q.OK && n < 10 {
			fmt.Fprintf(&b, "Error %d: %s\n", n, q.ErrorText)
			n++
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteTable writes the "Serving Benchmark Result", byte for byte.
func (r *VLLMReport) WriteTable(w io.Writer) error {
	var t table
	t.heading(" Serving Benchmark Result ", "=")
	r.requests(&t)
	r.throughput(&t)
	r.probes(&t)
	for _, s := range r.printed() {
		t.section(s)
	}
	r.decoding(&t)
	t.WriteString(strings.Repeat("=", tableWidth) + "\n")
	_, err := io.WriteString(w, t.String())
	return err
}

func (r *VLLMReport) requests(t *table) {
	v := r.Figures
	t.int("Successful requests:", v.Completed)
	if r.version().Since(metrics.VLLM2512) {
		t.int("Failed requests:", v.Failed)
	}
	if r.Args.MaxConcurrency != nil {
		t.int("Maximum request concurrency:", *r.Args.MaxConcurrency)
	}
	if !math.IsInf(r.Args.RequestRate, 1) {
		t.float("Request rate configured (RPS):", r.Args.RequestRate)
	}
	t.float("Benchmark duration (s):", v.Duration)
	t.int("Total input tokens:", v.TotalInput)
	if r.counted() {
		t.int("Total generated tokens:", v.TotalOutput)
	}
}

func (r *VLLMReport) throughput(t *table) {
	v := r.Figures
	t.float("Request throughput (req/s):", v.RequestThroughput)
	if len(r.Args.Goodput) > 0 {
		t.float("Request goodput (req/s):", v.RequestGoodput)
	}
	if r.counted() {
		t.float("Output token throughput (tok/s):", v.OutputThroughput)
	}
	if !r.version().Since(metrics.VLLM2512) {
		t.float("Total Token throughput (tok/s):", v.TotalTokenThroughput)
		return
	}
	if r.counted() {
		t.float("Peak output token throughput (tok/s):", v.MaxOutputPerSecond)
	}
	t.float("Peak concurrent requests:", float64(v.MaxConcurrent))
	if r.counted() {
		t.float("Total token throughput (tok/s):", v.TotalTokenThroughput)
	}
}

func (r *VLLMReport) probes(t *table) {
	p := r.Figures.Probe
	if p == nil || !r.version().Since(metrics.VLLM2608) {
		return
	}
	t.heading("Probe Requests", "-")
	t.int("Probe requests completed:", p.Completed)
	t.int("Probe requests failed:", p.Failed)
	t.float("Median probe E2EL (ms):", p.Median)
	t.float("P99 probe E2EL (ms):", p.P99)
	t.float("Max probe E2EL (ms):", p.Max)
}

// A vllmMetric is a metric that can be selected by its key.
type vllmMetric struct {
	key, name, title string
	values           metrics.VLLMSection
}

// printed are the metrics that are both selected and present, in report order.
func (r *VLLMReport) printed() []vllmMetric {
	v := r.Figures
	var all []vllmMetric
	if r.counted() {
		all = append(all,
			vllmMetric{"ttft", "TTFT", "Time to First Token", v.TTFT},
			vllmMetric{"tpot", "TPOT", "Time per Output Token (excl. 1st token)", v.TPOT},
			vllmMetric{"itl", "ITL", "Inter-token Latency", v.ITL})
	}
	all = append(all, vllmMetric{"e2el", "E2EL", "End-to-end Latency", v.E2EL})
	if r.version().Since(metrics.VLLM2608) && r.Args.MaxConcurrency != nil {
		all = append(all, vllmMetric{"client_queue_time", "Client Queue Time", "Client-side Queueing", v.QueueTime})
		if !math.IsInf(r.Args.RequestRate, 1) {
			all = append(all, vllmMetric{"e2el_including_client_queue", "E2EL incl. Client Queue", "Queue-inclusive End-to-end Latency", v.E2ELWithQueue})
		}
	}
	selected := r.Args.sections()
	return slices.DeleteFunc(all, func(m vllmMetric) bool { return !slices.Contains(selected, m.key) })
}

func (t *table) section(m vllmMetric) {
	t.heading(m.title, "-")
	t.float("Mean "+m.name+" (ms):", m.values.Mean)
	t.float("Median "+m.name+" (ms):", m.values.Median)
	for _, p := range m.values.Percentiles {
		t.float("P"+percentileName(p.P)+" "+m.name+" (ms):", p.Value)
	}
}

// percentileName is 99 for 99.0 and 99.9 for 99.9.
func percentileName(p float64) string {
	if p == math.Trunc(p) {
		return strconv.FormatFloat(p, 'f', 0, 64)
	}
	return reprFloat(p)
}

func (r *VLLMReport) decoding(t *table) {
	switch {
	case !r.version().Since(metrics.VLLM2608):
	case r.Diffusion != nil:
		d := r.Diffusion
		t.heading("Diffusion Decoding", "-")
		t.float("Committed throughput (tok/s):", d.CommittedThroughput)
		t.float("Denoising steps per canvas:", d.StepsPerCanvas)
		t.float("Committed per denoising step:", d.CommittedPerStep)
		t.int("Committed tokens:", d.CommittedTokens)
		t.int("Denoising steps:", int(d.DenoisingSteps))
		t.int("Canvas positions evaluated:", d.CanvasPositions)
	case r.SpecDecode != nil:
		s := r.SpecDecode
		t.heading("Speculative Decoding", "-")
		t.float("Acceptance rate (%):", s.AcceptanceRate)
		t.float("Acceptance length:", s.AcceptanceLength)
		t.int("Drafts:", s.Drafts)
		t.int("Draft tokens:", s.DraftTokens)
		t.int("Accepted tokens:", s.AcceptedTokens)
		if len(s.PerPosition) > 0 {
			t.WriteString("Per-position acceptance (%):\n")
		}
		for i, rate := range s.PerPosition {
			t.float(fmt.Sprintf("  Position %d:", i), 100*rate)
		}
	}
}
