//go:build linux && (amd64 || arm64)

package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// What ends an exchange may come before it begins.
func TestADeadlineBeforeAPollerReads(t *testing.T) {
	conn, _ := loopback(t, clock.New())
	all := &pollers{watch: newWatch(), clock: conn.clock}
	defer all.close()
	all.adopt(conn, false)
	_ = conn.SetReadDeadline(time.Unix(1, 0))
	soon(t, func() {
		for conn.raw.poller.some.Load() {
			time.Sleep(time.Microsecond)
		}
		conn.begin(nil, takes(func([]byte, Stamp) bool { return true }))
		if err := conn.finish(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

// An event of a connection that is closed by now is not one of the next that has its descriptor.
func TestEventsOfClosedConnections(t *testing.T) {
	clk := clock.New()
	all := &pollers{watch: newWatch(), clock: clk}
	defer all.close()
	old, _ := loopback(t, clk)
	all.adopt(old, false)
	late := unix.EpollEvent{Fd: int32(old.raw.fd), Pad: old.raw.serial, Events: unix.EPOLLIN | unix.EPOLLHUP}
	p := old.raw.poller
	if p.of(&late) != old {
		t.Error("an event is not its connection's")
	}
	_ = old.Close()
	next, _ := loopback(t, clk)
	all.adopt(next, false)
	late.Fd = int32(next.raw.fd)
	if c := p.of(&late); c != nil {
		t.Error("an event of the connection before is the next one's")
	}
	if _, err := old.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a read after the end: %v", err)
	}
	if _, err := old.Write(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a write after the end: %v", err)
	}
	if err := old.raw.poller.await(old, new(atomic.Int64)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a wait after the end: %v", err)
	}
}

// A poller that has ended writes to none of its descriptors, and gets no connections.
func TestAPollerAfterItsEnd(t *testing.T) {
	conn, far := loopback(t, clock.New())
	all := &pollers{watch: newWatch(), clock: conn.clock}
	all.adopt(conn, false)
	p := conn.raw.poller
	all.close()
	_ = conn.Close()
	soon(t, func() {
		for over := false; !over; {
			p.mu.Lock()
			over = p.alarm < 0
			p.mu.Unlock()
		}
	})
	_ = conn.SetDeadline(time.Unix(1, 0)) // of a late cancel
	if all.next() != nil {
		t.Error("there is another poller")
	}
	if _, err := far.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the other end: %v", err)
	}
}

// open counts the descriptors of this process, and its pollers.
func open(t *testing.T) (files, pollers int) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return len(all), strings.Count(string(stacks), "(*poller).run(")
}

// closed waits until there are no pollers and no more descriptors than this.
func closed(t *testing.T, files int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		f, pollers := open(t)
		if pollers == 0 && f <= files {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d descriptors, %d before, and %d pollers", f, files, pollers)
		}
	}
}

func TestNothingIsLeftOfAClient(t *testing.T) {
	closed(t, 1<<20) // those of other tests
	for round := range 3 {
		files, _ := open(t)
		for _, w := range polledWays {
			t.Run(w.String(), func(t *testing.T) {
				p := newPeer(t, w.secure, func(conn net.Conn) {
					requested(conn, func(int) error { _, err := io.WriteString(conn, chunked("x")); return err })
				})
				c := New(w.config(Config{}, p.trust))
				var all sync.WaitGroup
				for range 5 {
					all.Go(func() {
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						_, err := c.Do(ctx, &Request{Method: "GET", URL: p.url}, &tape{data: func([]byte) error { cancel(); return nil }})
						if err != nil && !errors.Is(err, context.Canceled) {
							t.Error(err)
						}
					})
				}
				all.Wait()
				if _, n := open(t); n != 1 {
					t.Errorf("%d pollers", n)
				}
				c.Close()
				closed(t, 1<<20)
			})
		}
		if round > 0 { // the first one opens what the runtime keeps
			closed(t, files)
		}
	}
}

// What comes before an exchange is read when it begins.
func TestAnEventBeforeAPollerReads(t *testing.T) {
	for _, ahead := range []bool{false, true} { // whether it is a layer on top that has it
		conn, far := loopback(t, clock.New())
		all := &pollers{watch: newWatch(), clock: conn.clock}
		defer all.close()
		all.adopt(conn, ahead)
		var layer io.Reader
		if ahead {
			layer = strings.NewReader("early")
		} else {
			_, _ = far.Write([]byte("early"))
		}
		soon(t, func() {
			for !conn.raw.missed.Load() {
				time.Sleep(time.Microsecond)
			}
			got := ""
			conn.begin(layer, takes(func(p []byte, _ Stamp) bool { got = string(p); return false }))
			if err := conn.finish(); err != nil || got != "early" {
				t.Errorf("error %v, %q", err, got)
			}
		})
	}
}

