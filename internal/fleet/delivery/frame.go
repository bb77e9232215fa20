package delivery

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A frame is its kind (1 byte), the length of its payload (4 bytes, little-endian) and its payload.
const (
	recordFrame byte = 1 // a record
	probeFrame  byte = 2 // a record of End.Probes; they come before the End
	endFrame    byte = 3 // an End in JSON, without its Probes

	headSize = 5
	// maxFrame is the longest payload in bytes. It is far more than any answer, and bounds what a
	// Receiver keeps of a frame that is not complete.
	maxFrame = 256 << 20
)

// appendFrame appends a frame with the payload that add appends.
func appendFrame(b []byte, kind byte, add func([]byte) []byte) []byte {
	start := len(b)
	b = add(append(b, kind, 0, 0, 0, 0))
	binary.LittleEndian.PutUint32(b[start+1:], uint32(min(len(b)-start-headSize, maxFrame+1)))
	return b
}

func appendRecordFrame(b []byte, kind byte, r *trace.Record) []byte {
	return appendFrame(b, kind, func(b []byte) []byte { return appendRecord(b, r) })
}

// appendEnd appends the frames of an End. The probes are frames of their own: JSON has less than all of
// a record.
func appendEnd(b []byte, e fleet.End) ([]byte, error) {
	for _, p := range e.Probes {
		b = appendRecordFrame(b, probeFrame, p)
	}
	e.Probes = nil
	text, err := json.Marshal(e)
	if err != nil {
		return b, fmt.Errorf("encode the end of share %d: %w", e.Share, err)
	}
	return appendFrame(b, endFrame, func(b []byte) []byte { return append(b, text...) }), nil
}

// nextFrame is the first frame of b and its size, 0 if it is not complete.
func nextFrame(b []byte) (kind byte, payload []byte, size int, err error) {
	if len(b) < headSize {
		return 0, nil, 0, nil
	}
	n := int64(binary.LittleEndian.Uint32(b[1:]))
	if n > maxFrame {
		return 0, nil, 0, fmt.Errorf("a frame of %d bytes, more than %d", n, maxFrame)
	}
	if int64(len(b)) < headSize+n {
		return 0, nil, 0, nil
	}
	size = headSize + int(n)
	return b[0], b[headSize:size], size, nil
}
