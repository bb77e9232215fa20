package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/test/memnet"
)

// serve runs handler on an in-memory network inside a synctest bubble and calls
// test with a Client for it; instant 0 is the creation of the client.
func serve(t *testing.T, cfg Config, handler http.HandlerFunc, test func(t *testing.T, c *Client)) {
	engines(t, cfg, func(t *testing.T, cfg Config) { serveOne(t, cfg, handler, test) })
}

// engines runs a test with each engine that supports cfg.
func engines(t *testing.T, cfg Config, test func(t *testing.T, cfg Config)) {
	for _, std := range []bool{false, true} {
		if cfg.NetHTTP = std; std || !cfg.HTTP2 {
			t.Run(map[bool]string{false: "h1", true: "nethttp"}[std], func(t *testing.T) { test(t, cfg) })
		}
	}
}

func serveOne(t *testing.T, cfg Config, handler http.HandlerFunc, test func(t *testing.T, c *Client)) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		srv := &http.Server{Handler: handler, Protocols: new(http.Protocols)}
		srv.Protocols.SetHTTP1(true)
		srv.Protocols.SetUnencryptedHTTP2(true)
		go func() { _ = srv.Serve(l) }()
		cfg.Dial = l.Dial
		c := New(cfg)
		test(t, c)
		c.Close()
		_ = srv.Shutdown(t.Context())
	})
}

// tape is a Receiver that records its calls.
type tape struct {
	status int
	body   strings.Builder
	at     []int64
	data   func(p []byte) error // nil: accept
}

func (r *tape) Head(status int, _ http.Header) { r.status = status }

func (r *tape) Data(p []byte, s Stamp) error {
	r.body.Write(p)
	r.at = append(r.at, s.At)
	if r.data != nil {
		return r.data(p)
	}
	return nil
}

func post() *Request {
	return &Request{Method: "POST", URL: "http://engine/v1/completions", Body: []byte("{}")}
}

const ms = int64(time.Millisecond)

// slowly answers with three pieces: 100 ms after the request, then 20 ms apart.
func slowly(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	for i := range 3 {
		time.Sleep([]time.Duration{100, 20, 20}[i] * time.Millisecond)
		fmt.Fprintf(w, "piece %d;", i)
		w.(http.Flusher).Flush()
	}
}

func TestDoInstants(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("HTTP2=%v", http2), func(t *testing.T) {
			serve(t, Config{HTTP2: http2}, slowly, func(t *testing.T, c *Client) {
				time.Sleep(time.Duration(5 * ms))
				var r tape
				got, err := c.Do(t.Context(), post(), &r)
				if err != nil || r.status != 200 || r.body.String() != "piece 0;piece 1;piece 2;" {
					t.Fatalf("error %v, status %d, body %q", err, r.status, r.body.String())
				}
				want := Timing{
					Dialed: 5 * ms, Connected: 5 * ms, Sent: 5 * ms, FirstSent: Never, FirstByte: 105 * ms, Done: 145 * ms,
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff([]int64{105 * ms, 125 * ms, 145 * ms}, r.at); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestDoReusesConnections(t *testing.T) {
	for _, noReuse := range []bool{false, true} {
		serve(t, Config{NoReuse: noReuse}, slowly, func(t *testing.T, c *Client) {
			for i := range 3 {
				got, err := c.Do(t.Context(), post(), &tape{})
				if err != nil {
					t.Fatal(err)
				}
				if dialed := got.Dialed != Never; dialed != (noReuse || i == 0) {
					t.Errorf("NoReuse %v, request %d: dialed %v", noReuse, i, dialed)
				}
			}
		})
	}
}

// HTTP/2 streams share a connection; only the first waits for it.
func TestDoSharesAConnectionOfHTTP2(t *testing.T) {
	serve(t, Config{HTTP2: true}, slowly, func(t *testing.T, c *Client) {
		if _, err := c.Do(t.Context(), post(), &tape{}); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if got, err := c.Do(t.Context(), post(), &tape{}); err != nil || got.Dialed != Never {
					t.Errorf("error %v, %+v", err, got)
				}
			})
		}
		all.Wait()
	})
}

// With net/http a request that waits for a new connection may get one released by
// another request: the wait counts all the same.
func TestDoTellsTheWaitForAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		srv := &http.Server{Handler: http.HandlerFunc(slowly)}
		go func() { _ = srv.Serve(l) }()
		dials := 0
		c := New(Config{NetHTTP: true, Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if dials++; dials == 2 {
				time.Sleep(200 * time.Millisecond)
			}
			return l.Dial(ctx, network, addr)
		}})
		var first, second Timing
		var both sync.WaitGroup
		both.Go(func() { first, _ = c.Do(t.Context(), post(), &tape{}) })
		time.Sleep(10 * time.Millisecond)
		both.Go(func() { second, _ = c.Do(t.Context(), post(), &tape{}) })
		both.Wait()
		if first.Done != 140*ms || second.Dialed != 10*ms || second.Connected != 140*ms || second.Sent != 140*ms {
			t.Errorf("first %+v, second %+v", first, second)
		}
		time.Sleep(time.Second)
		c.Close()
		_ = srv.Shutdown(t.Context())
	})
}

