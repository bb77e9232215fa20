package workload

import "encoding/binary"

// WAVSeconds is the duration of the audio in a WAV file, by its header; 0 if it is no
// such file.
func WAVSeconds(data []byte) float64 {
	if len(data) < 12 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WAVE" {
		return 0
	}
	var rate uint32 // bytes per second
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
