package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/pitot-bench/pitot/internal/endpoint"
	"github.com/pitot-bench/pitot/internal/transport"
)

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// A target is a server and how to reach it.
type target struct {
	base      string // URL without a route
	transport *transport.Client
	header    http.Header // of every request, the key among them
	secrets   []string
}

// server is the target's side routes.
func (t *target) server() endpoint.Server {
	return endpoint.Server{Transport: t.transport, URL: t.base, Header: t.header, Secrets: t.secrets}
}

// reach is what it takes to connect.
type reach struct {
	header   http.Header
	key      string // bearer key, if any
	ca       string // file
	insecure bool
	http2    bool
	noReuse  bool
	timeout  time.Duration
	idle     time.Duration
}

// newTarget connects to nothing yet.
func (p *Process) newTarget(base string, r reach) (*target, error) {
	if u, err := url.Parse(base); err != nil || u.User != nil {
		return nil, usagef("the server's URL must be one without a user name and a password; send them with --header Authorization=...")
	}
	config := &tls.Config{InsecureSkipVerify: r.insecure, MinVersion: tls.VersionTLS12}
	if r.ca != "" {
		pool, err := certificates(r.ca)
		if err != nil {
			return nil, err
		}
		config.RootCAs = pool
	}
	t := &target{base: base, header: r.header.Clone()}
	if t.header == nil {
		t.header = http.Header{}
	}
	if r.key != "" {
		t.secrets = append(t.secrets, secretsIn(r.key)...)
		if t.header.Get("Authorization") == "" {
			t.header.Set("Authorization", "Bearer "+r.key)
		}
	}
	for name, values := range r.header {
		for _, v := range values {
			if secretHeader(name) {
				t.secrets = append(t.secrets, secretsIn(v)...)
			}
		}
	}
	t.transport = transport.New(transport.Config{
		Dial: p.Dial, TLS: config, Proxy: p.proxy(), HTTP2: r.http2, NoReuse: r.noReuse, Timeout: r.timeout, Idle: r.idle,
	})
	return t, nil
}

// certificates are the system's and those in file.
func certificates(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, usagef("--ca: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, usagef("--ca %s: no PEM certificate in it", file)
	}
	return pool, nil
}

// proxy follows HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in either case.
func (p *Process) proxy() func(*url.URL) (*url.URL, error) {
	either := func(name string) string {
		if v := p.getenv(name); v != "" {
			return v
		}
		return p.getenv(strings.ToLower(name))
	}
	c := httpproxy.Config{HTTPProxy: either("HTTP_PROXY"), HTTPSProxy: either("HTTPS_PROXY"), NoProxy: either("NO_PROXY")}
	if c.HTTPProxy == "" && c.HTTPSProxy == "" {
		return nil
	}
	return c.ProxyFunc()
}

// parseBase checks a server URL; a trailing slash and the route /v1 are cut.
func parseBase(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "", usagef("--url %q: %w", s, err)
	case u.Scheme != "http" && u.Scheme != "https":
		return "", usagef("--url %q: must begin with http:// or https://", s)
	case u.Host == "":
		return "", usagef("--url %q: has no host", s)
	case u.RawQuery != "" || u.Fragment != "":
		return "", usagef("--url %q: must not have a query or a fragment", s)
	}
	return strings.TrimSuffix(strings.TrimRight(s, "/"), "/v1"), nil
}

// headers reads NAME=VALUE pairs.
func parseHeaders(items []string) (http.Header, error) {
	h := http.Header{}
	var errs []error
	for _, item := range items {
		name, value, ok := strings.Cut(item, "=")
		if !ok || strings.TrimSpace(name) == "" {
			errs = append(errs, usagef("--header %q: must be NAME=VALUE", name))
			continue
		}
		h.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return h, errors.Join(errs...)
}

// reach turns the settings into what it takes to connect.
func (s targetSettings) reach(p *Process) (reach, error) {
	header, err := parseHeaders(s.Header)
	if err != nil {
		return reach{}, err
	}
	r := reach{
		header: header, key: p.getenv(s.APIKeyEnv), ca: s.CA, insecure: s.Insecure,
		http2: s.HTTP2, noReuse: s.NewConnections, timeout: s.Timeout, idle: s.IdleTimeout,
	}
	if s.APIKeyFile != "" {
		b, err := os.ReadFile(s.APIKeyFile)
		if err != nil {
			return reach{}, usagef("--api-key-file: %w", err)
		}
		r.key = strings.TrimSpace(string(b))
	}
	return r, nil
}

// extraBody reads --body.
func (s targetSettings) extraBody() (map[string]json.RawMessage, error) {
	if s.Body == "" {
		return nil, nil
	}
	var extra map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s.Body), &extra); err != nil {
		return nil, usagef("--body: not a JSON object: %w", err)
	}
	return extra, nil
}

// models asks the server what it serves and picks one: the wanted one, else the
// first. With a wanted one an answer is not needed.
func (t *target) models(ctx context.Context, wanted string) (chosen endpoint.Model, names []string, err error) {
	list, err := t.server().Models(ctx)
	for _, m := range list {
		names = append(names, m.ID)
	}
	switch {
	case wanted == "" && err != nil:
		return chosen, nil, fmt.Errorf("find out the model: %w\nname it with --model, or check the address and that the server is up", err)
	case wanted == "":
		return list[0], names, nil
	}
	for _, m := range list {
		if m.ID == wanted {
			return m, names, nil
		}
	}
	return endpoint.Model{ID: wanted, Root: wanted}, names, nil
}