// brittle fails a write while broken, before anything is written.
type brittle struct {
	net.Conn
	broken *atomic.Bool
}

func (b brittle) Write(p []byte) (int, error) {
	if b.broken.Swap(false) {
		return 0, syscall.EPIPE
	}
	return b.Conn.Write(p)
}

func TestDoReplacesAConnectionThatTakesNothing(t *testing.T) {
	engines(t, Config{}, func(t *testing.T, cfg Config) {
		synctest.Test(t, func(t *testing.T) {
			l := memnet.Listen()
			requests := 0
			srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests++
				slowly(w, r)
			})}
			go func() { _ = srv.Serve(l) }()
			var broken atomic.Bool
			cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := l.Dial(ctx, network, addr)
				return brittle{conn, &broken}, err
			}
			c := New(cfg)
			for i := range 2 {
				broken.Store(i == 1)
				got, err := c.Do(t.Context(), post(), &tape{})
				if err != nil || got.Redials != i || requests != i+1 {
					t.Errorf("request %d: error %v, %d redials, the server saw %d", i, err, got.Redials, requests)
				}
			}
			c.Close()
			_ = srv.Shutdown(t.Context())
		})
	})
}

// A request that was written completely is not sent again where that is unwanted,
// whatever its headers say.
func TestDoSendsOnce(t *testing.T) {
	engines(t, Config{NoResend: true}, func(t *testing.T, cfg Config) {
		synctest.Test(t, func(t *testing.T) {
			l := memnet.Listen()
			requests := 0
			srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if requests++; requests == 2 {
					_, _ = io.Copy(io.Discard, r.Body)
					panic(http.ErrAbortHandler)
				}
				slowly(w, r)
			})}
			go func() { _ = srv.Serve(l) }()
			cfg.Dial = l.Dial
			c := New(cfg)
			for i := range 2 {
				req := post()
				req.Header = NewHeader(http.Header{"Idempotency-Key": {"k"}})
				if _, err := c.Do(t.Context(), req, &tape{}); (err != nil) != (i == 1) || requests != i+1 {
					t.Errorf("request %d: error %v, the server saw %d", i, err, requests)
				}
			}
			c.Close()
			_ = srv.Shutdown(t.Context())
		})
	})
}

func TestUnusedConnectionsAreClosed(t *testing.T) {
	for _, keep := range []time.Duration{0, time.Minute} {
		serve(t, Config{KeepAlive: keep}, slowly, func(t *testing.T, c *Client) {
			for i := range 2 {
				got, err := c.Do(t.Context(), post(), &tape{})
				if err != nil || (got.Dialed != Never) != (i == 0 || keep == 0) {
					t.Errorf("kept %v, request %d: error %v, %+v", keep, i, err, got)
				}
				time.Sleep(keepAlive + time.Second)
			}
		})
	}
}

// When most of many connections become unused, they are closed even though one
// remains in use.
func TestSpareConnectionsAreClosed(t *testing.T) {
	serve(t, Config{}, slowly, func(t *testing.T, c *Client) {
		open := new(atomic.Int64)
		dial := c.cfg.Dial
		c.cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			open.Add(1)
			return counted{conn, open}, err
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { _, _ = c.Do(t.Context(), post(), &tape{}) })
		}
		all.Wait()
		if n := open.Load(); n != 3 {
			t.Errorf("%d connections for three requests at once", n)
		}
		for range 6 {
			time.Sleep(time.Second)
			_, _ = c.Do(t.Context(), post(), &tape{})
		}
		if n := open.Load(); n != 1 {
			t.Errorf("%d connections for one request after the other", n)
		}
	})
}

// A counted connection is uncounted once it is closed.
type counted struct {
	net.Conn
	open *atomic.Int64
}

