package web

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/view"
)

// longBody bounds what a change sends, in bytes.
const longBody = 64 << 10

// change makes a handler of a function that changes something: of JSON, if the server may write.
func change[T any](s *Server, do func(q asked, wanted T) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var wanted T
		err := s.changes(w, r, &wanted)
		if err != nil {
			refuse(w, err)
			return
		}
		answer(func(q asked) (any, error) { return do(q, wanted) }).ServeHTTP(w, r)
	})
}

// changes reads the body of a request that changes something.
func (s *Server) changes(w http.ResponseWriter, r *http.Request, wanted any) error {
	if !s.Write {
		return refusalf(http.StatusForbidden, "read-only: start pitot ui with --write to let the page change tags and remarks")
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return refusalf(http.StatusUnsupportedMediaType, "Content-Type must be application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longBody))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return refusalf(http.StatusRequestEntityTooLarge, "the body must be at most %d bytes", longBody)
	case err != nil:
		return mistakef("read the body: %w", err)
	}
	if err := json.Unmarshal(body, wanted); err != nil {
		return mistakef("the body: %w", err)
	}
	return nil
}

// label answers POST /api/runs/{id}/labels.
func (s *Server) label(q asked, wanted view.Labels) (any, error) {
	labels, err := trace.Labels{Tags: wanted.Tags, Remark: wanted.Remark}.Clean()
	if err != nil {
		return nil, mistakef("%w", err)
	}
	l, err := s.Runs.Find(q.PathValue("id"))
	if err != nil {
		return nil, err
	}
	stored, err := s.Runs.Label(l.ID, func(now *trace.Labels) error {
		*now = labels
		return nil
	})
	return view.Labels{Tags: stored.Tags, Remark: stored.Remark}, err
}
