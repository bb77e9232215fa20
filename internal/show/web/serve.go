package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
)

// Limits of the server. A browser asks over six connections at once.
const (
	headerTime  = 10 * time.Second // to send the head of a request
	requestTime = 30 * time.Second // to send its body
	longTime    = 5 * time.Minute  // until an answer begins
	stuckTime   = 30 * time.Second // without reading anything of an answer
	idleTime    = 2 * time.Minute  // of a connection between requests
	headerBytes = 16 << 10
	manyAnswers = 64 // under way at once, without event streams
)

// Serve answers on l with h until ctx is done, over TLS if config is not nil. Each answer has a
// time limit: a client that stops reading is cut off. A handler that panics gives an answer with
// status 500, and a line to say. It closes l.
func Serve(ctx context.Context, l net.Listener, h http.Handler, config *tls.Config, say func(line string)) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	server := &http.Server{
		Handler: limited(recovered(h, say)), TLSConfig: config, BaseContext: func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
	}
	over := make(chan error, 1)
	go func() {
		if config != nil {
			over <- server.ServeTLS(l, "", "")
		} else {
			over <- server.Serve(l)
		}
	}()
	select {
	case err := <-over:
		return err
	case <-ctx.Done():
	}
	cut()
	_ = server.Close() // its error is the listener's, which Serve tells
	if err := <-over; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// recovered makes a panic one answer.
func recovered(h http.Handler, say func(line string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			why := recover()
			if why == nil {
				return
			}
			if err, ok := why.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(why)
			}
			say(fmt.Sprintf("%s %s: panic: %v at %s", r.Method, r.URL.Path, why, place(string(debug.Stack()))))
			refuse(w, errors.New("internal error; pitot ui has printed it"))
		}()
		h.ServeHTTP(w, r)
	})
}

// place is where a panic was, of the stack that was printed while it was recovered from.
func place(stack string) string {
	_, below, _ := strings.Cut(stack, "\npanic(")
	lines := strings.Split(below, "\n")
	const at = 3 // behind the call of panic, its line, and the name of the function
	if len(lines) <= at {
		return "unknown"
	}
	file, _, _ := strings.Cut(strings.TrimSpace(lines[at]), " ")
	return file
}

// limited bounds how many answers are under way, and how long one may make no progress.
func limited(h http.Handler) http.Handler {
	places := make(chan struct{}, manyAnswers)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != eventsPath { // they have a limit of their own
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
			default:
				w.Header().Set("Retry-After", "1")
				refuse(w, refusalf(http.StatusServiceUnavailable, "too many requests at once"))
				return
			}
		}
		control := http.NewResponseController(w)
		if r.ContentLength != 0 { // a limit for all requests would end long answers
			_ = control.SetReadDeadline(time.Now().Add(requestTime))
		}
		_ = control.SetWriteDeadline(time.Now().Add(longTime))
		h.ServeHTTP(&patient{ResponseWriter: w, control: control}, r)
	})
}

// A patient writer gives each part of an answer its time.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (p *patient) Write(b []byte) (n int, err error) {
	const part = 64 << 10
	for first := true; err == nil && (first || n < len(b)); first = false {
		_ = p.control.SetWriteDeadline(time.Now().Add(stuckTime)) // a test's writer has none
		var m int
		m, err = p.ResponseWriter.Write(b[n:min(len(b), n+part)])
		n += m
	}
	return n, err
}

// Unwrap is for http.ResponseController.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }
