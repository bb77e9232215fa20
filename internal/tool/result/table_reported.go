package result

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// WriteReported writes the table of an imported run as its own tool, one of tools,
// prints it, in its form: of one that was read from a table, the same bytes.
func WriteReported(w io.Writer, run trace.Run, tools ...Tool) error {
	o := run.Origin
	if o == nil {
		return fmt.Errorf("run %s is Pitot's own: it has no table of another tool", run.ID)
	}
	var names []string
	for _, t := range tools {
		if t.Name == o.Tool {
			return t.writeReported(w, run)
		}
		names = append(names, t.Name)
	}
	return fmt.Errorf("run %s is of %s, which has no table here: there are those of %s", run.ID, o.Tool, strings.Join(names, " and "))
}

func (t Tool) writeReported(w io.Writer, run trace.Run) error {
	if run.Origin.Trimmed {
		w = &trimmer{w}
	}
	l := t.Layout(run.Origin.Form).with(run.Origin)
	return l.Write(w, t.reported(l, run))
}

// with is the layout with rows, at the end of its first section, for what a fork printed and no tool here does.
func (l Layout) with(o *trace.Origin) Layout {
	out := slices.Clone(l)
	for _, f := range o.Figures {
		if o.Detail == trace.Table && !l.has(f.Name) {
			out[0].Rows = append(slices.Clone(out[0].Rows), Row{f.Name + ":", f.Name, tableWhole, 1})
		}
	}
	return out
}

func (l Layout) has(name string) bool {
	return slices.ContainsFunc(l, func(s Section) bool {
		return slices.ContainsFunc(s.Rows, func(r Row) bool {
			_, ok := starred(r.name, name)
			return ok
		})
	})
}

// reported are what a run's tool said of it, as its table has it.
func (t Tool) reported(l Layout, run trace.Run) Entries {
	var all Entries
	for _, s := range l {
		for _, r := range s.Rows {
			if text := t.setting(run, r); text != "" {
				all.AddText(r.label, text)
			}
		}
	}
	for _, f := range run.Origin.Figures {
		if t.Unprinted == nil || !t.Unprinted(run.Origin, f.Name) {
			all = append(all, entry{ReportedFigure: f})
		}
	}
	return all
}

// setting is what stands in a row of words: what stood in the table, or for a run
// that has none what its plan says.
func (t Tool) setting(run trace.Run, r Row) string {
	if r.format != words {
		return ""
	}
	if text := run.Origin.Setup[strings.TrimSuffix(r.label, ":")]; text != "" || run.Origin.Detail == trace.Table {
		return text
	}
	return t.Setting(run, r.label)
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
