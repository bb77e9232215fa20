package apiserver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/sys/machine"
	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// A Server is an OpenAI-compatible HTTP server on top of a model.
type Server struct {
	cfg       Config
	start     time.Time // origin of every instant it tells
	vocab     *vocabulary
	bodies    *bodies
	loop      *loop
	meters    *meters
	truth     *truthLog
	punctual  punctuality
	arrivals  atomic.Uint64
	profiling atomic.Bool
	handlers  sync.WaitGroup // generation requests being answered, and visits to the model
}

// New checks cfg and makes a server. It starts nothing: a goroutine runs only
// while requests are open.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	s := &Server{
		cfg:    cfg,
		start:  time.Now(),
		vocab:  toy(),
		bodies: newBodies(),
		meters: newMeters(cfg.MaxModelLen),
		truth:  &truthLog{maxRequests: cfg.TruthLimit, maxWrites: cfg.TruthWrites},
	}
	model, err := cfg.startedAt(s.start).NewModel()
	if err != nil {
		return nil, err
	}
	s.loop = newLoop(model, s.start, s.cfg.Precise, s.meters)
	return s, nil
}

// visit calls f with the model as it is now, from the goroutine that owns it.
// Serve waits for it, as it does for generation requests.
func (s *Server) visit(f func(engine.Model)) {
	s.handlers.Add(1)
	defer s.handlers.Done()
	s.loop.visit(f)
}

// Profiling tells whether /start_profile was called last, and not
// /stop_profile.
func (s *Server) Profiling() bool { return s.profiling.Load() }

// Handler answers the API. It needs no Serve: any HTTP server will do, except
// that only Serve can make FaultRefuse happen and wait for open connections.
func (s *Server) Handler() http.Handler {
	routes := s.allRoutes()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		route, known := routes[r.URL.Path]
		h, allowed := route[r.Method]
		switch {
		case !public[r.URL.Path] && !s.authorized(r):
			writeJSON(w, http.StatusUnauthorized, []byte(`{"error":"Unauthorized"}`))
		case !known:
			writeJSON(w, http.StatusNotFound, []byte(phrase.NotFound))
		case !allowed:
			w.Header().Set("Allow", strings.Join(slices.Sorted(maps.Keys(route)), ", "))
			writeJSON(w, http.StatusMethodNotAllowed, []byte(phrase.NotAllowed))
		default:
			h(w, r)
		}
	})
}

// serveFront says what this is. There are clients that ask here whether a server is
// ready, SGLang's of Triton among them.
func (s *Server) serveFront(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "a simulated engine; its models are at /v1/models\n")
}

// methods are the handlers of a path.
type methods map[string]http.HandlerFunc

// either is a handler for GET and POST alike.
func either(h http.HandlerFunc) methods { return methods{"GET": h, "POST": h} }

// allRoutes are those of the protocols, vLLM's, those that SGLang has too, and our own.
func (s *Server) allRoutes() map[string]methods {
	routes := map[string]methods{}
	for _, p := range phrase.All() {
		for _, route := range p.Routes {
			routes[route] = methods{"POST": s.generation(p)}
		}
	}
	maps.Copy(routes, s.routes())
	maps.Copy(routes, s.nativeRoutes())
	return routes
}

func (s *Server) routes() map[string]methods {
	healthy := func(http.ResponseWriter, *http.Request) {}
	return map[string]methods{
		"/v1/models":          {"GET": s.serveModels},
		"/reset_prefix_cache": {"POST": s.serveResetPrefixCache},
		"/":                   {"GET": s.serveFront},
		"/health":             {"GET": healthy},
		"/health_generate":    {"GET": healthy},
		"/version":            {"GET": s.serveVersion},
		"/tokenize":           {"POST": s.serveTokenize},
		"/detokenize":         {"POST": s.serveDetokenize},
		"/metrics":            {"GET": s.serveMetrics},
		"/start_profile":      either(s.serveProfile(true)),
		"/stop_profile":       either(s.serveProfile(false)),
		"/pitot/truth":        {"GET": s.serveTruth, "DELETE": s.clearTruth},
	}
}

// public are the routes that need no key: those that say whether the server is up.
var public = map[string]bool{"/health": true, "/health_generate": true}

// nativeRoutes are those of SGLang.
func (s *Server) nativeRoutes() map[string]methods {
	generate := s.generation(phrase.Generate)
	return map[string]methods{
		"/generate":        {"POST": generate, "PUT": generate},
		"/get_model_info":  {"GET": s.serveModelInfo},
		"/model_info":      {"GET": s.serveModelInfo},
		"/get_server_info": {"GET": s.serveServerInfo},
		"/server_info":     {"GET": s.serveServerInfo},
		"/flush_cache":     either(s.serveFlushCache),
	}
}

// Routes are the paths that a server answers, in order.
func Routes() []string { return slices.Sorted(maps.Keys(new(Server).allRoutes())) }

// authorized checks the bearer token, if one is wanted, in a time that depends neither on
// how much of it is right nor on its length.
func (s *Server) authorized(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	given, key := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.cfg.APIKey))
	return s.cfg.APIKey == "" || strings.EqualFold(scheme, "bearer") && subtle.ConstantTimeCompare(given[:], key[:]) == 1
}

// Open reports whether others than the users of this machine can use a server at an
// address without a key.
func (c Config) Open(at net.Addr) bool {
	tcp, ok := at.(*net.TCPAddr)
	return ok && !tcp.IP.IsLoopback() && c.APIKey == ""
}

func (s *Server) serveVersion(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, phrase.Version(s.cfg.Version))
}

func (s *Server) serveProfile(on bool) http.HandlerFunc {
	return func(http.ResponseWriter, *http.Request) { s.profiling.Store(on) }
}

func (s *Server) serveModels(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, phrase.Models(s.start.Unix(), s.cfg.MaxModelLen, s.cfg.Model, s.cfg.Adapters...))
}

// serves tells whether name is the model, one of its adapters, or empty, which
// stands for the model.
func (c *Config) serves(name string) bool {
	return name == "" || name == c.Model || slices.Contains(c.Adapters, name)
}

// errShutdown ends the requests that are open when Serve has to return.
var errShutdown = errors.New("server is shutting down")

// Serve answers requests on l, over TLS if config is not nil: HTTP/1.1, and
// HTTP/2 by ALPN or by prior knowledge. When ctx is done it cuts open connections, and
// returns nil after everything it started has ended. It closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener, config *tls.Config) error {
	machine.ReserveDescriptors()
	base, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	var conns sync.WaitGroup
	srv := s.httpServer(base, config, &conns)
	if share := refuseShare(s.cfg.Faults); share > 0 {
		l = newGate(l, share)
	}
	var failed error
	over := make(chan struct{})
	go func() {
		defer close(over)
		if config != nil {
			failed = srv.ServeTLS(l, "", "")
		} else {
			failed = srv.Serve(l)
		}
	}()
	select {
	case <-over:
	case <-ctx.Done():
	}
	cut(errShutdown)
	_ = srv.Close() // its error is the listener's, which Serve tells
	<-over
	conns.Wait()
	s.handlers.Wait()
	s.loop.done.Wait()
	if errors.Is(failed, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve: %w", failed)
}

func (s *Server) httpServer(base context.Context, config *tls.Config, conns *sync.WaitGroup) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           s.Handler(),
		TLSConfig:         config.Clone(),
		Protocols:         protocols,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 100_000},
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0), // clients come and go
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				conns.Add(1)
			case http.StateClosed, http.StateHijacked:
				conns.Done()
			}
		},
	}
}
