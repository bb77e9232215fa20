package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// What requests may take of memory. Reading JSON takes some times its length: strings, tokens and the garbage of both.
const (
	maxBody    = 24 << 20         // the largest body; images come inside it
	maxBodies  = 24 << 20         // all that are held
	maxTool    = 4 << 20          // a text to be tokenized: its tokens are listed
	smallBody  = 16 << 10         // always read
	maxParsed  = 4 << 20          // bodies that are parsed at once, or one that is larger
	bodiesWait = 10 * time.Second // for other requests, before one is refused
)

// bodies is how much of requests a server holds at once, in bytes.
type bodies struct{ held, parsed *semaphore.Weighted }

func newBodies() *bodies {
	return &bodies{held: semaphore.NewWeighted(maxBodies), parsed: semaphore.NewWeighted(maxParsed)}
}

// A body is one that was read. It counts as held until it is released.
type body struct {
	*bodies
	data []byte
	held int64
}

// read reads a body of at most most bytes: JSON, or a form. One that there is no room for waits, if it says how long
// it is.
func (b *bodies) read(r *http.Request, form bool, most int64) (*body, *phrase.Error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); !form && kind != phrase.JSON {
		return nil, phrase.NotJSON()
	}
	if r.ContentLength > most {
		return nil, tooLarge(most)
	}
	one := &body{bodies: b}
	refused := one.fill(r, most)
	if refused != nil {
		one.release()
		return nil, refused
	}
	return one, nil
}

// fill reads the body of a request.
func (b *body) fill(r *http.Request, most int64) *phrase.Error {
	size := int64(smallBody)
	if r.ContentLength >= 0 {
		size = r.ContentLength
	}
	if size > smallBody && !b.reserve(r.Context(), size) {
		return crowded(r)
	}
	b.data = make([]byte, 0, size)
	for {
		n, err := io.ReadFull(r.Body, b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF) && r.ContentLength < 0:
			return nil
		case err != nil && r.Context().Err() != nil: // net/http ends it when a read fails
			return clientGone
		case err != nil:
			return phrase.BadRequest("", nil, "read the body: %v", err)
		case r.ContentLength >= 0:
			return nil
		case int64(len(b.data)) >= most:
			return tooLarge(most)
		}
		size = min(2*int64(cap(b.data)), most)
		if !b.bodies.held.TryAcquire(size - b.held) {
			return crowded(r)
		}
		b.held = size
		b.data = append(make([]byte, 0, size), b.data...)
	}
}

// reserve waits for room.
func (b *body) reserve(ctx context.Context, size int64) bool {
	ctx, cancel := context.WithTimeout(ctx, bodiesWait)
	defer cancel()
	if b.bodies.held.Acquire(ctx, size) != nil {
		return false
	}
	b.held = size
	return true
}

// parse calls do when there are few other bodies that are parsed.
func (b *body) parse(ctx context.Context, do func(data []byte) *phrase.Error) *phrase.Error {
	weight := min(int64(len(b.data)), maxParsed)
	if b.parsed.Acquire(ctx, weight) != nil {
		return clientGone
	}
	defer b.parsed.Release(weight)
	return do(b.data)
}

// release lets go of the body. It may be called again.
func (b *body) release() {
	if b == nil {
		return
	}
	b.bodies.held.Release(b.held)
	b.held, b.data = 0, nil
}

func tooLarge(most int64) *phrase.Error {
	e := phrase.BadRequest("", nil, "the body is larger than %d bytes", most)
	e.Code = http.StatusRequestEntityTooLarge
	return e
}

// crowded refuses a body that there is no room for, unless its client has left.
func crowded(r *http.Request) *phrase.Error {
	if r.Context().Err() != nil {
		return clientGone
	}
	const why = "the bodies of other requests take the %d MiB that there are for all; try again"
	return phrase.StatusError(http.StatusServiceUnavailable, fmt.Sprintf(why, maxBodies>>20))
}
