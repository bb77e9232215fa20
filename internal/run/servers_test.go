package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// without answers a route with a status alone.
func without(route string, status int) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == route {
				w.WriteHeader(status)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
}

func both(one, other func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler { return one(other(h)) }
}

// flushing has only SGLang's route, which refuses some times.
func flushing(refusals int64) func(http.Handler) http.Handler {
	var n atomic.Int64
	return both(without("/reset_prefix_cache", http.StatusNotFound), func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/flush_cache" && n.Add(1) <= refusals {
				http.Error(w, "Flush cache failed: requests are running.", http.StatusBadRequest)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
}

// nowhere is a response that nobody reads.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) WriteHeader(int)             {}

func mustRequest(t *testing.T, route string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://server"+route, http.NoBody)
	if err != nil {
		t.Error(err)
	}
	return r
}

// still is a response of which nothing is written from one instant to another.
type still struct {
	http.ResponseWriter
	from, to time.Time
}

func (s *still) Write(b []byte) (int, error) {
	if now := time.Now(); now.After(s.from) && now.Before(s.to) {
		time.Sleep(s.to.Sub(now))
	}
	return s.ResponseWriter.Write(b)
}

// Unwrap is for flushes.
func (s *still) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// lines opens a file of lines.
func lines(name string, all ...string) func(string) (workload.Reader, error) {
	files := fstest.MapFS{name: {Data: []byte(strings.Join(all, "\n"))}}
	return func(name string) (workload.Reader, error) {
		f, err := files.Open(name)
		if err != nil {
			return nil, err
		}
		r, ok := f.(interface {
			fs.File
			io.ReaderAt
		})
		if !ok {
			return nil, errors.New("no reader")
		}
		return r, nil
	}
}

func fmtIDs(ids []int32) string { return fmt.Sprint(ids) }
