package web

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/digest"
	"github.com/pitot-bench/pitot/internal/show/text"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/tool/known"
)

// runRoutes are those of one run.
func (s *Server) runRoutes(mux *http.ServeMux) {
	mux.Handle("GET /api/runs/{id}", answer(s.run))
	mux.Handle("GET /api/runs/{id}/reports", answer(s.reports))
	mux.Handle("GET /api/runs/{id}/course", answer(s.course))
	mux.Handle("GET /api/runs/{id}/requests", answer(s.requests))
	mux.Handle("GET /api/runs/{id}/requests/{index}", answer(s.request))
	mux.HandleFunc("GET /api/runs/{id}/rows", s.requestRows)
}

// smallRun is how many records are read at once to answer a question.
const smallRun = 20_000

// stored are the digests, made with the first question.
func (s *Server) stored() *digests {
	s.once.Do(func() { s.read = &digests{store: s.Runs} })
	return s.read
}

// Close ends what the server does beside answering.
func (s *Server) Close() { s.stored().close() }

func (s *Server) run(q asked) (any, error) {
	l, err := s.Runs.Find(q.PathValue("id"))
	if err != nil {
		return nil, err
	}
	k := view.Known{Listing: l, Commands: []view.Command{}}
	if k.Run, err = s.Runs.Run(l.ID); err != nil {
		return nil, err
	}
	if o := k.Run.Origin; o != nil && o.Detail != trace.Recorded {
		k.Tool, k.Form = o.Tool, o.Form
	}
	if err := s.figures(q, &k); err != nil {
		return nil, err
	}
	return view.NewRun(k, q.lang), nil
}

// figures adds the figures of a run, and its failures.
func (s *Server) figures(q asked, k *view.Known) error {
	all, stored, err := s.Runs.Figures(k.Listing.ID, "pitot", metrics.Version)
	if err != nil {
		return err
	}
	k.Figures = all
	small := k.Listing.Records <= smallRun && k.Listing.Status != trace.Running
	if !stored && small {
		t, err := s.Runs.Load(k.Listing.ID)
		if err != nil {
			return err
		}
		tool := k.Tool
		if tool == "" {
			tool = "pitot"
		}
		k.Figures, stored = known.Rules().Figures(t, tool, ""), true
	}
	if stored && k.Listing.Failed <= 0 {
		return nil
	}
	f, err := s.stored().of(k.Listing)
	if err != nil {
		return err
	}
	f.await(q.Context())
	return f.ask(func(d *digest.Digest, _ progress) { k.Failures = d.Failures() })
}

func (s *Server) reports(q asked) (any, error) {
	l, err := s.Runs.Find(q.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if l.Records > smallRun {
		return view.Reports{Reports: []view.Report{}}, nil
	}
	t, err := s.Runs.Load(l.ID)
	if err != nil {
		return nil, err
	}
	found := view.Reports{Reports: []view.Report{}}
	if o := t.Run.Origin; o != nil && o.Detail != trace.Recorded {
		return found, nil
	}
	var b bytes.Buffer
	if err := text.Report(&b, metrics.Summarize(t, metrics.Options{}), q.lang); err != nil {
		return nil, err
	}
	found.Reports = append(found.Reports, view.Report{Dialect: "pitot", Text: b.String()})
	for _, tool := range known.Tools() {
		if tool.Report == nil {
			continue
		}
		r, err := tool.Report(t, "")
		if err != nil {
			continue
		}
		var b bytes.Buffer
		if err := r.WriteTable(&b); err != nil {
			return nil, err
		}
		found.Reports = append(found.Reports, view.Report{Dialect: tool.Name, Text: b.String()})
	}
	return found, nil
}

// digest finds the run that a question is of, and its digest.
func (s *Server) digest(r *http.Request) (*followed, error) {
	l, err := s.Runs.Find(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	f, err := s.stored().of(l)
	if err == nil {
		f.await(r.Context())
	}
	return f, err
}

func (s *Server) course(q asked) (any, error) {
	f, err := s.digest(q.Request)
	if err != nil {
		return nil, err
	}
	var c view.Course
	err = f.ask(func(d *digest.Digest, p progress) {
		c = d.Course(q.lang)
		c.Records, c.Running = p.Records, p.Running
	})
	return c, err
}

func (s *Server) requestRows(w http.ResponseWriter, r *http.Request) {
	f, err := s.digest(r)
	if err != nil {
		refuse(w, err)
		return
	}
	from, until := r.FormValue("from"), r.FormValue("until")
	window := digest.Window{Since: counted(r, "since", 0), Most: counted(r, "most", 0)}
	window.From, _ = strconv.ParseFloat(from, 64)
	window.Until, _ = strconv.ParseFloat(until, 64)
	var rows view.Rows
	if err := f.ask(func(d *digest.Digest, _ progress) { rows = d.Rows(window) }); err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	_ = rows.Encode(w)
}

// counted is a parameter of a question.
func counted(r *http.Request, name string, otherwise int) int {
	if n, err := strconv.Atoi(r.FormValue(name)); err == nil && n >= 0 {
		return n
	}
	return otherwise
}

func (s *Server) requests(q asked) (any, error) {
	f, err := s.digest(q.Request)
	if err != nil {
		return nil, err
	}
	choice := digest.Choice{Class: q.FormValue("class"), Sort: q.FormValue("sort"), Offset: counted(q.Request, "offset", 0), Limit: min(counted(q.Request, "limit", 100), 500)}
	if by := strings.TrimPrefix(choice.Sort, "-"); by != "" && !slices.Contains(digest.Sorts(), by) {
		return nil, badQuestion(fmt.Sprintf("sort=%s: must be one of %s, with - in front for the largest first", choice.Sort, strings.Join(digest.Sorts(), ", ")))
	}
	found := view.Records{Rows: []view.Request{}}
	var indices []int
	stream := false
	err = f.ask(func(d *digest.Digest, _ progress) {
		indices, found.Total = d.Select(choice)
		stream = d.Stream()
	})
	for _, index := range indices {
		r, errRead := s.Runs.Record(f.id, index)
		if errRead != nil {
			continue // it was removed, or is damaged
		}
		found.Rows = append(found.Rows, view.NewRecord(r, stream, q.lang))
	}
	return found, err
}

func (s *Server) request(q asked) (any, error) {
	l, err := s.Runs.Find(q.PathValue("id"))
	if err != nil {
		return nil, err
	}
	index, err := strconv.Atoi(q.PathValue("index"))
	if err != nil {
		return nil, badQuestion(fmt.Sprintf("request %q: must be a number", q.PathValue("index")))
	}
	run, err := s.Runs.Run(l.ID)
	if err != nil {
		return nil, err
	}
	r, err := s.Runs.Record(l.ID, index)
	if err != nil {
		return nil, err
	}
	return view.NewRequest(r, run.Plan.Stream, q.lang), nil
}

// A badQuestion is one with a parameter that cannot be.
type badQuestion string

// Error says what cannot be.
func (e badQuestion) Error() string { return string(e) }
