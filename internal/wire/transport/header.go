package transport

import (
	"bytes"
	"errors"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// A Header is the header of requests, checked and written once for all that share it.
// Only their X-Request-Id may differ. nil is empty.
type Header struct {
	fields            http.Header
	err               error // of fields that cannot be sent
	host              string
	before, id, after []byte // the lines before that of X-Request-Id, that line, and the others
}

// idName is the header that Request.ID is sent in.
const idName = "X-Request-Id"

// NewHeader prepares fields, which must not be changed afterwards.
func NewHeader(fields http.Header) *Header {
	h := &Header{fields: fields, err: checkHeader(fields), host: fields.Get("Host")}
	if fields["User-Agent"] == nil {
		h.before = []byte("User-Agent: pitot\r\n")
	}
	for _, part := range []struct {
		lines *[]byte
		order int
	}{{&h.before, -1}, {&h.id, 0}, {&h.after, 1}} {
		*part.lines = append(*part.lines,
			linesOf(fields, func(name string) bool { return strings.Compare(name, idName) == part.order })...)
	}
	return h
}

var noHeader = NewHeader(nil)

// ownHeaders cannot be set by the caller.
var ownHeaders = []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Trailer"}

// linesOf writes the fields with some names, in the order of their names.
func linesOf(fields http.Header, wanted func(name string) bool) []byte {
	var b bytes.Buffer
	others := map[string]bool{}
	for name := range fields {
		others[name] = !wanted(name) || slices.Contains(ownHeaders, name)
	}
	_ = fields.WriteSubset(&b, others) // a buffer never fails
	return b.Bytes()
}

// checkHeader rejects fields that would break a request.
func checkHeader(fields http.Header) error {
	for name, values := range fields {
		if !httpguts.ValidHeaderFieldName(name) ||
			slices.ContainsFunc(values, func(v string) bool { return !httpguts.ValidHeaderFieldValue(v) }) {
			return unsendable(name)
		}
	}
	return nil
}

func unsendable(name string) error {
	return errors.New("the header " + strconv.Quote(name) + " cannot be sent")
}

// check rejects a header with an id that would break a request.
func (h *Header) check(id string) error {
	if h.err == nil && !httpguts.ValidHeaderFieldValue(id) {
		return unsendable(idName)
	}
	return h.err
}

// write writes the lines with an id, or with that of the fields if it is empty.
func (h *Header) write(b *bytes.Buffer, id string) {
	b.Write(h.before)
	if id == "" {
		b.Write(h.id)
	} else {
		b.WriteString(idName + ": ")
		b.WriteString(textproto.TrimString(id))
		b.WriteString("\r\n")
	}
	b.Write(h.after)
}

// with returns the fields with an id.
func (h *Header) with(id string) http.Header {
	fields := h.fields.Clone()
	if fields == nil {
		fields = http.Header{}
	}
	if id != "" {
		fields.Set(idName, id)
	}
	return fields
}

// header returns that of the request.
func (r *Request) header() *Header {
	if r.Header == nil {
		return noHeader
	}
	return r.Header
}
