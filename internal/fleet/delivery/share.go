package delivery

import (
	"encoding/json"
	"fmt"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Handler receives what arrives, one call after the other.
type Handler interface {
	Record(share int, r *trace.Record)
	End(share int, e fleet.End)
	// Damaged is called once for a share that cannot be read any further. It does not end the others.
	Damaged(share int, err error)
	// Forged is called for the first messages of a share that its worker has not signed, which are not taken; by is
	// the share of the worker that has, -1 if it is none of the run.
	Forged(share, by int)
}

const (
	// maxAhead is how many messages a share may have that wait for one before them. A Sender is
	// never as far ahead.
	maxAhead = 16 * sendAhead
	// keepBuffer is the largest buffer that is reused for the next frame.
	keepBuffer = 4 * messageSize
)

// A share puts the messages of one worker in order, and takes the frames out of them.
type share struct {
	number  int    // of the share
	taken   uint64 // messages
	ahead   map[uint64][]byte
	partial []byte // the beginning of a frame
	probes  []*trace.Record
	damaged bool
	forged  int // messages that its worker has not signed
}

// receive takes a message that may be a repeat or ahead of others.
func (s *share) receive(number uint64, data []byte, h Handler) {
	switch {
	case s.damaged || number <= s.taken:
		return
	case number > s.taken+maxAhead:
		s.damage(h, fmt.Errorf("message %d is missing, %d has arrived", s.taken+1, number))
		return
	case number > s.taken+1:
		if s.ahead == nil {
			s.ahead = map[uint64][]byte{}
		}
		s.ahead[number] = data
		return
	}
	for ok := true; ok && !s.damaged; data, ok = s.ahead[s.taken+1] {
		s.taken++
		delete(s.ahead, s.taken)
		if err := s.read(data, h); err != nil {
			s.damage(h, fmt.Errorf("message %d: %w", s.taken, err))
		}
	}
}

func (s *share) damage(h Handler, err error) {
	s.damaged, s.partial, s.probes, s.ahead = true, nil, nil, nil
	h.Damaged(s.number, err)
}

func (s *share) read(data []byte, h Handler) error {
	if len(s.partial) > 0 {
		s.partial = append(s.partial, data...)
		data = s.partial
	}
	for {
		kind, payload, size, err := nextFrame(data)
		if err != nil {
			return err
		}
		if size == 0 {
			break
		}
		if err := s.frame(kind, payload, h); err != nil {
			return err
		}
		data = data[size:]
	}
	if len(data) == 0 && cap(s.partial) > keepBuffer {
		s.partial = nil
	}
	s.partial = append(s.partial[:0], data...)
	return nil
}

func (s *share) frame(kind byte, payload []byte, h Handler) error {
	switch kind {
	case recordFrame, probeFrame:
		r, err := decodeRecord(payload)
		if err != nil {
			return err
		}
		if kind == recordFrame {
			h.Record(s.number, r)
		} else {
			s.probes = append(s.probes, r)
		}
		return nil
	case endFrame:
		var e fleet.End
		if err := json.Unmarshal(payload, &e); err != nil {
			return fmt.Errorf("read the end: %w", err)
		}
		e.Probes, s.probes = s.probes, nil
		h.End(s.number, e)
		return nil
	}
	return fmt.Errorf("a frame of the unknown kind %d", kind)
}
