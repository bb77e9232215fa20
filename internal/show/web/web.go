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
	"cmp"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
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

// A Server answers the questions of the page. Its fields are not changed once it answers.
type Server struct {
	Runs    *store.Store
	File    string // of the store
	Version string
	Write   bool // tags and remarks may be written
	// StoreFlag is the store as a command line has to name it; empty: the default one.
	StoreFlag string
	// Language is that of the page until its reader chooses one; empty: the browser's.
	Language string
	// Figures computes those of a run that has none stored; nil: they are not computed.
	Figures func(*trace.Trace) []trace.ReportedFigure
	// Judged answers questions about several runs.
	Judged Judged
	Finder Finder
	// Conformity are results of `pitot conform`, in the order in which they were given.
	Conformity []conform.Report

	once      sync.Once // makes what follows
	live      hub
	reckon    reckoner
	loads     loadNames
	lines     sparklines
	exports   chan struct{}
	read      digests
	fullReads sync.Mutex // of questions that take all records of a run
}

// Handler returns the page and its answers to whoever asks; a Guard decides who may.
func (s *Server) Handler() http.Handler {
	s.once.Do(func() {
		s.exports = make(chan struct{}, manyExports)
		s.live.runs, s.live.streams = s.Runs, map[*stream]bool{}
		s.read.store = s.Runs
		s.reckon.runs, s.reckon.compute, s.reckon.changed = s.Runs, s.Figures, s.live.touch
	})
	mux := http.NewServeMux()
	mux.Handle("GET /", page())
	mux.Handle("GET /api/", http.HandlerFunc(noSuchAnswer))
	mux.Handle("GET /api/hello", answer(s.hello))
	mux.Handle("GET /api/runs", answer(s.list))
	s.judged(mux)
	s.runRoutes(mux)
	mux.Handle("GET /api/sparks", answer(s.sparks))
	mux.Handle("GET "+eventsPath, http.HandlerFunc(s.events))
	mux.Handle("GET /api/runs/{id}/export", http.HandlerFunc(s.export))
	mux.Handle("POST /api/runs/{id}/labels", change(s, s.label))
	s.handleSearches(mux)
	return mux
}

// Close waits for the work in the background, after the last request.
func (s *Server) Close() {
	s.reckon.close()
	s.read.close()
}

func noSuchAnswer(w http.ResponseWriter, r *http.Request) {
	refuse(w, refusalf(http.StatusNotFound, "%s: no such answer", r.URL.Path))
}

// page serves the embedded files, or a placeholder for the page. A browser asks each time whether
// it has changed, as after an upgrade.
func page() http.Handler {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is a constant
	}
	serve, built, tags := http.FileServerFS(files), Built(), entityTags(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		switch {
		case r.URL.Path == "/" && !built:
			http.ServeFileFS(w, r, files, "placeholder.html")
		case r.URL.Path == "/":
			w.Header().Set("ETag", tags["index.html"])
			serve.ServeHTTP(w, r)
		case !built || strings.HasSuffix(r.URL.Path, "/"): // no lists of files
			http.NotFound(w, r)
		default:
			if tag := tags[strings.TrimPrefix(r.URL.Path, "/")]; tag != "" {
				w.Header().Set("ETag", tag)
			}
			serve.ServeHTTP(w, r)
		}
	})
}

// entityTags are hashes of files, by name.
func entityTags(files fs.FS) map[string]string {
	tags := map[string]string{}
	_ = fs.WalkDir(files, ".", func(name string, _ fs.DirEntry, _ error) error { // embedded files can be read
		if data, err := fs.ReadFile(files, name); err == nil {
			tags[name] = fmt.Sprintf(`"%x"`, sha256.Sum256(data))
		}
		return nil
	})
	return tags
}

// An asked is a question of the page.
type asked struct {
	*http.Request
	lang *words.Language
}

// values are the parameters of the question.
func (q asked) values() url.Values { return q.URL.Query() }

// answer makes a handler that sends the result of a function as JSON.
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

// mistakef is an error of whoever asked.
func mistakef(format string, a ...any) error { return refusalf(http.StatusBadRequest, format, a...) }

// refuse says why there is no answer.
func refuse(w http.ResponseWriter, err error) {
	code := status(err)
	for _, missing := range []error{store.ErrNoRun, store.ErrNoRecord, store.ErrNoExperiment, store.ErrNoSearch, fs.ErrNotExist} {
		if errors.Is(err, missing) {
			code = http.StatusNotFound
		}
	}
	http.Error(w, strings.ReplaceAll(err.Error(), "\n", "; "), code)
}

func (s *Server) hello(q asked) (any, error) {
	if _, err := s.Runs.Refresh(); err != nil {
		return nil, err
	}
	lang := words.In(cmp.Or(q.values().Get("lang"), s.Language, q.values().Get("browser")))
	return view.Hello{
		Version: s.Version, Store: filepath.Base(s.File), Write: s.Write,
		Language: lang.Name, Languages: words.Names(), Words: lang.Under("page."),
	}, nil
}
