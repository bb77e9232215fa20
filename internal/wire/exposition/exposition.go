// Package exposition reads what servers and exporters print at /metrics: the Prometheus text
// format 0.0.4 and OpenMetrics 1.0.
//
//	page ── lines.go ──> text 0.0.4 ── prometheus/common/expfmt ──> Page of Samples
//	        a line at a time:           the reference parser
//	        OpenMetrics rewritten,
//	        what is hostile left out
//
// The reference parser does not read OpenMetrics, so each of its lines is rewritten as one of
// the text format: counters get their suffix, timestamps become milliseconds, exemplars and
// creation times are dropped.
//
// A page comes from a program that may be anything. What cannot be read is refused with one
// message, before it costs much; what is wrong in a line costs that line and is a doubt about
// the page. Histograms are their sum and count, without buckets; summaries are left out.
package exposition

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Accept is the header that asks for the text format, which has all that is read here. A server
// that has only OpenMetrics may answer with that: asked for both, Python's client would take it
// and print vllm_num_requests_running for vllm:num_requests_running.
const Accept = "text/plain;version=0.0.4,*/*;q=0.1"

// Bounds of a page. Engines print a tenth of a megabyte and a thousand lines. The reference
// parser takes up to forty times the memory of its text.
const (
	MaxBytes = 4 << 20
	maxLines = 100_000
	maxLine  = 16 << 10 // bytes
)

// Codes of what is wrong with a page. With the first four nothing of it can be used.
const (
	Large     plan.Code = "telemetry.page-large"     // MiB
	Lines     plan.Code = "telemetry.page-lines"     // most
	HTML      plan.Code = "telemetry.page-html"      //
	Syntax    plan.Code = "telemetry.page-syntax"    // why
	LongLine  plan.Code = "telemetry.page-long-line" // line, bytes
	NotText   plan.Code = "telemetry.page-not-text"  // line
	Duplicate plan.Code = "telemetry.page-duplicate" // series
)

// An Error says why a page cannot be used.
type Error struct {
	plan.Message
	text string
}

func (e *Error) Error() string { return e.text }

// TooLarge is the error of a page of more than MaxBytes, which its reader need not read to
// the end.
func TooLarge() error {
	return &Error{plan.Say(Large, "MiB", MaxBytes>>20), fmt.Sprintf("more than %d MiB", MaxBytes>>20)}
}

// Malformed is the error of what is no page.
func Malformed(why error) error {
	return &Error{plan.Say(Syntax, "why", why), why.Error()}
}

// A Sample is one value of a counter, gauge or untyped metric.
type Sample struct {
	Name    string
	Labels  map[string]string
	Value   float64
	Counter bool      // it only ever grows: by its type, or by its name
	Stamp   time.Time // by the clock of who printed it, to 1 ms; zero: it has none
}

// Series is name{label="value",...} with the labels in order, leaving out those
// that tell replicas of an engine apart.
func (s Sample) Series() string {
	var labels []string
	for name, value := range s.Labels {
		if name != "engine" && name != "model_name" {
			labels = append(labels, fmt.Sprintf("%s=%q", name, value))
		}
	}
	if len(labels) == 0 {
		return s.Name
	}
	slices.Sort(labels)
	return s.Name + "{" + strings.Join(labels, ",") + "}"
}

// A Page is what was read at once.
type Page struct {
	Samples []Sample       // by name; those of a name in the order of the page
	Doubts  []plan.Message // what was left out, each code once
}

// doubt adds a doubt, if there is none of its code.
func (p *Page) doubt(m plan.Message) {
	if !slices.ContainsFunc(p.Doubts, func(had plan.Message) bool { return had.Code == m.Code }) {
		p.Doubts = append(p.Doubts, m)
	}
}