func (c counted) Close() error {
	c.open.Add(-1)
	return c.Conn.Close()
}

func TestDoLimits(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  Config
		want error
		at   int64
		body string
	}{
		{"whole request", Config{Timeout: 110 * time.Millisecond}, ErrTimeout, 110 * ms, "piece 0;"},
		{"idle before the head", Config{Idle: 90 * time.Millisecond}, ErrIdle, 90 * ms, ""},
		{
			"idle is pushed back by each arrival",
			Config{Idle: 101 * time.Millisecond},
			nil, 140 * ms,
			"piece 0;piece 1;piece 2;",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			serve(t, tt.cfg, slowly, func(t *testing.T, c *Client) {
				var r tape
				got, err := c.Do(t.Context(), post(), &r)
				if !errors.Is(err, tt.want) || got.Done != tt.at || r.body.String() != tt.body {
					t.Errorf("error %v at %d with %q; want %v at %d with %q", err, got.Done, r.body.String(), tt.want, tt.at, tt.body)
				}
			})
		})
	}
}

func TestDoReturnsTheCauseOfTheContext(t *testing.T) {
	serve(t, Config{}, slowly, func(t *testing.T, c *Client) {
		stopped := errors.New("run stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(130*time.Millisecond, func() { cancel(stopped) })
		var r tape
		got, err := c.Do(ctx, post(), &r)
		if !errors.Is(err, stopped) || got.Done != 130*ms || len(r.at) != 2 {
			t.Errorf("error %v at %d after %d reads", err, got.Done, len(r.at))
		}
	})
}

func TestDoEnough(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "data: [DONE]\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	serve(t, Config{}, endless, func(t *testing.T, c *Client) {
		r := tape{data: func([]byte) error { return ErrEnough }}
		got, err := c.Do(t.Context(), post(), &r)
		if err != nil || got.Done != int64(drainTime) {
			t.Errorf("error %v at %v; want nil after the drain time", err, time.Duration(got.Done))
		}
	})
}

func TestDoRefused(t *testing.T) {
	engines(t, Config{}, func(t *testing.T, cfg Config) {
		synctest.Test(t, func(t *testing.T) {
			l := memnet.Listen()
			_ = l.Close()
			cfg.Dial = l.Dial
			got, err := New(cfg).Do(t.Context(), post(), &tape{})
			if !errors.Is(err, syscall.ECONNREFUSED) || got.Sent != Never || got.FirstByte != Never {
				t.Errorf("error %v, timing %+v", err, got)
			}
		})
	})
}

// raw answers the first request on a connection with the given bytes, in pieces of
// the given sizes, and closes it.
func raw(t *testing.T, response []byte, cfg Config, pieces ...byte) (*tape, error) {
	l := memnet.Listen()
	defer func() { _ = l.Close() }()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		answer(conn, response, pieces)
	}()
	cfg.Dial = l.Dial
	c := New(cfg)
	defer c.Close()
	r := new(tape)
	_, err := c.Do(t.Context(), post(), r)
	return r, err
}

func answer(conn net.Conn, response, pieces []byte) {
	defer conn.Close()
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, req.Body)
	for _, n := range pieces {
		n := min(int(n), len(response))
		_, _ = conn.Write(response[:n])
		response = response[n:]
	}
	_, _ = conn.Write(response)
}

const chunkedHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

func TestDoBrokenResponses(t *testing.T) {
	for _, tt := range []struct {
		name, response, body string
		want                 error // nil: any error
	}{
		{"cut within a chunk", chunkedHead + "a\r\ndata", "data", io.ErrUnexpectedEOF},
		{"cut between chunks", chunkedHead + "4\r\ndata\r\n", "data", io.ErrUnexpectedEOF},
		{"chunk size is not a number", chunkedHead + "zz\r\ndata\r\n", "", nil},
		{"closed without an answer", "", "", io.EOF},
		{"not HTTP", "SSH-2.0-OpenSSH_9\r\n", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			engines(t, Config{}, func(t *testing.T, cfg Config) {
				synctest.Test(t, func(t *testing.T) {
					r, err := raw(t, []byte(tt.response), cfg)
					if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
						t.Errorf("error %v, want %v", err, tt.want)
					}
					if r.body.String() != tt.body {
						t.Errorf("body %q, want %q", r.body.String(), tt.body)
					}
				})
			})
		})
	}
}

