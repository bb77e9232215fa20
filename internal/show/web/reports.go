package web

import (
	"bytes"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/known"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// reports are the forms that there are of a run. They take all records at once, so a large run has
// none here.
func (s *Server) reports(q asked) (any, error) {
	l, err := s.Runs.Find(q.PathValue("id"))
	if err != nil {
		return nil, err
	}
	found := view.Reports{Reports: []view.Report{}}
	if !small(s.Runs, l, mostWeight) {
		found.Note = q.lang.Word("view.reports-large", "requests", l.Records, "run", l.ID)
		return found, nil
	}
	s.fullReads.Lock()
	defer s.fullReads.Unlock()
	t, err := s.Runs.Load(l.ID)
	if err != nil {
		return nil, err
	}
	if o := t.Run.Origin; o != nil && o.Detail != trace.Recorded {
		found.Reports = reported(q, t.Run)
		return found, nil
	}
	var own bytes.Buffer
	if err := report.Text(&own, metrics.Summarize(t, metrics.Options{}), q.lang); err != nil {
		return nil, err
	}
	found.Reports = append(found.Reports, view.Report{Dialect: metrics.Pitot, Text: own.String()})
	for _, one := range known.Tools() {
		if one.Report != nil {
			found.Reports = append(found.Reports, view.Report{Dialect: one.Name, Text: foreign(q, t, one)})
		}
	}
	return found, nil
}

// foreign is the report of a tool, with its output on stderr below.
func foreign(q asked, t *trace.Trace, of tool.Tool) string {
	r, err := of.Report(t, "")
	if err != nil {
		return err.Error() + "\n"
	}
	var b bytes.Buffer
	if err := r.WriteTable(&b); err != nil {
		return err.Error() + "\n"
	}
	for i, n := range r.Notes() {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(q.lang.Word("report.note", "note", n) + "\n")
	}
	return b.String()
}

// reported is the report of the tool of an imported run without records.
func reported(q asked, run trace.Run) []view.Report {
	var b bytes.Buffer
	var err error
	if known.Named(run.Origin.Tool).Log != nil {
		err = result.WriteReported(&b, run, tool.Tables(known.Tools())...)
	} else {
		err = report.Figures(&b, run.Origin, q.lang)
	}
	if err != nil {
		b.WriteString(err.Error() + "\n")
	}
	return []view.Report{{Dialect: run.Origin.Tool, Text: b.String()}}
}
