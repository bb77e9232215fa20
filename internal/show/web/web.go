// Package web serves the page: the runs of a store, to look at in a browser.
//
// It reads a store that other processes write, and changes nothing but tags and remarks, if it
// is allowed to. A run is never made here: the page of a run under way reads what its process
// commits.
//
//	browser ── / ────────> the page itself, embedded (dist, which make build fills from web/)
//	        ── /api/... ─> package view, as JSON
//
// Texts of servers and files are JSON strings on the way, and text nodes in the page.
package web

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"

	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

//go:embed dist
var dist embed.FS

// Built reports whether the page is in this binary, or only a placeholder.
func Built() bool {
	_, err := fs.Stat(dist, "dist/index.html")
	return err == nil
}

// A Server answers the questions of the page.
type Server struct {
	Runs    *store.Store
	File    string // of the store
	Version string
	Write   bool // tags and remarks may be written
	Finder  Finder
	// Conformity are results of `pitot conform`, in the order in which they were given.
	Conformity []conform.Report

	loads loadNames
}

// Handler returns the page and its answers.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /", page())
	mux.Handle("GET /api/hello", answer(s.hello))
	mux.Handle("GET /api/runs", answer(s.list))
	s.handleSearches(mux)
	return mux
}

// page serves what is embedded.
func page() http.Handler {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is a constant
	}
	if !Built() {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "placeholder.html") })
	}
	return http.FileServerFS(files)
}

// An asked is a question of the page.
type asked struct {
	*http.Request
	lang *words.Language
}

// values are the parameters of the question.
func (q asked) values() url.Values { return q.URL.Query() }

// answer makes a handler of a function whose result is sent as JSON.
func answer(find func(asked) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found, err := find(asked{r, words.In(r.URL.Query().Get("lang"))})
		var body []byte
		if err == nil {
			body, err = view.JSON(found)
		}
		if err != nil {
			refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(append(body, '\n')) // whoever asked may be gone
	})
}

// A mistake is an error of whoever asked.
type mistake struct{ error }

func (m mistake) Unwrap() error { return m.error }

// mistakef is a mistake of fmt.Errorf.
func mistakef(format string, a ...any) error { return mistake{fmt.Errorf(format, a...)} }

// refuse says why there is no answer.
func refuse(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	switch {
	case errors.As(err, new(mistake)):
		code = http.StatusBadRequest
	case errors.Is(err, store.ErrNoRun), errors.Is(err, store.ErrNoExperiment), errors.Is(err, store.ErrNoSearch):
		code = http.StatusNotFound
	}
	http.Error(w, err.Error(), code)
}

func (s *Server) hello(q asked) (any, error) {
	return view.Hello{
		Version: s.Version, Store: filepath.Base(s.File), Write: s.Write,
		Language: q.lang.Name, Languages: words.Names(), Words: q.lang.Under("page."),
	}, nil
}
