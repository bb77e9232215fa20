// Package exposition reads the pages that servers and exporters serve at /metrics: the Prometheus
// text format 0.0.4 and OpenMetrics 1.0.
//
//	page ── syntax.go ──> names, labels, numbers ── reader.go ──> Samples
//
// A page is untrusted input. An unreadable page is refused with one message, before it costs much;
// a faulty line is dropped and reported as a doubt about the page. Histograms are their sum and count, without
// buckets; summaries are left out.
//
// prometheus/common/expfmt is not used: it reads all series and allocates up to forty times the size
// of a page, and a page is read every second of a measurement during which garbage is not collected.
// Tests compare the two. OpenMetrics is read as the text format
// is, but for its end, its timestamps in seconds, its exemplars, and creation times, which are left
// out.
package exposition

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Accept is the header that asks for the text format, which has all that is read here. A server
// that has only OpenMetrics may answer with that: asked for both, Python's client would take it
// and print vllm_num_requests_running for vllm:num_requests_running.
const Accept = "text/plain;version=0.0.4,*/*;q=0.1"

// Bounds of a page. Engines print a tenth of a megabyte and a thousand lines.
const (
	MaxBytes = 4 << 20
	maxLines = 100_000
	maxLine  = 16 << 10 // bytes
)

// Codes of the faults of a page. With the first four nothing of it can be used.
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
	return &Error{plan.Msg(Large, "MiB", MaxBytes>>20), fmt.Sprintf("more than %d MiB", MaxBytes>>20)}
}

// Malformed is the error of a document that is not a page.
func Malformed(why error) error { return &Error{plan.Msg(Syntax, "why", why), why.Error()} }

// A Sample is one value of a counter, gauge or untyped metric.
type Sample struct {
	Name    string
	Labels  Labels
	Value   float64
	Counter bool      // it only ever grows: by its type, or by its name
	Stamp   time.Time // by the clock of its exporter, to 1 ms; zero: it has none
}

// Labels are those of a sample, in the order of their names.
type Labels []Label

// A Label is one of them.
type Label struct{ Name, Value string }

// Get is the value of a label, empty if it is not there.
func (l Labels) Get(name string) (value string, has bool) {
	for i := range l {
		if l[i].Name == name {
			return l[i].Value, true
		}
	}
	return "", false
}

// Series is name{label="value",...} with the labels in order, leaving out those that distinguish
// replicas of an engine.
func (s Sample) Series() string {
	var labels []string
	for _, l := range s.Labels {
		if l.Name != "engine" && l.Name != "model_name" {
			labels = append(labels, fmt.Sprintf("%s=%q", l.Name, l.Value))
		}
	}
	if len(labels) == 0 {
		return s.Name
	}
	return s.Name + "{" + strings.Join(labels, ",") + "}"
}

// A Page is what was read at once.
type Page struct {
	Samples []Sample       // by name; those of a name in the order of the page
	Doubts  []plan.Message // what was left out, each code once
}

// Parse reads a page at once, as a Reader does.
func Parse(ctx context.Context, contentType string, text []byte) (Page, error) {
	var page Page
	var r Reader
	doubts, err := r.Read(ctx, contentType, text, func(s *Sample) {
		one := *s
		one.Labels = append(Labels(nil), s.Labels...)
		page.Samples = append(page.Samples, one)
	})
	if err != nil {
		return Page{}, err
	}
	page.Doubts = doubts
	slices.SortStableFunc(page.Samples, func(a, b Sample) int { return strings.Compare(a.Name, b.Name) })
	return page, nil
}

// refuse refuses a document that is no page of samples, or that is too large.
func refuse(text []byte) error {
	if len(text) > MaxBytes {
		return TooLarge()
	}
	if start := bytes.TrimLeft(text, " \t\r\n\ufeff"); bytes.HasPrefix(start, []byte("<")) {
		return &Error{plan.Msg(HTML), "the answer is a page of HTML, not metrics"}
	}
	if bytes.Count(text, []byte("\n")) > maxLines {
		return &Error{plan.Msg(Lines, "most", maxLines), fmt.Sprintf("more than %d lines", maxLines)}
	}
	return nil
}

// isOpenMetrics reports whether text is OpenMetrics, not Prometheus's own format.
func isOpenMetrics(contentType string, text []byte) bool {
	switch kind, _, err := mime.ParseMediaType(contentType); {
	case err != nil || kind == "":
		return bytes.HasSuffix(bytes.TrimRight(text, "\n"), []byte("\n# EOF"))
	default:
		return kind == "application/openmetrics-text"
	}
}

// ErrorMessage is what an error says of a page: the message of an *Error, else its text.
func ErrorMessage(err error) plan.Message {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Message
	}
	return plan.Text(err.Error())
}
