package phrase

// Triton is the way to ask an ensemble of TensorRT-LLM behind Triton: the answer is the
// outputs of a model, by name.
var Triton = &Protocol{
	Name: "trt", Routes: []string{"/v2/models/ensemble/generate", "/v2/models/ensemble/generate_stream"},
	Limit: "max_tokens", Least: "min_length",
	failure: `data: {"error":"Internal server error"}`,
	fields: fields{
		"text_input": readText, "max_tokens": readLimit, "min_length": readLeast,
		"stop_words": readStop, "stream": readStream,
		"end_id": readInteger(func(q *Request) *int { return &q.EndID }),
	},
	read: func(r *reader) { r.wantText("text_input is missing or empty") },
	refuse: func(e *Error, _ bool) Reply {
		return JSONReply(e.Code, marshal(map[string]string{"error": e.Message}))
	},
	frame: func(*Writer) frame { return frame{open: "data: " + tensors, close: `"`, last: `"`} },
	unstreamed: func(w *Writer, dst []byte) []byte {
		return append(w.tokens(append(dst, tensors...), w.Tokens), '"', '}')
	},
}

const tensors = `{"context_logits":0.0,"cum_log_probs":0.0,"generation_logits":0.0,"model_name":"ensemble",` +
	`"model_version":"1","output_log_probs":0.0,"sequence_end":false,"sequence_id":0,"sequence_start":false,` +
	`"text_output":"`
