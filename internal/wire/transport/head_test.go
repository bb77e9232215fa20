package transport

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const usualHead = "HTTP/1.1 200 OK\r\nServer: uvicorn\r\nContent-Type: text/event-stream\r\n" +
	"Transfer-Encoding: chunked\r\n\r\n"

// A head says the same, whatever head came before it.
func FuzzHead(f *testing.F) {
	for _, text := range []string{
		usualHead, strings.Replace(usualHead, "200", "500", 1), "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n",
		"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 x\r\n\r\n",
		"HTTP/1.1 200 OK\nA: b\n\n",
	} {
		f.Add([]byte(text), []byte(usualHead))
		f.Add([]byte(usualHead), []byte(text))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var c headCache
		for _, b := range [][]byte{first, second, second, first} {
			got, err := c.read(bytes.Clone(b))
			want, wantErr := readHead(b)
			if (err == nil) != (wantErr == nil) || err != nil && !errors.Is(err, errResponse) {
				t.Fatalf("%q: error %v, want %v", b, err, wantErr)
			}
			if err != nil {
				continue
			}
			if want.text = got.text; !reflect.DeepEqual(got, want) {
				t.Fatalf("%q: %+v, want %+v", b, got, want)
			}
		}
	})
}

// A head that repeats the one before it costs no memory, and neither does looking for its end in a read.
func TestARepeatedHeadDoesNotAllocate(t *testing.T) {
	x := &exchange{hotExchange: hotExchange{r: &tape{}}, c: &Client{}}
	text := []byte(usualHead)
	if n := testing.AllocsPerRun(100, func() {
		p := response{x: x}
		if err := p.feed(text, Stamp{}); err != nil || p.state != size {
			t.Fatal(err, p.state)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A large head is not kept.
func TestALargeHeadIsNotKept(t *testing.T) {
	var c headCache
	for _, size := range []int{mostCachedHead, mostCachedHead + 1} {
		head := "HTTP/1.1 200 OK\r\nA: "
		head += strings.Repeat("a", size-len(head)-4) + "\r\n\r\n"
		if _, err := c.read([]byte(head)); err != nil {
			t.Fatal(err)
		}
		if cached := c.latest.Load(); len(cached.text) != mostCachedHead {
			t.Errorf("after a head of %d bytes one of %d is kept", size, len(cached.text))
		}
	}
}

func BenchmarkHead(b *testing.B) {
	for _, same := range []bool{true, false} {
		b.Run(fmt.Sprintf("same=%v", same), func(b *testing.B) {
			var c headCache
			heads := [2][]byte{[]byte(usualHead), []byte(usualHead)}
			if !same {
				heads[1] = []byte(strings.Replace(usualHead, "uvicorn", "hypercorn", 1))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := c.read(heads[i%2]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
