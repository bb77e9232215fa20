package apiserver

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/model/engine"
)

const (
	// soundTokens is what a second of sound becomes, 25 as in Qwen2-Audio.
	soundTokens = 25
	// packedSound is the bytes of a second of audio in a format that is not parsed:
	// 128 kbit/s.
	packedSound = 16000
)

// readSound counts the tokens of a sound, and how long it is, by the header of a WAV
// file or else by its size.
func readSound(data []byte) (engine.Image, float64) {
	seconds := workload.WAVSeconds(data)
	if seconds == 0 {
		seconds = float64(len(data)) / packedSound
	}
	sum := sha256.Sum256(data)
	return engine.Image{
		Tokens: max(1, int(math.Ceil(seconds*soundTokens))),
		Hash:   binary.BigEndian.Uint64(sum[:]),
	}, seconds
}
