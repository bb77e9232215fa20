package torture

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A request is what a server was asked.
type request struct {
	method, path string
	index        int // of the run, by its x-request-id; -1 for all other requests
}

// A reply is an answer in one of three forms: parts, which every transport carries, or
// bytes of HTTP/1.1, or frames of HTTP/2.
type reply struct {
	status int // 0: 200
	kind   string
	header [][2]string
	body   func(io.Writer) error
	bytes  func(net.Conn)
	frames func(wire, uint32)
	hold   bool // the connection stays open until the client closes it
	abort  bool // the body ends without its end
}

// A server answers every request as its function says, over HTTP/1.1 and HTTP/2.
type server struct {
	url    string
	answer func(request) reply
	listen net.Listener
	framed bool // HTTP/2 frame by frame, for answers that Go's server cannot give
	live   sync.WaitGroup
	mu     sync.Mutex
	conns  map[net.Conn]bool
	closed bool
}

// serve starts a server that lasts as long as the test.
func serve(t testing.TB, framed bool, answer func(request) reply) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{url: "http://" + l.Addr().String(), answer: answer, listen: l, framed: framed, conns: map[net.Conn]bool{}}
	s.live.Go(s.accept)
	t.Cleanup(s.close)
	return s
}

func (s *server) close() {
	_ = s.listen.Close()
	s.mu.Lock()
	s.closed = true
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.live.Wait()
}

func (s *server) accept() {
	for {
		c, err := s.listen.Accept()
		if err != nil {
			return
		}
		if !s.keep(c) {
			return
		}
		s.live.Go(func() {
			defer s.drop(c)
			s.converse(c)
		})
	}
}

func (s *server) keep(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = c.Close()
		return false
	}
	s.conns[c] = true
	return true
}

func (s *server) drop(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	_ = c.Close()
}

// converse finds out which HTTP a client speaks.
func (s *server) converse(c net.Conn) {
	in := bufio.NewReader(c)
	first, err := in.Peek(4)
	switch {
	case err != nil:
	case string(first) != "PRI ":
		s.http1(c, in)
	case s.framed:
		s.frames(c, in)
	default:
		s.http2(c, in)
	}
}

// index is the number of a request in its run: the last part of its id.
func index(id string) int {
	n, err := strconv.Atoi(id[strings.LastIndexByte(id, '-')+1:])
	if err != nil {
		return -1
	}
	return n
}

func (s *server) http1(c net.Conn, in *bufio.Reader) {
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		a := s.answer(request{r.Method, r.URL.Path, index(r.Header.Get("X-Request-Id"))})
		if a.bytes != nil {
			a.bytes(c)
		} else if a.parts(c) == nil && !a.hold {
			continue
		}
		if a.hold {
			_, _ = io.Copy(io.Discard, in)
		}
		return
	}
}

// parts writes a reply in chunks, of which each is one write of its body.
func (a reply) parts(c net.Conn) error {
	head := fmt.Sprintf("HTTP/1.1 %d X\r\nTransfer-Encoding: chunked\r\n", max(a.status, 200))
	for _, h := range a.fields() {
		head += h[0] + ": " + h[1] + "\r\n"
	}
	if _, err := io.WriteString(c, head+"\r\n"); err != nil {
		return err
	}
	if a.body != nil {
		if err := a.body(chunked{c}); err != nil {
			return err
		}
	}
	if a.hold || a.abort {
		return errors.New("without its end")
	}
	_, err := io.WriteString(c, "0\r\n\r\n")
	return err
}

func (a reply) fields() [][2]string {
	kind := a.kind
	if kind == "" {
		kind = "text/event-stream"
	}
	return append([][2]string{{"Content-Type", kind}}, a.header...)
}

type chunked struct{ c net.Conn }

func (w chunked) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	bufs := net.Buffers{fmt.Appendf(nil, "%x\r\n", len(p)), p, []byte("\r\n")}
	if _, err := bufs.WriteTo(w.c); err != nil {
		return 0, err
	}
	return len(p), nil
}

// http2 serves one connection by Go's server, until it is closed.
func (s *server) http2(c net.Conn, in *bufio.Reader) {
	p := &peeked{Conn: c, in: in, closed: make(chan struct{})}
	one := http.Server{Handler: http.HandlerFunc(s.handle), Protocols: new(http.Protocols), ErrorLog: log.New(io.Discard, "", 0)}
	one.Protocols.SetUnencryptedHTTP2(true)
	_ = one.Serve(p)
}

func (s *server) handle(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	a := s.answer(request{r.Method, r.URL.Path, index(r.Header.Get("X-Request-Id"))})
	for _, h := range a.fields() {
		w.Header().Add(h[0], h[1])
	}
	w.WriteHeader(max(a.status, 200))
	var err error
	if a.body != nil {
		err = a.body(flushed{w, http.NewResponseController(w)})
	}
	if a.hold {
		<-r.Context().Done()
	}
	if a.abort || err != nil {
		panic(http.ErrAbortHandler)
	}
}

// A peeked is a connection of which something was read already. It is also the listener
// that accepts it, once, and then waits until it is closed.
type peeked struct {
	net.Conn
	in     *bufio.Reader
	taken  bool
	once   sync.Once
	closed chan struct{}
}

func (p *peeked) Read(b []byte) (int, error) { return p.in.Read(b) }
func (p *peeked) Addr() net.Addr             { return p.LocalAddr() }

func (p *peeked) Accept() (net.Conn, error) {
	if !p.taken {
		p.taken = true
		return p, nil
	}
	<-p.closed
	return nil, net.ErrClosed
}

func (p *peeked) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.Conn.Close()
}

type flushed struct {
	w http.ResponseWriter
	c *http.ResponseController
}

func (f flushed) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	return n, errors.Join(err, f.c.Flush())
}

// frames serves one connection frame by frame.
func (s *server) frames(c net.Conn, in *bufio.Reader) {
	if _, err := in.Discard(len(http2.ClientPreface)); err != nil {
		return
	}
	f := http2.NewFramer(c, in)
	f.AllowIllegalReads, f.AllowIllegalWrites = true, true
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if f.WriteSettings() != nil {
		return
	}
	asked := map[uint32]request{}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		id := frame.Header().StreamID
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() && f.WriteSettingsAck() != nil {
				return
			}
			continue
		case *http2.MetaHeadersFrame:
			r := request{frame.PseudoValue("method"), frame.PseudoValue("path"), -1}
			for _, h := range frame.RegularFields() {
				if h.Name == "x-request-id" {
					r.index = index(h.Value)
				}
			}
			asked[id] = r
			if !frame.StreamEnded() {
				continue
			}
		case *http2.DataFrame:
			if !frame.StreamEnded() {
				continue
			}
		default:
			continue
		}
		if !s.give(wire{f, c}, id, s.answer(asked[id])) {
			return
		}
	}
}

// give gives one answer, and reports whether the connection goes on.
func (s *server) give(f wire, id uint32, a reply) bool {
	if a.frames != nil {
		a.frames(f, id)
		return a.hold
	}
	var body bytes.Buffer
	if a.body != nil {
		_ = a.body(&body)
	}
	head := fields(":status", strconv.Itoa(max(a.status, 200)), "content-type", a.fields()[0][1])
	return f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: head, EndHeaders: true}) == nil &&
		f.WriteData(id, true, body.Bytes()) == nil
}

// fields encodes names and values of headers.
func fields(pairs ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(pairs); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return b.Bytes()
}