// A wait for bytes does not end because the socket takes some.
func TestAWaitToReadIsOne(t *testing.T) {
	conn, far := loopback(t, clock.New())
	all := &pollers{watch: newWatch(), clock: conn.clock}
	defer all.close()
	all.adopt(conn, false)
	p := conn.raw.poller
	read := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		read <- err
	}()
	waits := map[wait]bool{}
	for range 100 {
		p.mu.Lock()
		for _, w := range p.waiting[conn] {
			waits[w] = true
		}
		p.mu.Unlock()
		time.Sleep(50 * time.Microsecond)
	}
	_, _ = far.Write([]byte("x"))
	soon(t, func() {
		if err := <-read; err != nil || len(waits) != 1 {
			t.Errorf("error %v after %d waits", err, len(waits))
		}
	})
}

// A read ends at a byte out of band, though there is more behind it.
func TestBytesBehindUrgentOnesAreRead(t *testing.T) {
	conn, far := loopback(t, clock.New())
	all := &pollers{watch: newWatch(), clock: conn.clock}
	defer all.close()
	raw, err := far.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	all.adopt(conn, false)
	got := ""
	conn.begin(nil, takes(func(p []byte, _ Stamp) bool {
		if got += string(p); got == "." { // the rest has one event
			_, _ = far.Write([]byte("ab"))
			_ = raw.Control(func(fd uintptr) { err = unix.Send(int(fd), []byte("!"), unix.MSG_OOB) })
			_, _ = far.Write([]byte("cd"))
		}
		return len(got) < 5
	}))
	_, _ = far.Write([]byte("."))
	soon(t, func() {
		if end := conn.finish(); end != nil || err != nil || got != ".abcd" {
			t.Errorf("errors %v and %v, %q", end, err, got)
		}
	})
}

// A server may answer before it has read the request, or all of it.
func TestPolledAnswersBeforeTheRequest(t *testing.T) {
	for _, reads := range []int{1, 100 << 10} {
		inWays(t, Config{}, func(conn net.Conn) {
			_, _ = io.ReadFull(conn, make([]byte, reads))
			_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
			_, _ = io.Copy(io.Discard, conn) // until the client leaves
		}, func(t *testing.T, c *Client, url string) {
			var r tape
			soon(t, func() {
				_, err := c.Do(t.Context(), &Request{Method: "POST", URL: url, Body: make([]byte, 20<<20)}, &r)
				if err != nil || r.status != 413 || r.body.String() != "big" {
					t.Errorf("error %v, status %d, body %q", err, r.status, r.body.String())
				}
			})
		})
	}
}

// Requests larger than the socket takes at once leave in parts, by connections that are used before and after.
func TestPolledConnectionsSendBigRequests(t *testing.T) {
	inWays(t, Config{}, func(conn net.Conn) {
		r := bufio.NewReaderSize(conn, 1<<10)
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			n, _ := io.Copy(io.Discard, req.Body)
			_, _ = io.WriteString(conn, chunked(fmt.Sprint(n)))
		}
	}, func(t *testing.T, c *Client, url string) {
		for i, size := range []int{10, 8 << 20, 10, 100 << 10, 31 << 10, 8 << 20, 0} {
			var r tape
			soon(t, func() {
				got, err := c.Do(t.Context(), &Request{Method: "POST", URL: url, Body: make([]byte, size)}, &r)
				if err != nil || r.body.String() != fmt.Sprint(size) || i > 0 && got.Dialed != Never {
					t.Errorf("request %d of %d bytes: error %v, body %q, %+v", i, size, err, r.body.String(), got)
				}
			})
		}
	})
}

func TestLimitsOfPolledRequests(t *testing.T) {
	for _, tt := range []struct {
		cfg  Config
		want error
	}{{Config{Timeout: 10 * time.Millisecond}, ErrTimeout}, {Config{Idle: 10 * time.Millisecond}, ErrIdle}} {
		for _, said := range []string{"", chunked("a", "b")[:60]} {
			inWays(t, tt.cfg, func(conn net.Conn) {
				requested(conn, func(int) error { _, err := io.WriteString(conn, said); return err })
			}, func(t *testing.T, c *Client, url string) {
				soon(t, func() {
					if _, err := c.Do(t.Context(), &Request{Method: "GET", URL: url}, &tape{}); !errors.Is(err, tt.want) {
						t.Errorf("after %q: error %v, want %v", said, err, tt.want)
					}
				})
			})
		}
	}
}

// A stream that never lets the poller wait does not keep it from the others, and does not gain by it.
func TestAFloodLeavesRoomForOthers(t *testing.T) {
	const tokens = 30
	next := make(chan struct{})
	inWays(t, Config{}, func(conn net.Conn) {
		_ = conn.SetDeadline(time.Now().Add(floodLimit))
		r := bufio.NewReader(conn)
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		if req.URL.Path == "/flood" {
			for flood := make([]byte, 1<<20); err == nil; {
				_, err = conn.Write(flood)
			}
			return
		}
		for range tokens {
			_, _ = io.WriteString(conn, "t")
			<-next
		}
	}, func(t *testing.T, c *Client, url string) {
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		flooded := make(chan struct{}, 2)
		for range 2 {
			all.Go(func() {
				first := sync.OnceFunc(func() { flooded <- struct{}{} })
				_, _ = c.Do(ctx, &Request{Method: "GET", URL: url + "flood"}, each(first))
			})
		}
		soon(t, func() { <-flooded; <-flooded })
		queued := 0
		soon(t, func() {
			var r tape
			r.data = func([]byte) error {
				c.polls.mu.Lock()
				queued = max(queued, len(c.polls.list[0].more))
				c.polls.mu.Unlock()
				next <- struct{}{}
				return nil
			}
			if _, err := c.Do(t.Context(), &Request{Method: "GET", URL: url}, &r); err != nil || r.body.Len() != tokens {
				t.Errorf("error %v, %d tokens", err, r.body.Len())
			}
		})
		cancel()
		all.Wait()
		if queued > 3 {
			t.Errorf("%d turns of three streams wait at once", queued)
		}
	})
}

