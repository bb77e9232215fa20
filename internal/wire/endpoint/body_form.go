package endpoint

import (
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
// sent: it is about the audio, as in a chat, and not the beginning of the transcript.
func soundPrompt(b *bodyWriter, _ *Options, req *workload.Request, _ func(string) bool) error {
	sound := req.Media[0]
	b.rawString("--" + formBoundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"audio." +
		soundFormat(sound.MIME) + "\"\r\nContent-Type: " + sound.MIME + "\r\n\r\n")
	b.raw(sound.Data)
	b.done()
	return nil
}
