package truth

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// A conn is a connection, whose goroutine reads requests. It reads on while an
// answer is being written, so that the end of the answer need wake nobody; it
// answers the next request when that one is over.
type conn struct {
	*transport.Conn
	srv   *Server
	raw   *rawSocket // nil where there is none
	in    reader
	idle  chan struct{} // holds a token while no answer is being written
	close bool          // the client wants the connection closed after the answer
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{Conn: transport.NewConn(nc, s.clock), srv: s, raw: newRawSocket(nc), idle: make(chan struct{}, 1)}
	c.in.src = c
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
	_ = c.respond(fault.status, problem(fault.status, fault.msg))
}

// answer answers a request, or starts to. It says whether another can be read.
func (c *conn) answer(req *request) bool {
	var err error
	if d, ok := dialects[req.path]; ok && req.method == http.MethodPost {
		err = c.generate(d, req)
	} else {
		status, body := c.srv.side(req)
		err = c.respond(status, body)
		c.idle <- struct{}{}
	}
	return err == nil
}

// dialects are the paths on which tokens are asked for.
var dialects = map[string]dialect{
	"/v1/completions":      completions,
	"/v1/chat/completions": chat,
	"/generate":            generate,
}

// generate starts an answer of tokens, and returns an error when the connection
// is of no more use.
func (c *conn) generate(d dialect, req *request) error {
	s := c.srv
	a, err := parseAsk(d, req.body, s.cfg.OutputTokens)
	n, stamp := s.number(), c.Last()
	rec := &record{head: Request{
		ID: or(req.id, or(a.id, fmt.Sprintf("%016x", mix(s.cfg.Seed)^n))), Path: req.path, Stream: a.stream,
		Received: stamp.At, Kernel: stamp.Kernel, Status: http.StatusOK, PromptTokens: a.prompt, Wanted: a.tokens,
	}}
	fault := s.cfg.Faults.draw(s.cfg.Seed, n)
	switch {
	case err != nil:
		return c.fail(rec, http.StatusBadRequest, err.Error(), Refused)
	case fault == HTTP500:
		return c.fail(rec, http.StatusInternalServerError, "Internal server error", HTTP500)
	}
	f := newForm(d, a, n, rec.head.ID, or(a.model, s.cfg.Model), time.Now().Unix())
	st := newStream(&s.cfg, c, rec, f, fault)
	s.publish(rec)
	if a.stream {
		if _, err := c.Write(appendHead(nil, http.StatusOK, "text/event-stream; charset=utf-8", -1, c.close)); err != nil {
			s.finish(st, ClientGone)
			return err
		}
	}
	s.arrive(st)
	return nil
}

// fail answers a generation request with an error.
func (c *conn) fail(rec *record, status int, msg string, e Ending) error {
	rec.head.Status = status
	rec.end(e)
	c.srv.publish(rec)
	err := c.respond(status, problem(status, msg))
	c.idle <- struct{}{}
	return err
}

// problem is an error as vLLM tells it.
func problem(status int, msg string) []byte {
	kind := map[int]string{400: "BadRequestError", 404: "NotFoundError", 500: "InternalServerError"}[status]
	return fmt.Appendf(nil, `{"error":{"message":%s,"type":%q,"param":null,"code":%d}}`, quote(msg), or(kind, http.StatusText(status)), status)
}

func (c *conn) respond(status int, body []byte) error {
	head := appendHead(nil, status, "application/json", len(body), c.close)
	_, err := c.Write(append(head, body...))
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
