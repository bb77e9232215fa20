package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/wire/exposition"
)

// An answer is a page as it came.
type answer struct {
	sent, received time.Time // before the request was written, after the last byte was read
	date           time.Time // zero: unknown
	age            time.Duration
	contentType    string
	packed         bool
}

// maxHops is how many redirects are followed, such as from /metrics to /metrics/.
const maxHops = 3

// An elsewhereError is a redirect that is not followed.
type elsewhereError struct{ to string }

func (e *elsewhereError) Error() string { return "redirected to " + e.to }

// newClient shares no connection with the run.
func newClient(cfg Config) *http.Client {
	t := &http.Transport{
		DialContext: cfg.Dial, TLSClientConfig: cfg.TLS, DisableCompression: true,
		MaxIdleConnsPerHost: 1, IdleConnTimeout: 4 * time.Second, MaxResponseHeaderBytes: 1 << 16,
		Protocols: new(http.Protocols),
	}
	if cfg.Proxy != nil {
		t.Proxy = func(r *http.Request) (*url.URL, error) { return cfg.Proxy(r.URL) }
	}
	t.Protocols.SetHTTP1(!cfg.HTTP2)
	t.Protocols.SetHTTP2(cfg.HTTP2)
	t.Protocols.SetUnencryptedHTTP2(cfg.HTTP2)
	return &http.Client{Transport: t, CheckRedirect: follow}
}

// follow follows redirects on the same host only, since headers have keys, and not from TLS to
// plain text.
func follow(next *http.Request, via []*http.Request) error {
	from := via[0].URL
	if next.URL.Host != from.Host || from.Scheme == "https" && next.URL.Scheme != "https" || len(via) > maxHops {
		return &elsewhereError{next.URL.Redacted()}
	}
	return nil
}

// ask makes one request, and returns its failure.
func (x *Exporter) ask(ctx context.Context, limit, since time.Duration) (answer, plan.Message) {
	a, err := x.exchange(ctx)
	var elsewhere *elsewhereError
	var refused *exposition.Error
	var status statusError
	switch {
	case err == nil:
		return a, plan.Message{}
	case errors.As(err, &elsewhere):
		return a, plan.Msg(Elsewhere, "to", x.cfg.Secrets.Hide(elsewhere.to))
	case errors.As(err, &refused):
		return a, refused.Message
	case errors.As(err, &status):
		return a, plan.Msg(Status, "status", int(status), "since", since)
	case ctx.Err() != nil:
		return a, slow(limit, since)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // the URL is that of the source
	}
	return a, plan.Msg(NoAnswer, "why", x.cfg.Secrets.Hide(err.Error()), "since", since)
}

func slow(limit, since time.Duration) plan.Message {
	return plan.Msg(Slow, "limit", limit, "since", since)
}

// A statusError is an answer that was not 200.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("HTTP %d", int(e)) }

func (x *Exporter) exchange(ctx context.Context) (a answer, err error) {
	var sent atomic.Pointer[time.Time]
	hooks := httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		now := time.Now()
		sent.Store(&now)
	}}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, &hooks), http.MethodGet, x.url.String(), nil)
	if err != nil {
		return a, err
	}
	if x.cfg.Header != nil {
		req.Header = x.cfg.Header.Clone()
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	req.Header.Set("Accept", exposition.Accept)
	req.Header.Set("Accept-Encoding", "gzip")
	a.sent = time.Now()
	res, err := x.client.Do(req)
	if err != nil {
		return a, err
	}
	defer res.Body.Close()
	if err := a.head(res); err != nil {
		return a, err
	}
	x.body.Reset()
	if _, err = x.body.ReadFrom(io.LimitReader(res.Body, exposition.MaxBytes+1)); err != nil {
		return a, err
	}
	a.received = time.Now()
	if at := sent.Load(); at != nil {
		a.sent = *at
	}
	if x.body.Len() > exposition.MaxBytes {
		return a, exposition.TooLarge()
	}
	return a, nil
}

func (a *answer) head(res *http.Response) error {
	a.contentType = res.Header.Get("Content-Type")
	a.age = dateAge
	if strings.Contains(res.Header.Get("Server"), "uvicorn") {
		a.age = dateAgeSlow
	}
	if date, err := http.ParseTime(res.Header.Get("Date")); err == nil && res.Header.Get("Age") == "" { // no cache
		a.date = date
	}
	encoding := strings.ToLower(res.Header.Get("Content-Encoding"))
	switch {
	case res.StatusCode != http.StatusOK:
		return statusError(res.StatusCode)
	case res.ContentLength > exposition.MaxBytes:
		return exposition.TooLarge()
	case encoding == "gzip" || encoding == "x-gzip":
		a.packed = true
	case encoding != "" && encoding != "identity":
		return fmt.Errorf("content encoding %.20q, though gzip was asked for", encoding)
	}
	return nil
}

// text is the page of an answer, unpacked, until the next one.
func (x *Exporter) text(a answer) (text []byte, err error) {
	if !a.packed {
		return x.body.Bytes(), nil
	}
	if err = x.unpacker.Reset(&x.body); err == nil {
		x.unpacked.Reset()
		_, err = x.unpacked.ReadFrom(io.LimitReader(&x.unpacker, exposition.MaxBytes+1))
	}
	if err != nil {
		return nil, exposition.Malformed(fmt.Errorf("gzip: %w", err))
	}
	return x.unpacked.Bytes(), nil
}

// parse reads a page into the mapping of the session.
func (s *session) parse(ctx context.Context, a answer) (doubts []plan.Message, err error) {
	s.mapping.begin()
	text, err := s.x.text(a)
	if err != nil {
		return nil, err
	}
	return s.reader.Read(ctx, a.contentType, text, s.mapping.take)
}