// each is a Receiver that keeps nothing and is called for each piece.
type each func()

func (each) Head(int, http.Header)      {}
func (f each) Data([]byte, Stamp) error { f(); return nil }

func TestThousandsOfPolledStreams(t *testing.T) {
	const streams, pieces = 1000, 3
	for _, lazy := range []bool{false, true} {
		var gate sync.WaitGroup // all are there before any gets its second piece
		gate.Add(streams)
		p := newPeer(t, false, func(conn net.Conn) {
			requested(conn, func(int) error {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
				gate.Done()
				gate.Wait()
				for range pieces - 1 {
					_, _ = io.WriteString(conn, "1\r\na\r\n")
				}
				_, _ = io.WriteString(conn, "0\r\n\r\n")
				return io.EOF
			})
		})
		c := New(Config{lazy: lazy})
		var all sync.WaitGroup
		for range streams {
			all.Go(func() {
				var r tape
				if _, err := c.Do(t.Context(), &Request{Method: "GET", URL: p.url}, &r); err != nil || r.body.Len() != pieces {
					t.Errorf("error %v, body %q", err, r.body.String())
				}
			})
		}
		soon(t, all.Wait)
		for _, p := range c.polls.list {
			if p.active.Load() != 0 {
				t.Errorf("%d streams are under way after their ends", p.active.Load())
			}
		}
		c.Close()
	}
}

// Without descriptors for it a connection stays with the runtime.
func TestPollersWithoutDescriptors(t *testing.T) {
	for _, first := range []bool{true, false} { // whether the poller is to be opened too
		conn, far := loopback(t, clock.New())
		all := &pollers{watch: newWatch(), clock: conn.clock}
		if !first {
			p := all.next()
			defer p.closeIfUnused()
		}
		scarce(t, func() { all.adopt(conn, false) })
		if conn.raw.poller != nil || conn.begin(nil, nil) {
			t.Fatal("a poller took it")
		}
		stamped(t, conn, far)
		all.close()
	}
}

// scarce calls f while no descriptors are left.
func scarce(t *testing.T, f func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	none := before
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Fatal(err)
		}
	}()
	f()
}

// A layer may write when it reads, as TLS does for a change of keys. If the server takes nothing, the poller must not
// wait for it.
func TestAPollerNeverWaitsToWrite(t *testing.T) {
	conn, far := loopback(t, clock.New())
	all := &pollers{watch: newWatch(), clock: conn.clock}
	defer all.close()
	all.adopt(conn, false)
	answers := &chatty{Conn: conn}
	conn.begin(answers, takes(func([]byte, Stamp) bool { return answers.failed == nil }))
	soon(t, func() {
		go func() {
			for {
				if _, err := far.Write([]byte("x")); err != nil {
					return
				}
			}
		}()
		if err := conn.finish(); err != nil || !errors.Is(answers.failed, syscall.EAGAIN) {
			t.Errorf("error %v, that of the write %v", err, answers.failed)
		}
	})
}

// chatty writes after each read.
type chatty struct {
	*Conn
	failed error
}

func (c *chatty) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == nil {
		_, c.failed = c.Write(make([]byte, 64<<10))
	}
	return n, err
}

// The rest of a body behind what the receiver needs is read for a moment; its error ends the exchange.
func TestReceiversOfPolledAnswersEndThem(t *testing.T) {
	own := errors.New("the receiver's")
	for _, tt := range []struct {
		tail       string
		data, want error
		requests   int
		keep       bool
	}{
		{"1\r\na\r\n0\r\n\r\n", ErrEnough, nil, 2, true},
		{"1\r\na\r\n", ErrEnough, nil, 1, false}, // the end does not come
		{"0\r\n\r\n", own, own, 2, false},
	} {
		inWays(t, Config{}, func(conn net.Conn) {
			requested(conn, func(int) error {
				return inPieces(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"+tt.tail, 50)
			})
		}, func(t *testing.T, c *Client, url string) {
			for i := range tt.requests {
				soon(t, func() {
					got, err := c.Do(t.Context(), &Request{Method: "GET", URL: url},
						&tape{data: func([]byte) error { return tt.data }})
					if !errors.Is(err, tt.want) || i > 0 && (got.Dialed == Never) != tt.keep {
						t.Errorf("%q: error %v, want %v; %+v", tt.tail, err, tt.want, got)
					}
				})
			}
		})
	}
}
