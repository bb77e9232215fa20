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
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http/httpproxy"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/clock"
	"github.com/pitot-bench/pitot/internal/wire/driver"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// A target is a server and how to reach it.
type target struct {
	base      string // URL without a route
	transport *transport.Client
	clock     *clock.Clock // of the transport
	unwatch   func()       // ends the watch over it
	header    http.Header  // of every request, the key among them
	secrets   []string
	own       bool // it is the embedded engine, whose tokenizer is its own
}

// close lets go of the connections.
func (t *target) close() {
	t.transport.Close()
	t.unwatch()
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
	nethttp  bool
	noReuse  bool
	direct   bool // without a proxy, whatever the environment says
	timeout  time.Duration
	idle     time.Duration
	keep     time.Duration // how long an unused connection stays open, 0 = transport's default
}

// newTarget connects to nothing yet.
func (p *Process) newTarget(base string, r reach) (*target, error) {
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
	t.clock = clock.New()
	var watching context.Context
	watching, t.unwatch = context.WithCancel(context.Background())
	go t.clock.Watch(watching)
	proxy := p.proxy()
	if r.direct {
		proxy = nil
	}
	t.transport = transport.New(transport.Config{
		Clock: t.clock, Dial: p.Dial, TLS: config, Proxy: proxy, HTTP2: r.http2, NetHTTP: r.nethttp, NoReuse: r.noReuse, Timeout: r.timeout, Idle: r.idle, KeepAlive: r.keep,
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
func parseBase(flag, s string) (string, error) {
	if err := checkURL(flag, s); err != nil {
		return "", err
	}
	base := strings.TrimRight(s, "/")
	if before, ok := isRoute(base); ok {
		return "", usagef("%s %q: leave the route out: %s", flag, s, before)
	}
	return strings.TrimSuffix(base, "/v1"), nil
}

func checkURL(flag, s string) error {
	u, err := url.Parse(s)
	lower := strings.ToLower(s)
	switch {
	case !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://"):
		return usagef("%s %q: must begin with http:// or https://", flag, s)
	case err != nil && !strings.Contains(s, "@"):
		return usagef("%s: %w", flag, err)
	case err != nil || u.User != nil: // nor is it repeated here
		return usagef("%s: must not hold a user name and a password; send them with --header Authorization=...", flag)
	case u.Host == "":
		return usagef("%s %q: has no host", flag, s)
	case u.RawQuery != "" || u.Fragment != "":
		return usagef("%s %q: must not have a query or a fragment", flag, s)
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return usagef("%s %q: the port must be between 1 and 65535", flag, s)
		}
	}
	return nil
}

// parseHeaders reads NAME=VALUE pairs.
func parseHeaders(items []string) (http.Header, error) {
	h := http.Header{}
	var errs []error
	for _, item := range items {
		name, value, ok := strings.Cut(item, "=")
		if !ok || !httpguts.ValidHeaderFieldName(strings.TrimSpace(name)) {
			before, _, _ := strings.Cut(strings.TrimSpace(name), ":") // what follows may be a key
			before, _, _ = strings.Cut(before, " ")
			errs = append(errs, usagef("--header %q: must be NAME=VALUE, with the name of an HTTP header", before))
			continue
		}
		if !httpguts.ValidHeaderFieldValue(value) {
			errs = append(errs, usagef("--header %s: the value has characters that no header can carry", name))
			continue
		}
		h.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return h, errors.Join(errs...)
}

// defaultKeyEnv need not be set.
const defaultKeyEnv = "OPENAI_API_KEY"

// reach turns the settings into what it takes to connect.
func (s targetSettings) reach(p *Process) (reach, error) {
	header, err := parseHeaders(s.Header)
	if err != nil {
		return reach{}, err
	}
	r := reach{
		header: header, key: p.getenv(s.APIKeyEnv), ca: s.CA, insecure: s.Insecure,
		http2: s.HTTP2, nethttp: s.Client == "nethttp", noReuse: s.NewConnections, timeout: s.Timeout, idle: s.IdleTimeout,
	}
	if s.APIKeyEnv != defaultKeyEnv && r.key == "" {
		return reach{}, usagef("--api-key-env %s: the variable is not set", s.APIKeyEnv)
	}
	if s.APIKeyFile != "" {
		b, err := os.ReadFile(s.APIKeyFile)
		if err != nil {
			return reach{}, usagef("--api-key-file: %w", err)
		}
		r.key = strings.TrimSpace(string(b))
		if !httpguts.ValidHeaderFieldValue(r.key) || strings.ContainsAny(r.key, "\r\n") {
			return reach{}, usagef("--api-key-file %s: must hold a single line", s.APIKeyFile)
		}
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
		return nil, usagef("--body: must be a JSON object such as {\"temperature\": 0}, not %.60q", s.Body)
	}
	return extra, nil
}

// sideCall is how long the server may take for a question about itself.
const sideCall = 30 * time.Second

// models asks the server what it serves. It is the first question of all, and
// waits for a server that is starting as long as patience allows, so that what
// depends on answers does not depend on how fast the server starts.
func (s *session) models(ctx context.Context) ([]endpoint.Model, error) {
	deadline := time.Now().Add(s.patience)
	for told := false; ; told = true {
		call, cancel := context.WithTimeoutCause(ctx, sideCall, transport.ErrTimeout)
		list, err := s.target.server().Models(call)
		cancel()
		var may interface{ MayPass() bool }
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err == nil, !errors.As(err, &may), !may.MayPass(), !time.Now().Before(deadline):
			return list, err
		case !told:
			s.sayf("waiting up to %v for %s: %v", s.patience, s.target.base, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(driver.Uneven(time.Second), time.Until(deadline))):
		}
	}
}

// unreachable explains an error of models that says that there is nobody to be
// measured; nil if somebody is there, whatever is wrong with the answer.
func (s *session) unreachable(err error) error {
	var call *endpoint.CallError
	if !errors.As(err, &call) {
		return nil
	}
	switch call.Class {
	case trace.DNS, trace.Refused, trace.Unreachable:
		return fmt.Errorf("nobody answers at %s: %s (%w)\ncheck the address; %s waits for a server that is starting", s.target.base, english.Word(call.Class.Code()), call.Err, s.patienceFlag)
	case trace.TLS:
		return fmt.Errorf("reach %s: %s (%w)", s.target.base, english.Word(call.Class.Code()), call.Err)
	}
	return nil
}

// choose picks a model of those that the server lists: the wanted one, else the
// first. With a wanted one the list, and its error, do not matter.
func choose(list []endpoint.Model, err error, wanted string) (chosen endpoint.Model, names []string, _ error) {
	for _, m := range list {
		names = append(names, m.ID)
	}
	switch {
	case wanted == "" && err != nil:
		return chosen, nil, fmt.Errorf("find out the model: %w\nname it with --model, or check the address", err)
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
