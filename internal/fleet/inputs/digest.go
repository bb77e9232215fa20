package inputs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// digestForm names the encoding that is summed up.
const digestForm = "pitot requests 1"

// Digest is the SHA-256 of requests and of when they are due, in hexadecimal: of all that decides what to send and
// when. Spooled requests are read back one at a time. Of headers only the names count: a worker may have other
// keys. due are the times of the requests that wait for no answer; those beyond their number are not looked at.
func Digest(requests workload.List, due iter.Seq[time.Duration]) (string, error) {
	e := &encoder{sum: sha256.New(), buffer: make([]byte, 0, encoderBuffer+encoderSpare)}
	e.text(digestForm)
	e.number(requests.N)
	starts := 0
	for _, r := range requests.All() {
		whole, err := r.Unspooled()
		if err != nil {
			return "", err
		}
		e.request(whole)
		if whole.After == 0 {
			starts++
		}
	}
	e.times(due, starts)
	e.flush()
	return hex.EncodeToString(e.sum.Sum(nil)), nil
}

// An encoder sums up values, each written such that where it ends is known from its beginning.
type encoder struct {
	sum    hash.Hash
	buffer []byte
}

const (
	encoderBuffer = 64 << 10
	encoderSpare  = 64 // more than a number or a flag takes
)

func (e *encoder) flush() {
	_, _ = e.sum.Write(e.buffer) // never fails
	e.buffer = e.buffer[:0]
}

func (e *encoder) room() {
	if len(e.buffer) >= encoderBuffer {
		e.flush()
	}
}

func (e *encoder) number(n int) { e.wide(int64(n)) }

func (e *encoder) wide(n int64) {
	e.room()
	e.buffer = binary.AppendVarint(e.buffer, n)
}

func (e *encoder) float(f float64) {
	e.room()
	e.buffer = binary.LittleEndian.AppendUint64(e.buffer, math.Float64bits(f))
}

func (e *encoder) flag(b bool) {
	if b {
		e.number(1)
	} else {
		e.number(0)
	}
}

func (e *encoder) text(s string) { e.number(len(s)); write(e, s) }

func (e *encoder) bytes(b []byte) { e.number(len(b)); write(e, b) }

// optional distinguishes nil from empty, as an endpoint does.
func (e *encoder) optional(b []byte) {
	e.flag(b != nil)
	e.bytes(b)
}

// write adds content by pieces of the buffer.
func write[T string | []byte](e *encoder, s T) {
	for len(s) > 0 {
		e.room()
		n := min(len(s), encoderBuffer+encoderSpare-len(e.buffer))
		e.buffer = append(e.buffer, s[:n]...)
		s = s[n:]
	}
}

func (e *encoder) request(r *workload.Request) {
	e.text(r.ID)
	e.text(r.Text)
	e.flag(r.Tokens != nil)
	e.number(len(r.Tokens))
	for _, id := range r.Tokens {
		e.number(int(id))
	}
	e.flag(r.Batch != nil)
	e.number(len(r.Batch))
	for _, text := range r.Batch {
		e.text(text)
	}
	e.optional(r.Messages)
	e.optional(r.Parts)
	e.number(len(r.Media))
	for i := range r.Media {
		e.media(&r.Media[i])
	}
	e.number(r.PromptTokens)
	e.number(r.VisionTokens)
	e.number(r.OutputTokens)
	e.text(r.Model)
	e.fields(r)
	e.wide(int64(r.At))
	e.text(r.Tenant)
	e.turn(&r.Turn)
	e.flag(r.Question != nil)
	if q := r.Question; q != nil {
		e.text(q.ID)
		e.text(q.Answer)
		e.number(q.Choices)
		e.text(q.Grader.String())
	}
}

func (e *encoder) media(m *workload.Media) {
	e.text(m.MIME)
	e.bytes(m.Data)
	e.text(m.URL)
	e.float(m.Seconds)
}

// fields adds the members of the body, and the names of headers.
func (e *encoder) fields(r *workload.Request) {
	e.number(len(r.Extra))
	if len(r.Extra) > 0 {
		for _, name := range slices.Sorted(maps.Keys(r.Extra)) {
			e.text(name)
			e.bytes(r.Extra[name])
		}
	}
	e.number(len(r.Header))
	if len(r.Header) > 0 {
		for _, name := range slices.Sorted(maps.Keys(r.Header)) {
			e.text(name)
		}
	}
}

func (e *encoder) turn(t *workload.Turn) {
	e.text(t.Session)
	e.number(t.Number)
	e.number(t.After)
	e.wide(int64(t.Think))
	e.flag(t.Remember)
	e.flag(t.Followed)
}

// times adds up to n due times, and their number behind them.
func (e *encoder) times(due iter.Seq[time.Duration], n int) {
	count := 0
	if due != nil && n > 0 {
		for at := range due {
			e.wide(int64(at))
			if count++; count == n {
				break
			}
		}
	}
	e.number(count)
}
