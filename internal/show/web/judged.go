package web

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/show/comparison"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// Judged answers questions about comparisons, experiments and lab notes, which need more than a
// store.
type Judged struct {
	Compare     func(context.Context, view.Asked, *words.Language) (view.Comparison, error)
	Note        func(context.Context, view.Asked, *words.Language) (view.Note, comparison.NotePage, error)
	RunNote     func(ctx context.Context, id string, lang *words.Language) (view.RunNote, error)
	Experiments func(*words.Language) (view.Experiments, error)
	Experiment  func(name string, lang *words.Language) (view.Experiment, error)
	// Log is the end of the output of the server of a leg.
	Log func(name string, leg int) (string, error)
}

func (s *Server) judged(mux *http.ServeMux) {
	if s.Judged.Compare == nil {
		return
	}
	mux.Handle("GET /api/compare", answer(s.compare))
	mux.Handle("GET /api/note", answer(s.note))
	mux.Handle("GET /api/runs/{id}/note", answer(func(q asked) (any, error) { return s.Judged.RunNote(q.Context(), q.PathValue("id"), q.lang) }))
	mux.Handle("GET /api/note/plot", send(s.notePlot))
	mux.Handle("GET /api/note/download", send(s.noteFile))
	mux.Handle("GET /api/experiments", answer(func(q asked) (any, error) { return s.Judged.Experiments(q.lang) }))
	mux.Handle("GET /api/experiments/{name}", answer(func(q asked) (any, error) { return s.Judged.Experiment(q.PathValue("name"), q.lang) }))
	mux.Handle("GET /api/experiments/{name}/log", send(s.legLog))
}

// A file is an answer that is not JSON.
type file struct {
	kind string // its media type
	name string // to save it under; empty: it is only shown
	data []byte
}

// send makes a handler that sends the result of a function unchanged, with a policy under which
// nothing in it can run, even if opened by itself.
func send(find func(asked) (file, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, err := find(asked{r, words.In(r.URL.Query().Get("lang"))})
		if err != nil {
			refuse(w, err)
			return
		}
		h := w.Header()
		h.Set("Content-Type", f.kind)
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		if f.name != "" {
			h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q; filename*=UTF-8''%s", unquotable.ReplaceAllString(f.name, "-"), url.PathEscape(f.name)))
		}
		_, _ = w.Write(f.data) // whoever asked may be gone
	})
}

// unquotable is what a file name of a header is better without.
var unquotable = lazy.Regexp(`[^A-Za-z0-9._-]+`)

// Bounds of a question for a comparison.
const (
	mostAsked  = 200 // of runs
	mostValues = 100 // of settings and gates
)

func (s *Server) compare(q asked) (any, error) {
	a, err := questionOf(q.values())
	if err != nil {
		return nil, err
	}
	return s.Judged.Compare(q.Context(), a, q.lang)
}

// questionOf reads a question for a comparison: run (names, ids, patterns, experiments), baseline,
// level and margin (shares), paired, single, predicted, ignore, by, gate.
func questionOf(v url.Values) (a view.Asked, err error) {
	a = view.Asked{Runs: v["run"], Baseline: v.Get("baseline"), Ignore: v["ignore"], By: v.Get("by"), Gates: v["gate"]}
	switch {
	case len(a.Runs) == 0:
		return a, mistakef("run: must name at least one run")
	case len(a.Runs) > mostAsked:
		return a, mistakef("run: at most %d names; a pattern stands for many runs", mostAsked)
	case len(a.Ignore)+len(a.Gates) > mostValues:
		return a, mistakef("ignore, gate: at most %d of them", mostValues)
	}
	for name, all := range v {
		for _, value := range all {
			if len(value) > longText {
				return a, mistakef("%s: must be at most %d bytes", name, longText)
			}
		}
	}
	if a.Level, err = share(v, "level"); err != nil {
		return a, err
	}
	if a.Margin, err = share(v, "margin"); err != nil {
		return a, err
	}
	for name, flag := range map[string]*bool{"paired": &a.Paired, "single": &a.Single, "predicted": &a.Predicted} {
		*flag = v.Get(name) == "1"
	}
	return a, nil
}

// share reads a parameter between 0 and 1, 0 if it is not given.
func share(v url.Values, name string) (float64, error) {
	text := v.Get(name)
	if text == "" {
		return 0, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0 && x < 1) {
		return 0, mistakef("%s=%s: must be a share between 0 and 1, such as 0.02", name, text)
	}
	return x, nil
}

func (s *Server) note(q asked) (any, error) {
	a, err := questionOf(q.values())
	if err != nil {
		return nil, err
	}
	n, page, err := s.Judged.Note(q.Context(), a, q.lang)
	if err != nil || n.Refused != nil {
		return n, err
	}
	var html strings.Builder
	plot := q.values() // a copy of the question
	err = doc.Fragment(&html, page.Document.WithImages(func(name string) string {
		plot.Set("name", name)
		return "api/note/plot?" + plot.Encode()
	}), 1)
	n.HTML = html.String()
	return n, err
}

// notePlot is the plot of a note that is called name.
func (s *Server) notePlot(q asked) (file, error) {
	a, err := questionOf(q.values())
	if err != nil {
		return file{}, err
	}
	_, page, err := s.Judged.Note(q.Context(), a, q.lang)
	if err != nil {
		return file{}, err
	}
	name := q.values().Get("name")
	for _, p := range page.Plots {
		if p.Name == name {
			return file{kind: "image/svg+xml", data: p.Data}, nil
		}
	}
	return file{}, fmt.Errorf("name=%s: the note has no such plot: %w", name, fs.ErrNotExist)
}

// noteFile is a note with its plots, for download.
func (s *Server) noteFile(q asked) (file, error) {
	a, err := questionOf(q.values())
	if err != nil {
		return file{}, err
	}
	n, page, err := s.Judged.Note(q.Context(), a, q.lang)
	if err != nil {
		return file{}, err
	}
	if n.Refused != nil {
		return file{}, mistakef("%s", n.Refused.Text)
	}
	name := strings.Trim(strings.Map(plainLetter, n.Title), "-. ")
	name = cmp.Or(name, "note")
	data, err := zipped(append([]comparison.NoteFile{{Name: "./note.md", Data: page.Markdown}}, page.Plots...))
	return file{kind: "application/zip", name: name + ".zip", data: data}, err
}

// plainLetter keeps what no system refuses in the name of a file.
func plainLetter(r rune) rune {
	if strings.ContainsRune(`/\:*?"<>|%`, r) || r < ' ' {
		return '-'
	}
	return r
}

func zipped(files []comparison.NoteFile) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range files {
		w, err := z.Create(path.Clean(f.Name))
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return out.Bytes(), err
}

// legLog is the end of the output of the server of a leg, as text.
func (s *Server) legLog(q asked) (file, error) {
	leg, err := number(q.values(), "leg", 0, 1, 1<<20)
	if err != nil {
		return file{}, err
	}
	text, err := s.Judged.Log(q.PathValue("name"), leg)
	return file{kind: "text/plain; charset=utf-8", data: []byte(text)}, err
}
