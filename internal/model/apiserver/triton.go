package apiserver

import (
	"encoding/json"
	"math"

	"github.com/tidwall/gjson"
)

// tritonErrorEvent is what Triton sends when generation fails in mid-stream.
const tritonErrorEvent = `data: {"error":"Internal server error"}`

// triton reads a request for the ensemble of TensorRT-LLM. An end token beyond the
// vocabulary never comes, so that the answer is as long as it may be.
func (d *decoder) triton(object gjson.Result) {
	end := -1
	text := ""
	object.ForEach(func(key, v gjson.Result) bool {
		loc := "body." + key.Str
		switch key.Str {
		case "text_input":
			d.str(loc, v, &text)
		case "max_tokens":
			d.integer(loc, v, &d.req.maxTokens, nil)
		case "min_length":
			d.integer(loc, v, &d.req.minTokens, nil)
		case "end_id":
			d.integer(loc, v, &end, nil)
		case "stop_words":
			d.stopStrings(loc, v)
		case "stream":
			d.boolean(loc, v, &d.req.stream)
		}
		return true
	})
	d.req.ignoreEOS = end >= d.v.size() && end <= math.MaxInt32
	d.req.prompt = d.v.encode(nil, text)
	if len(d.req.prompt) == 0 {
		d.refuse(badRequest("", nil, "text_input is missing or empty"))
	}
}

// tensors words an answer as Triton's ensemble does: the outputs of a model, by name.
type tensors struct {
	*exchange
	bare
}

const tensorsHead = `{"context_logits":0.0,"cum_log_probs":0.0,"generation_logits":0.0,"model_name":"ensemble","model_version":"1",` +
	`"output_log_probs":0.0,"sequence_end":false,"sequence_id":0,"sequence_start":false,"text_output":"`

func (t *tensors) open(c *chunks) {
	c.open()
	c.buf = append(c.buf, tensorsHead...)
}

func (t *tensors) close(c *chunks, _ int, _ bool) {
	c.buf = append(c.buf, '"', '}')
	c.end()
}

func (t *tensors) whole() []byte {
	return append(t.text.appendText([]byte(tensorsHead), t.plan.tokens), '"', '}')
}

// tritonBody tells an error as Triton does.
func (e *apiError) tritonBody() []byte {
	b, _ := json.Marshal(map[string]string{"error": e.Message})
	return b
}
