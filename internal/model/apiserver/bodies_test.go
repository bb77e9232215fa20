package apiserver

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// posted is a request with a body of x; chunked ones do not say how long they are.
func posted(size int, chunked bool) *http.Request {
	r := httptest.NewRequest("POST", "/v1/completions", io.LimitReader(endlessX{}, int64(size)))
	r.Header.Set("Content-Type", "application/json")
	if r.ContentLength = int64(size); chunked {
		r.ContentLength = -1
	}
	return r
}

type endlessX struct{}

func (endlessX) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestBodiesAreReadWhole(t *testing.T) {
	b := newBodies()
	for _, size := range []int{0, 1, smallBody - 1, smallBody, smallBody + 1, 100_000, maxBody - 1, maxBody} {
		for _, chunked := range []bool{false, true} {
			one, refused := b.read(posted(size, chunked), false, maxBody)
			if chunked && size == maxBody { // only the next byte would say that it was the last
				if refused == nil || refused.Code != http.StatusRequestEntityTooLarge {
					t.Errorf("%d bytes in chunks: %+v", size, refused)
				}
				continue
			}
			if refused != nil || len(one.data) != size {
				t.Fatalf("%d bytes, chunked %t: %+v", size, chunked, refused)
			}
			one.release()
			one.release()
		}
	}
	if !b.held.TryAcquire(maxBodies) {
		t.Error("not all is released")
	}
}

// All bodies together have one limit. Small ones are always read, others wait, and are refused in the end.
func TestBodiesTogetherHaveALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBodies()
		big, refused := b.read(posted(maxBody, false), false, maxBody)
		if refused != nil {
			t.Fatal(refused)
		}
		if _, refused := b.read(posted(smallBody, false), false, maxBody); refused != nil {
			t.Errorf("a small one: %+v", refused)
		}
		for _, chunked := range []bool{false, true} {
			began := time.Now()
			_, refused := b.read(posted(100_000, chunked), false, maxBody)
			if refused == nil || refused.Code != http.StatusServiceUnavailable ||
				!strings.Contains(refused.Message, "take the 24 MiB") || chunked != (time.Since(began) == 0) {
				t.Errorf("chunked %t: %+v after %s", chunked, refused, time.Since(began))
			}
		}
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		if _, refused := b.read(posted(100_000, false).WithContext(ctx), false, maxBody); refused != clientGone {
			t.Errorf("of a client that left: %+v", refused)
		}
		time.AfterFunc(time.Second, big.release)
		if one, refused := b.read(posted(100_000, false), false, maxBody); refused != nil || len(one.data) != 100_000 {
			t.Errorf("one that waited: %+v", refused)
		}
	})
}

func TestABodyThatIsTooLargeIsNotRead(t *testing.T) {
	r := posted(maxBody+1, false)
	r.Body = nil // reading it would panic
	if _, refused := newBodies().read(r, false, maxBody); refused == nil ||
		refused.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%+v", refused)
	}
}
