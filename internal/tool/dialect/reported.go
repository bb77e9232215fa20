package dialect

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// WriteReported writes the table of an imported run as its own tool prints it, in
// its form: of one that was read from a table, the same bytes.
func WriteReported(w io.Writer, run trace.Run) error {
	o := run.Origin
	if o == nil {
		return fmt.Errorf("run %s is Pitot's own: it has no table of another tool", run.ID)
	}
	var l layout
	switch o.Tool {
	case "vllm":
		l = vllmLayout(metrics.VLLMVersion(o.Form))
	case "sglang":
		l = sglangLayout()
	default:
		return fmt.Errorf("run %s is of %s, which has no table here: there are those of vllm and sglang", run.ID, o.Tool)
	}
	if o.Trimmed {
		w = &trimmer{w}
	}
	return l.write(w, l.reported(run))
}

// reported are what a run's tool said of it, as its table has it.
func (l layout) reported(run trace.Run) entries {
	var all entries
	for _, s := range l {
		for _, r := range s.rows {
			if text := setting(run, r); text != "" {
				all.say(r.label, text)
			}
		}
	}
	for _, f := range run.Origin.Figures {
		r, ok := l.find(f.Name)
		if !ok || r.format == words || unprinted(run.Origin, f.Name) {
			continue
		}
		e := entry{name: f.Name, value: f.Value * r.per, decimals: -1}
		if f.Step > 0 {
			e.decimals = max(0, int(math.Round(-math.Log10(f.Step*r.per))))
		}
		all = append(all, e)
	}
	return all
}

// unprinted are figures of a result file for which the tool's table has a row with
// some loads only.
func unprinted(o *trace.Origin, name string) bool {
	pictures := o.Setup["dataset_name"] == "image" || o.Setup["dataset_name"] == "mmmu"
	return o.Tool == "sglang" && o.Detail != trace.Table && name == "tokens.input_vision" && !pictures
}

// setting is what stands in a row of words: what stood in the table, or for a run
// that has none what its plan says.
func setting(run trace.Run, r row) string {
	if r.format != words {
		return ""
	}
	if text := run.Origin.Setup[strings.TrimSuffix(r.label, ":")]; text != "" || run.Origin.Detail == trace.Table {
		return text
	}
	p := run.Plan
	sglang := run.Origin.Tool == "sglang"
	switch {
	case r.label == "Backend:" && run.Origin.Setup["backend"] != "":
		return run.Origin.Setup["backend"]
	case r.label == "Backend:":
		return sglangBackend(p.Protocol)
	case strings.Contains(r.label, "concurrency") && p.Concurrency > 0:
		return itoa(p.Concurrency)
	case strings.Contains(r.label, "concurrency") && sglang:
		return "not set"
	case strings.Contains(r.label, "rate") && p.Rate > 0 && sglang:
		return reprFloat(p.Rate)
	case strings.Contains(r.label, "rate") && p.Rate > 0:
		return strconv.FormatFloat(p.Rate, 'f', 2, 64)
	case strings.Contains(r.label, "rate") && sglang:
		return "inf"
	}
	return ""
}

// A trimmer drops the blanks at the end of each line of what is written at once.
type trimmer struct{ w io.Writer }

func (t *trimmer) Write(p []byte) (int, error) {
	var b strings.Builder
	for line := range strings.Lines(string(p)) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	if _, err := io.WriteString(t.w, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}
