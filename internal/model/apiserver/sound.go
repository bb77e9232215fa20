package apiserver

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

const (
	// soundTokens is what a second of sound becomes, 25 as in Qwen2-Audio.
	soundTokens = 25
	// packedSound is the bytes of a second of a sound whose format is not looked into:
	// 128 kbit/s.
	packedSound = 16000
)

// readSound counts the tokens of a sound, and how long it is, by the header of a WAV
// file or else by its size.
func readSound(data []byte) (engine.Image, float64) {
	seconds := wavSeconds(data)
	if seconds == 0 {
		seconds = float64(len(data)) / packedSound
	}
	sum := sha256.Sum256(data)
	return engine.Image{
		Tokens: max(1, int(math.Ceil(seconds*soundTokens))),
		Hash:   binary.BigEndian.Uint64(sum[:]),
	}, seconds
}

// wavSeconds is the length of the sound in a WAV file, 0 if it is none.
func wavSeconds(data []byte) float64 {
	if len(data) < 12 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WAVE" {
		return 0
	}
	var rate uint32 // bytes a second
	for rest := data[12:]; len(rest) >= 8; {
		size := min(int(binary.LittleEndian.Uint32(rest[4:])), len(rest)-8)
		chunk := rest[8 : 8+size]
		switch kind := string(rest[:4]); {
		case kind == "fmt " && size >= 12:
			rate = binary.LittleEndian.Uint32(chunk[8:])
		case kind == "data" && rate > 0:
			return float64(size) / float64(rate)
		}
		rest = rest[min(8+size+size&1, len(rest)):]
	}
	return 0
}
