package run

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/wire/clock"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// A target is a server and how to reach it.
type target struct {
	base      string // URL without a route
	transport *transport.Client
	clock     *clock.Clock // of the transport
	unwatch   func()       // ends the watch over it
	header    http.Header  // of questions to the server, the key among them
	requests  http.Header  // of the requests
	tls       *tls.Config
	proxy     func(*url.URL) (*url.URL, error) // nil: none
	secrets   *secret.Set
}

func (t *target) close() {
	t.transport.Close()
	t.unwatch()
}

// server is the target's side routes.
func (t *target) server() endpoint.Server {
	return endpoint.Server{Transport: t.transport, URL: t.base, Header: t.header, Secrets: t.secrets}
}

// secrets finds the secrets that a Spec names, and makes them known.
type secrets struct{ *Deps }

// of is the secret of a source, which is at path.
func (s *secrets) of(path string, from *plan.Source) (string, error) {
	value, why := "", ""
	switch {
	case from == nil:
		return "", nil
	case from.Given:
		var ok bool
		if value, ok = s.Given[path]; !ok {
			why = "is secret, and its value was not kept; give it again, or name its source in the file: {env: NAME} or {file: NAME}"
		}
	case from.Env != "":
		var ok bool
		if value, ok = s.Env(from.Env); (!ok || value == "") && !from.Optional {
			why = fmt.Sprintf("the variable %s is not set", from.Env)
		}
	case from.File != "":
		b, err := s.Read(from.File)
		if err != nil {
			return "", workload.Blame(path, from.File, err)
		}
		if value = strings.TrimSpace(string(b)); !httpguts.ValidHeaderFieldValue(value) || strings.ContainsAny(value, "\r\n") {
			why = from.File + " must hold a single line"
		}
	}
	if why != "" {
		return "", plan.Problems{{Path: path, Why: why}}
	}
	s.Secrets.Add(secret.InHeader(value)...)
	return value, nil
}

// add adds headers, with their secrets.
func (s *secrets) add(to http.Header, path string, headers []plan.Header) error {
	for i, h := range headers {
		value := h.Value
		if h.From != nil {
			var err error
			if value, err = s.of(plan.Item(path, i), h.From); err != nil {
				return err
			}
			if value == "" {
				continue
			}
		}
		if secret.Header(h.Name) || secret.Known(value) {
			s.Secrets.Add(secret.InHeader(value)...)
		}
		to.Add(h.Name, value)
	}
	return nil
}

// key adds a bearer key, unless there is an authorization already.
func (s *secrets) key(to http.Header, path string, from *plan.Source) error {
	key, err := s.of(path, from)
	if err == nil && key != "" && to.Get("Authorization") == "" {
		to.Set("Authorization", "Bearer "+key)
	}
	return err
}

// newTarget makes no connection yet.
func newTarget(spec *plan.Spec, base string, s *secrets) (*target, error) {
	config := &tls.Config{InsecureSkipVerify: spec.Target.Insecure, MinVersion: tls.VersionTLS12}
	if spec.Target.CA != "" {
		pool, err := certificates(s.Deps, spec.Target.CA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = pool
	}
	t := &target{base: base, header: http.Header{}, requests: http.Header{}, tls: config}
	if err := t.headers(spec, s); err != nil {
		return nil, err
	}
	t.secrets = s.Secrets
	t.clock = clock.New()
	var watching context.Context
	watching, t.unwatch = context.WithCancel(context.Background())
	go t.clock.Watch(watching)
	proxy := s.Proxy
	if spec.Target.Direct {
		proxy = nil
	}
	t.proxy = proxy
	c := spec.Client
	t.transport = transport.New(transport.Config{
		Clock: t.clock, Dial: s.Dial, TLS: config, Proxy: proxy, HTTP2: spec.Target.HTTP2, NetHTTP: c.Engine == "nethttp", NoReuse: c.NewConnections,
		NoResend: c.NoResend, KeepReusing: c.KeepReusing,
		Timeout: c.Timeout.Std(), Idle: c.IdleTimeout.Std(), KeepAlive: c.KeepAlive.Std(),
	})
	return t, nil
}

// headers sets those of questions and those of requests, which have more or none.
func (t *target) headers(spec *plan.Spec, s *secrets) error {
	if err := s.add(t.header, "target.headers", spec.Target.Headers); err != nil {
		return err
	}
	if !spec.Request.Bare {
		t.requests = t.header.Clone()
	}
	own := http.Header{}
	if err := s.add(own, "request.headers", spec.Request.Headers); err != nil {
		return err
	}
	for name, values := range own {
		t.requests[name] = slices.Clone(values)
	}
	if err := s.key(t.header, "target.key", spec.Target.Key); err != nil || spec.Request.Bare {
		return err
	}
	return s.key(t.requests, "target.key", spec.Target.Key)
}

func certificates(d *Deps, file string) (*x509.CertPool, error) {
	const path = "target.ca"
	pem, err := d.Read(file)
	if err != nil {
		return nil, workload.Blame(path, file, err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, plan.Problems{{Path: path, Value: file, Why: "has no PEM certificate in it"}}
	}
	return pool, nil
}
