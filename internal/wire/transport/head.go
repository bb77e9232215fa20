package transport

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
)

// An answerHead is what the head of a response says.
type answerHead struct {
	text    string // its bytes
	status  int
	header  http.Header // shared by responses with the same head
	close   bool        // the server closes the connection afterwards
	length  int64       // of the body, -1 if unknown
	chunked bool
}

// headCache has the latest head. A server begins most of its answers with the same bytes, which say the same.
type headCache struct{ latest atomic.Pointer[answerHead] }

// mostCachedHead is the largest head that is stored, in bytes.
const mostCachedHead = 4 << 10

// read parses a head, which ends with an empty line. The error is of a head that is malformed.
func (c *headCache) read(b []byte) (*answerHead, error) {
	if a := c.latest.Load(); a != nil && a.text == string(b) {
		return a, nil
	}
	a, err := readHead(b)
	if err == nil && len(b) <= mostCachedHead {
		a.text = string(b)
		c.latest.Store(a)
	}
	return a, err
}

// headReaders are readers for heads.
var headReaders = sync.Pool{New: func() any { return bufio.NewReader(nil) }}

func readHead(b []byte) (*answerHead, error) {
	lines := headReaders.Get().(*bufio.Reader)
	defer headReaders.Put(lines)
	lines.Reset(bytes.NewReader(b))
	res, err := http.ReadResponse(lines, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errResponse, err)
	}
	return &answerHead{
		status: res.StatusCode, header: res.Header, close: res.Close, length: res.ContentLength,
		chunked: res.TransferEncoding != nil,
	}, nil
}
