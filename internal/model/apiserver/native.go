package apiserver

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// serveModelInfo tells what SGLang's /get_model_info tells.
func (s *Server) serveModelInfo(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, phrase.ModelInfo(s.cfg.Model))
}

// serveServerInfo tells what clients look for in SGLang's /get_server_info.
func (s *Server) serveServerInfo(w http.ResponseWriter, _ *http.Request) {
	info := phrase.ServerInfo{
		Model: s.cfg.Model, Version: s.cfg.Version, Context: s.cfg.MaxModelLen, Seed: s.cfg.Seed, Adapters: s.cfg.Adapters,
		PrefixCache: s.cfg.PrefixCache(), Drafts: s.cfg.Drafts(), AcceptLength: s.cfg.AcceptLength(s.Load()),
	}
	if s.cfg.Engine != nil {
		info.KVTokens = s.cfg.Engine.KV.Tokens
	}
	writeJSON(w, http.StatusOK, info.Body())
}

// AcceptLength is the mean number of tokens a step of speculative decoding gave, the one
// that is not drafted among them, as SGLang tells it over the server's life; 0 where it
// is not reported. With separate prefill servers, clients see a router, which passes the question to
// a prefill server, and that drafts nothing.
func (c Config) AcceptLength(l engine.Utilization) float64 {
	if l.Drafts == 0 || c.Engine != nil && c.Engine.Disaggregation != nil {
		return 0
	}
	return 1 + float64(l.Accepted)/float64(l.Drafts)
}

// A flusher is a model that can forget the prompts it has cached and is not
// working on.
type flusher interface{ Flush() }

// flushPause is the time between two tries to find the engine idle.
const flushPause = 10 * time.Millisecond

// serveFlushCache empties the prefix cache, which it does, as SGLang, only when
// the engine has nothing to do; ?timeout= waits so many seconds for that.
func (s *Server) serveFlushCache(w http.ResponseWriter, r *http.Request) {
	seconds, err := strconv.ParseFloat(r.URL.Query().Get("timeout"), 64)
	if err != nil || !(seconds >= 0 && seconds <= 86400) {
		seconds = 0
	}
	limit := time.NewTimer(time.Duration(seconds * float64(time.Second)))
	defer limit.Stop()
	again := time.NewTicker(flushPause)
	defer again.Stop()
	for {
		load, flushed := s.flush()
		if flushed {
			plain(w, http.StatusOK, "Cache flushed.\n")
			return
		}
		select {
		case <-again.C:
		case <-limit.C:
			plain(w, http.StatusBadRequest, fmt.Sprintf("Cache not flushed: %d requests are running and %d are waiting.\n",
				load.Running, load.Waiting))
			return
		case <-r.Context().Done():
			return
		}
	}
}

// serveResetPrefixCache is vLLM's way to empty the prefix cache: it says 200 whether
// or not there was anything to keep it from that.
func (s *Server) serveResetPrefixCache(http.ResponseWriter, *http.Request) { s.flush() }

// flush empties the cache of an idle model.
func (s *Server) flush() (load engine.Utilization, done bool) {
	s.visit(func(m engine.Model) {
		load = m.Load()
		if done = load.Running+load.Waiting == 0; !done {
			return
		}
		if f, ok := m.(flusher); ok {
			f.Flush()
		}
	})
	return load, done
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // the client went away
}
