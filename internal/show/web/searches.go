package web

import (
	"net/http"

	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/show/conformity"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A Finder reads sweeps and capacity searches, which areas above this one make.
type Finder struct {
	List func(*store.Store, *words.Language) (view.Searches, error)
	Show func(*store.Store, string, *words.Language) (view.Search, error)
}

// handleSearches answers questions about searches, predictions and the errors of clients.
func (s *Server) handleSearches(mux *http.ServeMux) {
	mux.Handle("GET /api/searches", answer(func(q asked) (any, error) { return s.Finder.List(s.Runs, q.lang) }))
	mux.Handle("GET /api/searches/{name}", answer(func(q asked) (any, error) { return s.Finder.Show(s.Runs, q.PathValue("name"), q.lang) }))
	mux.Handle("GET /api/runs/{id}/predicted", answer(func(q asked) (any, error) { return view.NewPredicted(s.Runs, q.PathValue("id"), q.lang) }))
	mux.Handle("GET /api/conform", answer(func(q asked) (any, error) { return conformity.View(s.Conformity, q.lang), nil }))
}
