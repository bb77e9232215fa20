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
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"

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

// answer makes a handler of a function whose result is sent as JSON.
func answer(find func(asked) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found, err := find(asked{r, words.In(r.URL.Query().Get("lang"))})
		if err != nil {
			refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(found) // whoever asked may be gone
	})
}

// refuse says why there is no answer.
func refuse(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	if errors.Is(err, store.ErrNoRun) || errors.Is(err, store.ErrNoExperiment) || errors.Is(err, store.ErrNoSearch) {
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

func (s *Server) list(q asked) (any, error) {
	all, err := s.Runs.List(store.Filter{Limit: 200})
	if err != nil {
		return nil, err
	}
	found := view.Runs{Total: len(all)}
	for _, l := range slices.All(all) {
		found.Rows = append(found.Rows, view.NewRow(l, q.lang))
	}
	return found, nil
}
