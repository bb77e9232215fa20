package transport

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/test/memnet"
)

// hangsUp is a server that closes the connection of some requests without an answer, a while after
// they arrived: those for which ends is true, unless they are the first of their connection.
type hangsUp struct {
	requests int
	ends     func(n int) bool
	after    time.Duration
	stops    int // from this request on; 0: never
	dials    int
	anew     bool // the first of a connection too
	took     func(body string)
}

// onConn is the key of the number of requests on a connection.
type onConn struct{}

func (s *hangsUp) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	s.requests++
	body, _ := io.ReadAll(r.Body)
	if s.took != nil {
		s.took(string(body))
	}
	n := r.Context().Value(onConn{}).(*int)
	if *n++; s.ends(s.requests) && (*n > 1 || s.anew) {
		time.Sleep(s.after)
		panic(http.ErrAbortHandler)
	}
	time.Sleep(10 * time.Millisecond)
}

func (s *hangsUp) run(t *testing.T, cfg Config, test func(t *testing.T, c *Client)) {
	engines(t, cfg, func(t *testing.T, cfg Config) {
		*s = hangsUp{ends: s.ends, after: s.after, stops: s.stops, anew: s.anew, took: s.took}
		synctest.Test(t, func(t *testing.T) {
			l := memnet.Listen()
			srv := &http.Server{Handler: s, ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
				return context.WithValue(ctx, onConn{}, new(int))
			}}
			go func() { _ = srv.Serve(l) }()
			cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if s.dials++; s.stops > 0 && s.requests >= s.stops {
					return nil, net.ErrClosed
				}
				return l.Dial(ctx, network, addr)
			}
			c := New(cfg)
			test(t, c)
			c.Close()
			_ = srv.Shutdown(t.Context())
		})
	})
}

func second(n int) bool { return n == 2 }

func TestAnUnansweredRequestIsSentAgainOnANewConnection(t *testing.T) {
	s := &hangsUp{ends: second, after: 30 * time.Millisecond}
	s.run(t, Config{}, func(t *testing.T, c *Client) {
		for i := range 2 {
			start := c.Now()
			got, err := c.Do(t.Context(), post(), &tape{})
			want := Timing{
				Dialed: start, Connected: start, Sent: start, FirstSent: Never, FirstByte: start + 10*ms, Done: start + 10*ms,
			}
			if i == 1 {
				again := start + 30*ms
				want = Timing{
					Dialed: again, Connected: again, Sent: again, FirstSent: start, FirstByte: again + 10*ms, Done: again + 10*ms,
				}
			}
			if err != nil || got != want {
				t.Errorf("request %d: error %v\ngot  %+v\nwant %+v", i, err, got, want)
			}
		}
		if c.ReuseStopped() {
			t.Error("one close ended reuse")
		}
	})
}

func TestWhatIsNotSentAgain(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  Config
		s    hangsUp
	}{
		{"unwanted", Config{NoResend: true}, hangsUp{ends: second}},
		{"another tool's client", Config{KeepReusing: true}, hangsUp{ends: second}},
		{"the server had begun to work", Config{}, hangsUp{ends: second, after: closeRace}},
		{"nobody accepts", Config{}, hangsUp{ends: second, stops: 2}},
		{"a second time", Config{}, hangsUp{ends: func(n int) bool { return n > 1 }, anew: true}},
		{"a new connection", Config{NoReuse: true}, hangsUp{ends: second, anew: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &tt.s
			s.run(t, tt.cfg, func(t *testing.T, c *Client) {
				_, _ = c.Do(t.Context(), post(), &tape{})
				start := c.Now()
				got, err := c.Do(t.Context(), post(), &tape{})
				twice := tt.name == "a second time"
				if err == nil || (got.FirstSent == start) != twice || !twice && got.Sent != start || got.Done < got.Sent {
					t.Errorf("error %v, %+v", err, got)
				}
				if want := map[bool]int{false: 2, true: 3}[twice]; s.requests != want {
					t.Errorf("the server saw %d requests, want %d", s.requests, want)
				}
			})
		})
	}
}

// A server that hangs up on every reused connection gets new ones.
func TestReuseEndsAfterAFewCloses(t *testing.T) {
	const requests = 30
	for _, tt := range []struct {
		name   string
		cfg    Config
		ends   bool
		failed int
	}{
		{"sent again", Config{}, true, 0},
		{"failing", Config{NoResend: true}, true, fewCloses},
		{"of another tool's client", Config{KeepReusing: true}, false, requests / 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &hangsUp{ends: func(n int) bool { return n%2 == 0 }}
			s.run(t, tt.cfg, func(t *testing.T, c *Client) {
				failed := 0
				for range requests {
					if _, err := c.Do(t.Context(), post(), &tape{}); err != nil {
						failed++
					}
				}
				if c.ReuseStopped() != tt.ends || failed != tt.failed || tt.ends && s.dials < requests-2*fewCloses {
					t.Errorf("stopped %v after %d dials, %d failed", c.ReuseStopped(), s.dials, failed)
				}
			})
		})
	}
}

// One that does so now and then keeps its connections.
func TestReuseGoesOnWhereClosesAreRare(t *testing.T) {
	for every, stops := range map[int]bool{2: true, oneCloseIn: true, oneCloseIn + 1: false} {
		var u reuse
		for i := range 50 * every {
			u.taken.Add(1)
			if i%every == every-1 {
				u.lost()
			}
		}
		if u.stopped.Load() != stops {
			t.Errorf("one close in %d: stopped %v", every, !stops)
		}
	}
}

// The memory of a body is given back once it is needed no longer: of a new connection before there is an answer, of
// a reused one, on which the request might leave again, not before its end.
func TestTheMemoryOfABodyIsGivenBack(t *testing.T) {
	var arrived []string
	given := 0
	s := &hangsUp{ends: second, after: 30 * time.Millisecond}
	s.took = func(body string) { arrived = append(arrived, body) }
	s.run(t, Config{}, func(t *testing.T, c *Client) {
		arrived, given = nil, 0
		for i, text := range []string{"first", "resent", "last"} {
			body := []byte(text)
			req := &Request{Method: "POST", URL: "http://engine/", Body: body, Sent: func(b []byte) {
				if given++; &b[0] != &body[0] {
					t.Error("it is another's memory")
				}
				clear(b)
			}}
			before := 0
			got, err := c.Do(t.Context(), req, &headed{func() { before = given - i }})
			if err != nil || i == 1 && got.FirstSent == Never {
				t.Errorf("request %d: error %v, %+v", i, err, got)
			}
			if fresh := got.Dialed != Never; !c.cfg.NetHTTP && (given != i+1 || (before == 1) != fresh) {
				t.Errorf("request %d: given back %d times, before the answer %d times, on a new connection: %v", i, given-i,
					before, fresh)
			}
		}
		if want := []string{"first", "resent", "resent", "last"}; !slices.Equal(arrived, want) {
			t.Errorf("the server got %q, want %q", arrived, want)
		}
	})
}

// headed calls a function when an answer begins.
type headed struct{ begun func() }

func (h *headed) Head(int, http.Header)    { h.begun() }
func (h *headed) Data([]byte, Stamp) error { return nil }
