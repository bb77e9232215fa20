package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/exposition"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// A Server asks a serving engine about itself, over the same transport as the
// load.
type Server struct {
	Transport Transport
	URL       string // without a route, e.g. http://127.0.0.1:8000
	Header    http.Header
	Secrets   *secret.Set // hidden in errors and in what Get returns
}

// A Model is an entry of /v1/models.
type Model struct {
	ID        string `json:"id"`
	Root      string `json:"root"` // path of the weights, if the server reports it
	MaxLength int    `json:"max_model_len"`
	Meta      Meta   `json:"meta"`
}

// A StatusError is an answer that was not 200.
type StatusError struct {
	Route  string
	Status int
	Body   string // its first kilobyte
}

func (e *StatusError) Error() string {
	body := strings.TrimSpace(e.Body)
	if body == "" {
		return fmt.Sprintf("%s answered HTTP %d (%s)", e.Route, e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("%s answered HTTP %d (%s): %s", e.Route, e.Status, http.StatusText(e.Status), body)
}

// MayPass tells whether the same call could be answered a moment later, as when
// the server is starting behind a gateway.
func (e *StatusError) MayPass() bool { return trace.HTTP.MayPass(e.Status, e.Body) }

// A CallError is a request that got no answer.
type CallError struct {
	Route string
	Class trace.Class
	Err   error
}

func (e *CallError) Error() string {
	if e.Class == trace.Other {
		return fmt.Sprintf("%s: %v", e.Route, e.Err)
	}
	return fmt.Sprintf("%s: %s: %v", e.Route, e.Class.Brief(), e.Err)
}

func (e *CallError) Unwrap() error { return e.Err }

// MayPass tells whether the same call could succeed a moment later, as when the
// server is starting.
func (e *CallError) MayPass() bool { return e.Class.MayPass(0, "") }

// maxSide is the largest answer of a side route, in bytes.
const maxSide = 32 << 20

// collector stores a response; of an error, the part that is reported.
type collector struct {
	limit  int // in bytes
	status int
	header http.Header
	body   bytes.Buffer
}

func (c *collector) Head(status int, header http.Header) { c.status, c.header = status, header }

func (c *collector) Data(p []byte, _ transport.Stamp) error {
	limit := c.limit
	switch {
	case compression(c.header) != "":
		return transport.ErrEnough
	case c.status != http.StatusOK:
		limit = errorKept
	}
	if c.body.Len()+len(p) <= limit {
		c.body.Write(p)
		return nil
	}
	c.body.Write(p[:limit-c.body.Len()])
	if c.status != http.StatusOK {
		return transport.ErrEnough
	}
	return fmt.Errorf("%w: the limit is %d MiB", ErrLarge, limit>>20)
}

// call makes one request and returns the body of a 200. There is no secret in its error.
func (s Server) call(ctx context.Context, method, route string, in any) ([]byte, error) {
	return s.callUpTo(ctx, maxSide, method, route, in)
}

// callUpTo is call for an answer of so many bytes at most.
func (s Server) callUpTo(ctx context.Context, limit int, method, route string, in any) ([]byte, error) {
	body, err := s.exchange(ctx, limit, method, route, in)
	return body, s.Secrets.Error(err)
}

func (s Server) exchange(ctx context.Context, limit int, method, route string, in any) ([]byte, error) {
	req := &transport.Request{Method: method, URL: s.URL + route}
	header := s.Header.Clone()
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		req.Body = body
		if header == nil {
			header = http.Header{}
		}
		header.Set("Content-Type", "application/json")
	}
	req.Header = transport.NewHeader(header)
	c, err := s.follow(ctx, req, limit)
	switch {
	case err != nil:
		return nil, &CallError{s.URL + route, classify(err), err}
	case c.status != http.StatusOK:
		return nil, &StatusError{
			s.URL + route, c.status, FirstKilobyte(s.Secrets.Hide(refusal(req.URL, c.status, c.header, c.body.Bytes()))),
		}
	case compression(c.header) != "":
		return nil, &CallError{s.URL + route, trace.Malformed, errors.New(refusal(req.URL, c.status, c.header, nil))}
	}
	return c.body.Bytes(), nil
}

// sideLimit is the time limit for what a server says of itself.
const sideLimit = 30 * time.Second

func (s Server) callJSON(ctx context.Context, method, route string, in, out any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, sideLimit, transport.ErrTimeout)
	defer cancel()
	body, err := s.call(ctx, method, route, in)
	if err != nil {
		return err
	}
	if err := plan.Unmarshal(body, out); err != nil {
		return s.Secrets.Error(fmt.Errorf("%s: answer is not the JSON expected: %w", s.URL+route, err))
	}
	return nil
}

// Models lists /v1/models.
func (s Server) Models(ctx context.Context) ([]Model, error) {
	var list struct {
		Data []Model `json:"data"`
	}
	if err := s.callJSON(ctx, http.MethodGet, "/v1/models", nil, &list); err != nil {
		return nil, err
	}
	if len(list.Data) == 0 {
		return nil, fmt.Errorf("%s/v1/models lists no model", s.URL)
	}
	return list.Data, nil
}

// Version is what /version says, empty if it says nothing.
func (s Server) Version(ctx context.Context) (string, error) {
	var v struct {
		Version string `json:"version"`
	}
	err := s.callJSON(ctx, http.MethodGet, "/version", nil, &v)
	return v.Version, err
}

// Post calls a route, such as /start_profile, with a JSON body or nil for none.
func (s Server) Post(ctx context.Context, route string, body json.RawMessage) error {
	var in any
	if body != nil {
		in = body
	}
	_, err := s.call(ctx, http.MethodPost, route, in)
	return err
}

// Get is what a route says, in JSON.
func (s Server) Get(ctx context.Context, route string) (json.RawMessage, error) {
	var body json.RawMessage
	err := s.callJSON(ctx, http.MethodGet, route, nil, &body)
	return s.Secrets.HideJSON(body), err
}

// Ask reads what a route says into out.
func (s Server) Ask(ctx context.Context, route string, out any) error {
	return s.callJSON(ctx, http.MethodGet, route, nil, out)
}

// Metrics reads /metrics. The context limits the time for all of it, parsing included.
func (s Server) Metrics(ctx context.Context) ([]exposition.Sample, error) {
	body, err := s.callUpTo(ctx, exposition.MaxBytes, http.MethodGet, "/metrics", nil)
	if err != nil {
		return nil, err
	}
	page, err := exposition.Parse(ctx, "", body)
	if err != nil {
		return nil, s.Secrets.Error(fmt.Errorf("%s/metrics: %w", s.URL, err))
	}
	return page.Samples, nil
}
