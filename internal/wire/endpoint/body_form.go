package endpoint

import (
	"encoding/binary"
	"encoding/json"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// formBoundary stands between the parts of a form. It is the same in all of them,
// so that the same request has the same bytes in every run.
const formBoundary = "pitot-7c1f0c1d5a2b4e0f9d3865e1b8a94f26"

const formType = "multipart/form-data; boundary=" + formBoundary

// appendPart begins a part of a form.
func appendPart(b []byte, name string) []byte {
	return append(b, "--"+formBoundary+"\r\nContent-Disposition: form-data; name=\""+name+"\"\r\n\r\n"...)
}

// formValue is a JSON value as a form has it: strings without their quotes, null not
// at all.
func formValue(value []byte) (text string, ok bool) {
	if string(value) == "null" {
		return "", false
	}
	if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return text, true
	}
	return string(value), true
}

func transcriptionFields(o *Options) map[string]any {
	values := plainFields(o)
	values["response_format"] = "json"
	if o.Stream && (o.IncludeUsage || o.ContinuousUsage) {
		values["stream_include_usage"] = true
		if o.ContinuousUsage {
			values["stream_continuous_usage_stats"] = true
		}
	}
	return values
}

// soundPrompt writes the sound as a file of a form. The text of the request is not
// sent: it is about the sound, as in a chat, and not the beginning of what is said.
func soundPrompt(b *bodyWriter, _ *Options, req *workload.Request, _ func(string) bool) error {
	sound := req.Media[0]
	b.rawString("--" + formBoundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"audio." +
		soundFormat(sound.MIME) + "\"\r\nContent-Type: " + sound.MIME + "\r\n\r\n")
	b.raw(sound.Data)
	b.done()
	return nil
}

// wavSeconds is how long the sound of a WAV file is, 0 if it is no such file: the
// bytes of its data by those of a second, as its header has them.
func wavSeconds(data []byte) float64 {
	if len(data) < 12 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WAVE" {
		return 0
	}
	rate := 0
	for rest := data[12:]; len(rest) >= 8; {
		size := int(binary.LittleEndian.Uint32(rest[4:]))
		switch kind := string(rest[:4]); {
		case kind == "fmt " && size >= 16 && len(rest) >= 24:
			rate = int(binary.LittleEndian.Uint32(rest[16:]))
		case kind == "data" && rate > 0:
			return float64(min(size, len(rest)-8)) / float64(rate)
		}
		next := 8 + size + size&1
		if next > len(rest) {
			break
		}
		rest = rest[next:]
	}
	return 0
}
