package truth

import (
	"cmp"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/wire/phrase"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// A conn is a connection with a goroutine that reads requests. It reads on while an
// answer is being written, so that the end of the answer need wake no goroutine; it
// answers the next request when that one is over.
type conn struct {
	*transport.Conn
	srv    *Server
	writer *writer    // of the raw socket
	raw    *rawSocket // nil where there is none
	in     *reader
	idle   chan struct{} // holds a token while no answer is being written
	close  bool          // the client wants the connection closed after the answer
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{Conn: transport.NewConn(nc, s.clock), srv: s, raw: newRawSocket(nc), idle: make(chan struct{}, 1)}
	c.in = newReader(c)
	c.idle <- struct{}{}
	return c
}

// serve reads and answers requests until the connection ends. An answer that is
// being written then is written on: the client may only have finished sending.
func (c *conn) serve() {
	for !c.close {
		req, err := c.in.next(c.proceed)
		<-c.idle
		if err != nil {
			c.refuse(err)
			return
		}
		c.close = req.close
		if !c.answer(&req) {
			return
		}
	}
	<-c.idle
}

// proceed tells a client that waits for it to send the body.
func (c *conn) proceed() error {
	<-c.idle
	c.idle <- struct{}{}
	_, err := c.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
	return err
}

// refuse tells the client why the connection ends, if it is at fault.
func (c *conn) refuse(err error) {
	var fault *badRequest
	if !errors.As(err, &fault) {
		return
	}
	c.close = true
	e := phrase.StatusError(fault.status, fault.msg)
	_ = c.respond(phrase.JSONReply(e.Code, e.Body()))
}

// answer answers a request, or starts to. It says whether another can be read.
func (c *conn) answer(req *request) bool {
	var err error
	if p := spoken(req.path); p != nil && req.method == http.MethodPost {
		err = c.generate(req)
	} else {
		err = c.respond(c.srv.side(req))
		c.idle <- struct{}{}
	}
	return err == nil
}

// spoken is the protocol in which tokens are asked for on a path, or nil.
func spoken(path string) *phrase.Protocol {
	if p := phrase.At(path); p != nil && !p.Silent && !p.Form {
		return p
	}
	return nil
}

// generate starts an answer of tokens, and returns an error when the connection
// is of no more use.
func (c *conn) generate(req *request) error {
	s := c.srv
	q, refused := phrase.Read(req.path, phrase.JSON, req.body)
	n, stamp := s.number(), c.Last()
	a, tooMany := s.cfg.answer(q, n)
	a.ID = cmp.Or(req.id, a.ID)
	rec := &record{head: Request{
		ID: a.ID, Path: req.path, Stream: q.Stream,
		Received: stamp.At, Kernel: stamp.Kernel, Status: http.StatusOK, PromptTokens: a.PromptTokens, Wanted: a.Tokens,
	}}
	fault := s.cfg.Faults.draw(s.cfg.Seed, n)
	switch refused = cmp.Or(refused, tooMany); {
	case refused != nil:
		return c.fail(rec, q, refused, Refused)
	case fault == HTTP500:
		return c.fail(rec, q, phrase.StatusError(http.StatusInternalServerError, ""), HTTP500)
	}
	st := newStream(&s.cfg, c, rec, q.Protocol, a, n, fault)
	s.publish(rec)
	if q.Stream {
		if _, err := c.Write(appendHead(nil, http.StatusOK, phrase.EventStream, -1, c.close)); err != nil {
			s.finish(st, ClientGone)
			return err
		}
	}
	st.begin()
	s.run(st)
	return nil
}

// fail answers a generation request with an error.
func (c *conn) fail(rec *record, q *phrase.Request, refused *phrase.Error, e Ending) error {
	r := q.Protocol.Refuse(refused, q.Stream)
	rec.head.Status = r.Status
	rec.end(e)
	c.srv.publish(rec)
	err := c.respond(r)
	c.idle <- struct{}{}
	return err
}

func (c *conn) respond(r phrase.Reply) error {
	head := appendHead(nil, r.Status, r.MediaType, len(r.Body), c.close)
	_, err := c.Write(append(head, r.Body...))
	return err
}

// appendHead appends the head of a response. A negative length is one in
// chunks.
func appendHead(dst []byte, status int, contentType string, length int, last bool) []byte {
	dst = append(dst, "HTTP/1.1 "...)
	dst = strconv.AppendInt(dst, int64(status), 10)
	dst = append(append(dst, ' '), http.StatusText(status)...)
	dst = append(dst, "\r\ndate: "...)
	dst = time.Now().UTC().AppendFormat(dst, http.TimeFormat)
	dst = append(dst, "\r\nserver: pitot\r\n"...)
	if last {
		dst = append(dst, "connection: close\r\n"...)
	}
	if length < 0 {
		dst = append(dst, "transfer-encoding: chunked\r\n"...)
	} else {
		dst = append(dst, "content-length: "...)
		dst = append(strconv.AppendInt(dst, int64(length), 10), "\r\n"...)
	}
	return append(append(append(dst, "content-type: "...), contentType...), "\r\n\r\n"...)
}

// reset ends the connection with a RST where it can.
func (c *conn) reset() {
	if tcp, ok := c.Conn.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
