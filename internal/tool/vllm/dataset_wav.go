package vllm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A sound is samples between -1 and 1, with the channels interleaved.
type sound struct {
	samples        []float64
	rate, channels int
}

func (s sound) seconds() float64 {
	return float64(len(s.samples)/max(1, s.channels)) / float64(max(1, s.rate))
}

// Codes of WAV for how samples are written.
const (
	wavPCM        = 1
	wavFloat      = 3
	wavExtensible = 0xfffe
)

type wavFormat struct{ code, channels, rate, bits int }

// decodeWAV reads a WAV file of integers of 8 to 32 bits or of floats.
func decodeWAV(b []byte) (s sound, err error) {
	if len(b) < 12 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WAVE" {
		return s, errors.New("not a WAV file")
	}
	var f *wavFormat
	for rest := b[12:]; len(rest) >= 8; {
		size := int(binary.LittleEndian.Uint32(rest[4:]))
		body := rest[8:min(len(rest), 8+size)]
		switch string(rest[:4]) {
		case "fmt ":
			if f, err = readWAVFormat(body); err != nil {
				return s, err
			}
		case "data":
			if f == nil {
				return s, errors.New("a WAV file whose samples come before their format")
			}
			return f.decode(body)
		}
		rest = rest[min(len(rest), 8+size+size&1):]
	}
	return s, errors.New("a WAV file without samples")
}

func readWAVFormat(b []byte) (*wavFormat, error) {
	if len(b) < 16 {
		return nil, errors.New("a WAV file whose format is cut short")
	}
	f := &wavFormat{
		code: int(binary.LittleEndian.Uint16(b)), channels: int(binary.LittleEndian.Uint16(b[2:])),
		rate: int(binary.LittleEndian.Uint32(b[4:])), bits: int(binary.LittleEndian.Uint16(b[14:])),
	}
	if f.code == wavExtensible && len(b) >= 26 {
		f.code = int(binary.LittleEndian.Uint16(b[24:]))
	}
	if f.channels < 1 || f.rate < 1 {
		return nil, fmt.Errorf("a WAV file of %d channels at %d Hz", f.channels, f.rate)
	}
	return f, nil
}

func (f wavFormat) decode(b []byte) (sound, error) {
	sample := f.sample()
	if sample == nil {
		return sound{}, fmt.Errorf("a WAV file with %d bits a sample, code %d: only PCM and floats can be read", f.bits, f.code)
	}
	width := f.bits / 8
	s := sound{rate: f.rate, channels: f.channels, samples: make([]float64, 0, len(b)/width)}
	frame := width * f.channels
	for b = b[:len(b)/frame*frame]; len(b) > 0; b = b[width:] {
		s.samples = append(s.samples, sample(b))
	}
	return s, nil
}

// sample reads one sample, nil for a form that is not known.
func (f wavFormat) sample() func([]byte) float64 {
	switch [2]int{f.code, f.bits} {
	case [2]int{wavPCM, 8}:
		return func(b []byte) float64 { return (float64(b[0]) - 128) / 128 }
	case [2]int{wavPCM, 16}:
		return func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) / (1 << 15) }
	case [2]int{wavPCM, 24}:
		return func(b []byte) float64 {
			return float64(int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24)) / (1 << 31)
		}
	case [2]int{wavPCM, 32}:
		return func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) / (1 << 31) }
	case [2]int{wavFloat, 32}:
		return func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }
	case [2]int{wavFloat, 64}:
		return func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
	}
	return nil
}

// encodeWAV writes 16-bit samples, scaled and cut off as libsndfile does it: to 32
// bits, of which the upper half stays.
func (s sound) encodeWAV() []byte {
	data := 2 * len(s.samples)
	b := make([]byte, 0, 44+data)
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(36+data))
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, wavPCM)
	b = binary.LittleEndian.AppendUint16(b, uint16(s.channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(s.rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(2*s.channels*s.rate))
	b = binary.LittleEndian.AppendUint16(b, uint16(2*s.channels))
	b = binary.LittleEndian.AppendUint16(b, 16)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(data))
	for _, v := range s.samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(quantized(v)>>16)))
	}
	return b
}

func quantized(v float64) int32 {
	const full = 1 << 31
	switch scaled := math.RoundToEven(v * full); {
	case scaled >= full:
		return math.MaxInt32
	case !(scaled > -full):
		return math.MinInt32
	default:
		return int32(scaled)
	}
}
