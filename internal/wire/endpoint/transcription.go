package endpoint

import (
	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// transcriptionEvent reads an event of a transcription: a chat's, as vLLM and
// SGLang send them, or OpenAI's own:
//
//	{"type":"transcript.text.delta","delta":"The"}
//	{"type":"transcript.text.done","text":"The Pitot tube","usage":{…}}
func transcriptionEvent(root gjson.Result) delta {
	d := delta{}
	switch root.Get("type").Str {
	case "transcript.text.delta":
		d.token = true
		d.add(root.Get("delta"), trace.Text)
	case "transcript.text.done":
		d.finish, d.last = "stop", true
		d.heard(root.Get("usage"))
	default:
		return chatEvent(root)
	}
	return d
}

// heard reads the usage of OpenAI's transcriptions; one by duration has no tokens.
func (d *delta) heard(u gjson.Result) {
	if u.Get("output_tokens").Type == gjson.Number {
		d.use(&counts{prompt: "input_tokens", completion: "output_tokens"}, u)
	}
}

// decodeTranscription reads an unstreamed answer: JSON, or plain text where the request asked for
// it.
func decodeTranscription(data []byte) (delta, error) {
	root, err := object(data)
	if err != nil {
		if len(data) == 0 || data[0] == '{' || data[0] == '<' {
			return delta{}, err
		}
		text := string(data)
		return delta{token: true, kind: trace.Text, text: text, pieces: []fragment{{trace.VisiblePart, text}}}, nil
	}
	d := delta{err: serverError(root)}
	if text := root.Get("text"); text.Type == gjson.String {
		d.token = true
		d.add(text, trace.Text)
		d.heard(root.Get("usage"))
	}
	return d, nil
}
