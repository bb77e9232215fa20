package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/design"
)

// Ready waits until the server is ready, and says how long that took since its start: its route answers 200. The
// route is that of the server, else /health, or /v1/models where there is no /health. It ends at once when the
// server does, with an EndedError; a NotReadyError says that the time is over.
func (r *Running) Ready(ctx context.Context) (took time.Duration, err error) {
	if err := r.awaitRoute(ctx); err != nil {
		return 0, r.o.Secrets.Error(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ready = time.Since(r.began)
	return r.ready, nil
}

func (r *Running) awaitRoute(ctx context.Context) error {
	limit := orDefault(r.server.ReadyTimeout, readyTimeout)
	left := func() time.Duration { return limit - time.Since(r.began) }
	late := NotReadyError{URL: r.o.clean(r.o.URL), Limit: limit}
	if r.server.Runner == design.Kubectl {
		r.o.warn("server.waiting-rollout", "deployment", r.server.Deployment, "limit", limit)
		if _, err := r.announcement(ctx, r.handle.Tree.Mark, left()); err != nil {
			return err
		}
	}
	reported := ""
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // a question under way ends with the server
		select {
		case <-r.done:
			cancel()
		case <-asking.Done():
		}
	}()
	err := r.wait(ctx, left(), func() bool {
		var ok bool
		late.URL, late.Answer, ok = r.route(asking)
		if !ok && late.Answer != reported && asking.Err() == nil {
			reported = late.Answer
			r.o.warn("server.waiting-ready", "url", late.URL, "answer", late.Answer, "limit", limit)
		}
		return ok
	})
	if errors.Is(err, errLimit) {
		late.Lines = r.lines()
		return &late
	}
	return err
}

// route asks whether the server is up, and returns the address and the answer.
func (r *Running) route(ctx context.Context) (at, answer string, ok bool) {
	routes := []string{"/health", "/v1/models"}
	if r.server.Ready != "" {
		routes = []string{r.server.Ready}
	}
	for _, route := range routes {
		at = strings.TrimSuffix(r.o.URL, "/") + "/" + strings.TrimPrefix(route, "/")
		status, err := r.get(ctx, at)
		if err != nil {
			return r.o.clean(at), r.o.clean(err.Error()), false
		}
		answer = fmt.Sprintf("HTTP %d", status)
		if status == http.StatusOK {
			return r.o.clean(at), answer, true
		}
		if status != http.StatusNotFound && status != http.StatusMethodNotAllowed && status != http.StatusNotImplemented {
			break // there is such a route, and it says no: /v1/models may answer while a model is loaded
		}
	}
	return r.o.clean(at), answer, false
}

func (r *Running) get(ctx context.Context, at string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, r.o.Waits.Respond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return 0, err
	}
	answer, err := r.o.HTTP.Do(request)
	if err != nil {
		return 0, plainly(err)
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, 1<<16) // so that the server sees no broken connection
	return answer.StatusCode, nil
}

// plainly is the error of a connection, without addresses, which change with each attempt.
func plainly(err error) error {
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		err = op.Err
	}
	return err
}