// Parse reads a page of the content type that came with it. Without one, a page that ends in
// # EOF is OpenMetrics. Of a series that stands there twice the first value counts. The error
// is an *Error, or the cause of the end of ctx.
func Parse(ctx context.Context, contentType string, text []byte) (Page, error) {
	var page Page
	if err := refuse(text); err != nil {
		return page, err
	}
	l := lines{page: &page, open: isOpenMetrics(contentType, text), typed: map[string]string{}}
	plain, err := l.rewrite(text)
	if err != nil {
		return page, Malformed(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(untilDone{ctx, bytes.NewReader(plain)})
	if ctx.Err() != nil {
		return page, context.Cause(ctx)
	}
	if err != nil {
		return page, Malformed(err)
	}
	page.take(families)
	return page, nil
}

// refuse refuses what is no page of samples, or more than is read.
func refuse(text []byte) error {
	if len(text) > MaxBytes {
		return TooLarge()
	}
	if start := bytes.TrimLeft(text, " \t\r\n\ufeff"); bytes.HasPrefix(start, []byte("<")) {
		return &Error{plan.Say(HTML), "the answer is a page of HTML, not metrics"}
	}
	if bytes.Count(text, []byte("\n")) > maxLines {
		return &Error{plan.Say(Lines, "most", maxLines), fmt.Sprintf("more than %d lines", maxLines)}
	}
	return nil
}

// isOpenMetrics tells the two formats apart.
func isOpenMetrics(contentType string, text []byte) bool {
	switch kind, _, err := mime.ParseMediaType(contentType); {
	case err != nil || kind == "":
		return bytes.HasSuffix(bytes.TrimRight(text, "\n"), []byte("\n# EOF"))
	default:
		return kind == "application/openmetrics-text"
	}
}

// untilDone is a reader that ends with a context, and what reads from it with it.
type untilDone struct {
	ctx context.Context
	io.Reader
}

// Read reads as long as there is time.
func (r untilDone) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// take adds the samples of families.
func (p *Page) take(families map[string]*dto.MetricFamily) {
	for _, name := range slices.Sorted(maps.Keys(families)) {
		metrics := families[name].GetMetric()
		var seen map[string]bool
		if len(metrics) > 1 {
			seen = make(map[string]bool, len(metrics))
		}
		for _, m := range metrics {
			if key := signature(m); seen != nil && seen[key] {
				p.doubt(plan.Say(Duplicate, "series", name))
				continue
			} else if seen != nil {
				seen[key] = true
			}
			p.Samples = appendSample(p.Samples, name, m)
		}
	}
}

// signature is equal for metrics of a family with equal labels.
func signature(m *dto.Metric) string {
	labels := m.GetLabel()
	slices.SortFunc(labels, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) })
	var b strings.Builder
	for _, l := range labels {
		b.WriteString(l.GetName())
		b.WriteByte(0)
		b.WriteString(l.GetValue())
		b.WriteByte(0)
	}
	return b.String()
}

func appendSample(samples []Sample, name string, m *dto.Metric) []Sample {
	one := Sample{Name: name, Labels: make(map[string]string, len(m.GetLabel())), Counter: grows(name, m)}
	for _, l := range m.GetLabel() {
		one.Labels[l.GetName()] = l.GetValue()
	}
	if m.TimestampMs != nil {
		one.Stamp = time.UnixMilli(m.GetTimestampMs())
	}
	switch {
	case m.Counter != nil:
		one.Value = m.GetCounter().GetValue()
	case m.Gauge != nil:
		one.Value = m.GetGauge().GetValue()
	case m.Untyped != nil:
		one.Value = m.GetUntyped().GetValue()
	case m.Histogram != nil:
		return appendHistogram(samples, one, m.GetHistogram())
	default:
		return samples
	}
	return append(samples, one)
}

// appendHistogram adds the sum and the count, as far as the page has them.
func appendHistogram(samples []Sample, one Sample, h *dto.Histogram) []Sample {
	name := one.Name
	one.Counter = true
	if h.SampleSum != nil {
		one.Name, one.Value = name+"_sum", h.GetSampleSum()
		samples = append(samples, one)
	}
	switch {
	case h.SampleCountFloat != nil:
		one.Value = h.GetSampleCountFloat()
	case h.SampleCount != nil:
		one.Value = float64(h.GetSampleCount())
	default:
		return samples
	}
	one.Name = name + "_count"
	return append(samples, one)
}

// grows reports whether a metric only ever grows, by its type or by its name. llama.cpp
// calls a ratio and a maximum counters too.
func grows(name string, m *dto.Metric) bool {
	switch name {
	case "llamacpp:n_busy_slots_per_decode", "llamacpp:n_tokens_max":
		return false
	}
	return m.Counter != nil || strings.HasSuffix(name, "_total")
}

// Said is what an error says of a page: the message of an *Error, else its text.
func Said(err error) plan.Message {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Message
	}
	return plan.Text(err.Error())
}
