package apiserver

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
)

// serveTruth streams the records out as one JSON object, a Truth; ?id= picks
// the requests of that id. Requests go on meanwhile, undisturbed.
func (s *Server) serveTruth(w http.ResponseWriter, r *http.Request) {
	head, records := s.truth.snapshot()
	id, filter := r.URL.Query().Get("id"), r.URL.Query().Has("id")
	w.Header().Set("Content-Type", "application/json")
	out := truthWriter{w: w}
	out.field(`{"start_unix_ns":`, s.start.UnixNano())
	out.field(`,"open":`, int64(head.Open))
	out.field(`,"dropped_requests":`, int64(head.DroppedRequests))
	out.field(`,"dropped_writes":`, int64(head.DroppedWrites))
	out.text(`,"requests":[`)
	first := true
	for _, rec := range records {
		if filter && rec.id != id {
			continue
		}
		if !first {
			out.text(",")
		}
		first = false
		out.record(rec)
	}
	out.text("]}\n")
	out.flush()
}

func (s *Server) clearTruth(w http.ResponseWriter, _ *http.Request) {
	s.truth.clear()
	w.WriteHeader(http.StatusNoContent)
}

const flushSize = 32 << 10

// A truthWriter writes JSON through a small buffer. After an error it writes
// no more: the reader has gone.
type truthWriter struct {
	w   io.Writer
	buf []byte
	err error
}

func (t *truthWriter) text(s string) { t.buf = append(t.buf, s...) }

func (t *truthWriter) field(name string, v int64) {
	t.buf = append(t.buf, name...)
	t.buf = strconv.AppendInt(t.buf, v, 10)
}

func (t *truthWriter) str(name, v string) {
	b, _ := json.Marshal(v) // a string always can be
	t.buf = append(append(t.buf, name...), b...)
}

func (t *truthWriter) flush() {
	if t.err == nil {
		_, t.err = t.w.Write(t.buf)
	}
	t.buf = t.buf[:0]
}

func (t *truthWriter) record(r *record) {
	t.str(`{"id":`, r.id)
	t.str(`,"endpoint":`, r.endpoint)
	t.str(`,"protocol":`, r.protocol)
	t.field(`,"status":`, int64(r.status))
	t.field(`,"received":`, int64(r.received))
	t.field(`,"prompt_tokens":`, int64(r.prompt))
	t.field(`,"images":`, int64(r.images))
	t.field(`,"output_tokens":`, int64(r.output))
	t.str(`,"finish_reason":`, r.finish)
	t.text(`,"faults":[`)
	for i, f := range r.faults {
		if i > 0 {
			t.text(",")
		}
		t.str("", f)
	}
	t.text(`],"client_gone":` + strconv.FormatBool(r.gone))
	t.array(`,"before":[`, r.writes, func(w write) int64 { return w.before })
	t.array(`,"after":[`, r.writes, func(w write) int64 { return w.after })
	t.array(`,"tokens":[`, r.writes, func(w write) int64 { return int64(w.tokens()) })
	t.array(`,"events":[`, r.writes, func(w write) int64 { return int64(w.events()) })
	t.array(`,"bytes":[`, r.writes, func(w write) int64 { return int64(w.bytes) })
	t.text("}")
	if len(t.buf) > flushSize {
		t.flush()
	}
}

func (t *truthWriter) array(name string, writes []write, value func(write) int64) {
	t.text(name)
	for i, w := range writes {
		if i > 0 {
			t.buf = append(t.buf, ',')
		}
		t.buf = strconv.AppendInt(t.buf, value(w), 10)
		if len(t.buf) > flushSize {
			t.flush()
		}
	}
	t.text("]")
}
