package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"

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

// A labelChange is the body of POST /api/runs/{id}/labels: the tags, the remark, or both. A missing
// one stays unchanged.
type labelChange struct {
	tags   []*string
	remark *string
}

// UnmarshalJSON refuses what would be ignored: other members, a member twice, and null.
func (c *labelChange) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return errors.New("must be an object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		switch {
		case name == "tags" && c.tags == nil:
			err = d.Decode(&c.tags)
			if err != nil || c.tags == nil || slices.Contains(c.tags, nil) {
				return errors.New("tags must be a list of texts")
			}
		case name == "remark" && c.remark == nil:
			if err = d.Decode(&c.remark); err != nil || c.remark == nil {
				return errors.New("remark must be a text")
			}
		case name == "tags" || name == "remark":
			return fmt.Errorf("%s is there twice", name)
		default:
			return fmt.Errorf("%.40q is neither tags nor remark", name)
		}
	}
	return nil
}

func (c labelChange) apply(to *trace.Labels) {
	if c.tags != nil {
		to.Tags = nil
		for _, tag := range c.tags {
			to.Tags = append(to.Tags, *tag)
		}
	}
	if c.remark != nil {
		to.Remark = *c.remark
	}
}

// label answers POST /api/runs/{id}/labels.
func (s *Server) label(q asked, wanted labelChange) (any, error) {
	if wanted.tags == nil && wanted.remark == nil {
		return nil, mistakef("the body: has neither tags nor remark")
	}
	var labels trace.Labels
	wanted.apply(&labels)
	if _, err := labels.Clean(); err != nil {
		return nil, mistakef("%w", err)
	}
	l, err := s.Runs.Find(q.PathValue("id"))
	if err != nil {
		return nil, err
	}
	stored, err := s.Runs.Label(l.ID, func(now *trace.Labels) error {
		wanted.apply(now)
		return nil
	})
	return view.Labels{Tags: stored.Tags, Remark: stored.Remark}, err
}