// A server of another protocol is recognized by its first bytes, even if it then
// waits for ours.
func TestDoEndsWhereThereIsNoHTTP(t *testing.T) {
	engines(t, Config{Timeout: time.Minute}, func(t *testing.T, cfg Config) {
		synctest.Test(t, func(t *testing.T) {
			cfg.Dial = func(context.Context, string, string) (net.Conn, error) {
				near, far := net.Pipe()
				go func() {
					_, _ = http.ReadRequest(bufio.NewReader(far))
					_, _ = io.WriteString(far, "SSH-2.0-OpenSSH_9\r\n")
				}()
				return near, nil
			}
			c := New(cfg)
			defer c.Close()
			got, err := c.Do(t.Context(), post(), &tape{})
			if err == nil || !strings.Contains(err.Error(), "malformed HTTP response") || got.Done != got.Sent {
				t.Errorf("error %v, %+v", err, got)
			}
		})
	})
}

// Whatever a server sends, Do ends and passes on at most the received bytes; and
// the engines agree on whether the answer is complete.
func FuzzResponse(f *testing.F) {
	f.Add([]byte(chunkedHead + "5\r\nhello\r\n0\r\n\r\n"))
	f.Add([]byte(chunkedHead + "ffffffffffffffff\r\nhello"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"))
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r\nhello"))
	f.Add([]byte("HTTP/1.1 204 No Content\r\n\r\n"))
	f.Add([]byte(strings.Replace(chunkedHead, "1.1", "1.0", 1) + "5\r\nhello\r\n0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 503 Busy\r\n\r\nwait"))
	f.Fuzz(func(t *testing.T, response []byte) {
		synctest.Test(t, func(t *testing.T) {
			own, ownErr := raw(t, response, Config{Timeout: time.Minute})
			std, stdErr := raw(t, response, Config{Timeout: time.Minute, NetHTTP: true})
			if n := max(own.body.Len(), std.body.Len()); n > len(response) {
				t.Errorf("%d bytes of body from %d bytes of response", n, len(response))
			}
			if ownErr == nil && stdErr == nil && (own.status != std.status || own.body.String() != std.body.String()) {
				t.Errorf("h1 read %d %q, net/http %d %q", own.status, own.body.String(), std.status, std.body.String())
			}
		})
	})
}

// The same bytes arrive, however the body is split into HTTP chunks and the
// response into reads.
func FuzzChunks(f *testing.F) {
	f.Add("data: {}\n\ndata: [DONE]\n\n", []byte{1, 200, 3}, []byte{7, 50})
	f.Fuzz(func(t *testing.T, body string, sizes, reads []byte) {
		response := []byte(chunkedHead)
		rest := body
		for _, s := range sizes {
			n := min(int(s), len(rest))
			if n > 0 {
				response = fmt.Appendf(response, "%x\r\n%s\r\n", n, rest[:n])
			}
			rest = rest[n:]
		}
		if len(rest) > 0 {
			response = fmt.Appendf(response, "%X;ext=1\r\n%s\r\n", len(rest), rest)
		}
		response = append(response, "0\r\nTrailer: x\r\n\r\n"...)
		for _, std := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				r, err := raw(t, response, Config{NetHTTP: std}, reads...)
				if err != nil || r.body.String() != body {
					t.Errorf("net/http %v: error %v, body %q, want %q", std, err, r.body.String(), body)
				}
			})
		}
	})
}

// A server that answers without reading the whole request, and then does nothing,
// blocks no one.
func TestDoTakesAnAnswerToHalfARequest(t *testing.T) {
	engines(t, Config{}, func(t *testing.T, cfg Config) {
		synctest.Test(t, func(t *testing.T) {
			l := memnet.Listen()
			defer l.Close()
			accepted := make(chan net.Conn, 2)
			go func() {
				for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
					accepted <- conn
					_, _ = http.ReadRequest(bufio.NewReader(conn))
					_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
				}
			}()
			cfg.Dial, cfg.Timeout = l.Dial, time.Minute
			c := New(cfg)
			defer c.Close()
			req := post()
			req.Body = make([]byte, 2*bigRequest)
			for range 2 { // the second one over a connection of its own
				r := new(tape)
				got, err := c.Do(t.Context(), req, r)
				if err != nil || r.status != 413 || got.Dialed == Never || got.Done-got.Sent > int64(drainTime) {
					t.Errorf("error %v, status %d, %+v", err, r.status, got)
				}
				(<-accepted).Close()
			}
		})
	})
}
