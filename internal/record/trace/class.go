package trace

import (
	"net/http"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Class is the way a request failed; empty means it did not.
type Class string

// The failure classes, roughly in the order a request can meet them.
const (
	Files       Class = "files"        // this process ran out of file descriptors
	Ports       Class = "ports"        // this machine ran out of local ports
	DNS         Class = "dns"          // the host name did not resolve
	Refused     Class = "refused"      // nothing listens at the address
	Unreachable Class = "unreachable"  // no route to the host
	TLS         Class = "tls"          // the handshake or the certificate failed
	Timeout     Class = "timeout"      // the request's own time limit, or the idle limit between bytes
	Reset       Class = "reset"        // the connection was reset
	Closed      Class = "closed"       // the connection ended before or within the answer
	HTTP        Class = "http"         // a status other than 200
	Malformed   Class = "malformed"    // bytes that are not HTTP, not an event stream or not JSON
	StreamError Class = "stream_error" // the server reported an error inside the stream
	Truncated   Class = "truncated"    // the stream ended without its end marker or a finish reason
	Empty       Class = "empty"        // status 200 and a complete answer with nothing in it
	Cancelled   Class = "cancelled"    // the run was stopped while it was in flight
	WorkerLost  Class = "worker_lost"  // the machine that was to send it, or sent it, was lost; see Fleet
	Other       Class = "other"        // none of these; Error has the text
)

// Classes lists every class in report order.
func Classes() []Class {
	return []Class{
		Files, Ports, DNS, Refused, Unreachable, TLS, Timeout, Reset, Closed, HTTP,
		Malformed, StreamError, Truncated, Empty, Cancelled, WorkerLost, Other,
	}
}

// MayPass reports whether a retry could succeed, for example because the server is
// starting; it could not if the server understood and refused, or speaks otherwise than
// it was asked to. status and text are those of class http. A 404 that is not JSON comes from a gateway that has no
// server yet.
func (c Class) MayPass(status int, text string) bool {
	switch c {
	case TLS, Malformed, WorkerLost, Other:
		return false
	case HTTP:
		switch status {
		case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
			return true
		case http.StatusNotFound:
			return !strings.HasPrefix(strings.TrimSpace(text), "{")
		}
		return status >= 500
	}
	return true
}

// Code is the message code that explains c in a report.
func (c Class) Code() plan.Code { return plan.Code("failure." + string(c)) }

// Brief names c in an error; reports use Code.
func (c Class) Brief() string {
	if brief := briefs[c]; brief != "" {
		return brief
	}
	return string(c)
}

var briefs = map[Class]string{
	Files: "out of file descriptors", Ports: "out of local ports", DNS: "host name did not resolve", Refused: "connection refused",
	Unreachable: "no route to host", TLS: "TLS handshake or certificate failed", Timeout: "no answer in time", Reset: "connection reset",
	Closed: "connection closed", StreamError: "error in the stream", Truncated: "truncated stream", Empty: "empty answer",
	Malformed: "malformed answer", WorkerLost: "worker lost",
}
