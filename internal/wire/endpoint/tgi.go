package endpoint

import (
	"cmp"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// tgiEvent reads an event of text-generation-inference, which is one token;
// the last has all of the text again, and how many there were:
//
//	{"token":{"id":5,"text":" tube","special":false},"generated_text":"The Pitot tube",
//	 "details":{"finish_reason":"length","generated_tokens":3}}
func tgiEvent(root gjson.Result) delta {
	d := delta{err: serverError(root)}
	if token := root.Get("token"); token.IsObject() {
		d.token, d.tokens = true, 1
		if !token.Get("special").Bool() {
			d.add(token.Get("text"), trace.Text)
		}
	}
	d.details(root.Get("details"))
	d.last = root.Get("generated_text").Type == gjson.String
	return d
}

// details reads how an answer ended.
func (d *delta) details(details gjson.Result) {
	if !details.IsObject() {
		return
	}
	d.finished(details.Get("finish_reason"))
	if details.Get("generated_tokens").Type == gjson.Number {
		d.use(&counts{prompt: "input_length", completion: "generated_tokens"}, details)
		d.usage.Prompt = cmp.Or(d.usage.Prompt, integerOf(details.Get("prefill.#")))
	}
}

// decodeTGI reads an unstreamed answer, which some versions put into a list.
func decodeTGI(data []byte) (delta, error) {
	root, err := anyJSON(data)
	if err != nil {
		return delta{}, err
	}
	if root.IsArray() {
		root = root.Get("0")
	}
	d := delta{err: serverError(root)}
	text := root.Get("generated_text")
	if text.Type != gjson.String {
		return d, nil
	}
	d.token = true
	d.add(text, trace.Text)
	d.details(root.Get("details"))
	return d, nil
}

// trtEvent reads an event or an unstreamed answer of Triton's ensemble:
//
//	{"model_name":"ensemble","model_version":"1","sequence_end":false,"text_output":"The"}
func trtEvent(root gjson.Result) delta {
	d := delta{err: serverError(root)}
	if text := root.Get("text_output"); text.Type == gjson.String {
		d.token, d.raw = true, inQuotes(text)
	}
	return d
}
