package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/tool/known"
)

func (s *Server) runRoutes(mux *http.ServeMux) {
	mux.Handle("GET /api/runs/{id}", answer(s.run))
	mux.Handle("GET /api/runs/{id}/reports", answer(s.reports))
	mux.Handle("GET /api/runs/{id}/course", answer(s.course))
	mux.Handle("GET /api/runs/{id}/requests", answer(s.requests))
	mux.Handle("GET /api/runs/{id}/requests/{index}", answer(s.request))
	mux.HandleFunc("GET /api/runs/{id}/rows", s.requestRows)
}

func (s *Server) run(q asked) (any, error) {
	l, err := s.Runs.Find(q.PathValue("id"))
	if err != nil {
		return nil, err
	}
	k := view.Known{Listing: l, Rules: known.Rules()}
	if k.Run, err = s.Runs.Run(l.ID); err != nil {
		return nil, err
	}
	if o := k.Run.Origin; o != nil && o.Detail != trace.Recorded {
		k.Tool, k.Form = o.Tool, o.Form
	}
	if err := s.known(q, &k); err != nil {
		return nil, err
	}
	for _, c := range known.CommandsAgain(k.Run, s.StoreFlag) {
		k.Commands = append(k.Commands, view.Command{Dialect: c.Dialect, Line: c.Line, Note: textOf(q, c.Notes)})
	}
	return view.NewRun(k, q.lang), nil
}

// textOf words several messages as one text.
func textOf(q asked, all []plan.Message) string { return q.lang.SayAll("stop", all) }

// known adds figures and failures: those that are stored, those of all records of a run that has
// few, or of its digest as far as that has come.
func (s *Server) known(q asked, k *view.Known) (err error) {
	l := k.Listing
	stored := false
	if k.Figures, stored, err = s.Runs.Figures(l.ID, metrics.Pitot, metrics.Version); err != nil {
		return err
	}
	if (!stored || l.Records > 0) && l.Status != trace.Running && small(s.Runs, l, quickWeight) {
		return s.summed(k, !stored)
	}
	s.Runs.NoteMissing(&k.Run)
	if stored && l.Failed <= 0 {
		return nil
	}
	f, err := s.followed(q.Request, l)
	if err != nil {
		return err
	}
	return f.ask(func(d *view.Digest, _ progress) {
		k.Failures = d.Failures()
		if !stored {
			k.Figures, k.Doubt = d.Figures()
		}
	})
}

// summed adds what takes all records of a run: latencies with their bounds, and figures, if none are stored.
func (s *Server) summed(k *view.Known, figures bool) error {
	s.fullReads.Lock() // one at a time: each takes as much memory as the run
	defer s.fullReads.Unlock()
	t, err := s.Runs.Load(k.Listing.ID)
	if err != nil {
		return err
	}
	k.Run.Notes, k.Run.Verdict = t.Run.Notes, t.Run.Verdict // they name the damaged parts
	if figures && s.Figures != nil {
		k.Figures = s.Figures(t)
	}
	if k.Tool == "" {
		sum := metrics.Summarize(t, metrics.Options{})
		k.Summary, k.Service, k.Failures = &sum, &sum.Service, sum.Requests.Classes
	}
	return nil
}

// followed is the digest of a run; a question waits a little for it to be complete.
func (s *Server) followed(r *http.Request, l store.Listing) (*followed, error) {
	f, err := s.read.of(l)
	if err == nil {
		f.await(r.Context())
	}
	return f, err
}

// digest finds the run that a question is of, and its digest.
func (s *Server) digest(r *http.Request) (*followed, error) {
	l, err := s.Runs.Find(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return s.followed(r, l)
}

func (s *Server) course(q asked) (any, error) {
	f, err := s.digest(q.Request)
	if err != nil {
		return nil, err
	}
	var c view.Course
	err = f.ask(func(d *view.Digest, p progress) {
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
	window, err := windowOf(r)
	if err != nil {
		refuse(w, err)
		return
	}
	var rows view.Rows
	if err := f.ask(func(d *view.Digest, _ progress) { rows = d.Rows(window) }); err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	if r.FormValue("packed") != "" {
		_ = rows.Pack(w, packedUnit)
		return
	}
	_ = rows.Encode(w)
}

// packedUnit is how exact the instants of a report's timeline are, in seconds.
const packedUnit = 1e-4

// windowOf reads which rows are asked for.
func windowOf(r *http.Request) (w view.Window, err error) {
	for name, into := range map[string]*float64{"from": &w.From, "until": &w.Until} {
		if text := r.FormValue(name); text != "" {
			if *into, err = strconv.ParseFloat(text, 64); err != nil || !(*into >= 0) {
				return w, mistakef("%s=%s: must be a number of seconds since the start of the run", name, text)
			}
		}
	}
	if w.Since, err = count(r, "since", 0); err == nil {
		w.Most, err = count(r, "most", 0)
	}
	return w, err
}

// count is a parameter of a question: an integer.
func count(r *http.Request, name string, otherwise int) (int, error) {
	text := r.FormValue(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, mistakef("%s=%s: must be a whole number, and not negative", name, text)
	}
	return n, nil
}

func choiceOf(r *http.Request) (c view.Choice, err error) {
	c.Class, c.Sort = r.FormValue("class"), r.FormValue("sort")
	if by := strings.TrimPrefix(c.Sort, "-"); by != "" && !slices.Contains(view.Sorts(), by) {
		return c, mistakef("sort=%s: must be one of %s, with - in front for the largest first", c.Sort, strings.Join(view.Sorts(), ", "))
	}
	if c.Offset, err = count(r, "offset", 0); err == nil {
		c.Limit, err = count(r, "limit", 100)
	}
	c.Limit = min(c.Limit, mostListed)
	return c, err
}

// mostListed is how many requests one answer has.
const mostListed = 500

func (s *Server) requests(q asked) (any, error) {
	f, err := s.digest(q.Request)
	if err != nil {
		return nil, err
	}
	choice, err := choiceOf(q.Request)
	if err != nil {
		return nil, err
	}
	found := view.Records{Rows: []view.Request{}}
	var indices []int
	stream := false
	err = f.ask(func(d *view.Digest, _ progress) {
		indices, found.Total = d.Select(choice)
		stream = d.Stream()
	})
	for _, r := range s.Runs.Records(f.id, indices) {
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
		return nil, mistakef("request %q: must be a number", q.PathValue("index"))
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
