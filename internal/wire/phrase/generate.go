package phrase

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Generate is SGLang's own way to ask. Every event of a stream tells all of the answer
// again, so that n tokens make O(n²) bytes. A mistake in the values of a request for a
// stream is an event of a stream, with status 200.
var Generate = &Protocol{
	Name: "generate", Routes: []string{"/generate"}, Limit: "max_new_tokens", Least: "min_new_tokens",
	Timed: true, Marked: true,
	failure: `data: {"error": {"message": "Internal server error"}}`,
	refuse:  refuseGenerate, read: readGenerate, usual: 128,
	fields: fields{
		"text": later, "input_ids": later, "inputs": later, "sampling_params": readSampling, "image_data": readImages,
		"rid": readID, "request_id": readID, "lora_path": readModel, "priority": readPriority, "stream": readStream,
		"input_embeds": unserved(`[]`), "video_data": unserved(`[]`), "audio_data": unserved(`[]`),
		"session_params": unserved(`[]`), "return_logprob": unserved(), "return_hidden_states": unserved(),
		"return_routed_experts": unserved(),
	},
	event: func(w *Writer, dst []byte, n int, last bool) []byte {
		return w.generated(append(dst, "data: "...), n, last)
	},
	unstreamed: func(w *Writer, dst []byte) []byte { return w.generated(dst, w.Tokens, true) },
}

func refuseGenerate(e *Error, stream bool) Reply {
	if e.Code != http.StatusBadRequest || e.Type != "BadRequestError" {
		body := marshal(map[string]any{"object": "error", "message": e.Message, "type": e.Type, "param": nil, "code": e.Code})
		return JSONReply(e.Code, body)
	}
	body := marshal(map[string]any{"error": map[string]string{"message": e.Message}})
	if !stream {
		return JSONReply(e.Code, body)
	}
	return Reply{
		Status: http.StatusOK, MediaType: EventStream, Body: []byte("data: " + string(body) + "\n\n" + done + "\n\n"),
		Events: 2,
	}
}

// generated appends the answer so far, with n tokens that are new.
func (w *Writer) generated(dst []byte, n int, last bool) []byte {
	for range n {
		w.shown = append(w.shown, w.Source.Next()...)
		if len(w.ids) > 0 {
			w.ids = append(w.ids, ',')
		}
		w.ids = strconv.AppendInt(w.ids, int64(w.Source.ID()), 10)
	}
	w.Sent += n
	dst = append(append(dst, `{"text":"`...), w.shown...)
	dst = append(append(dst, `","output_ids":[`...), w.ids...)
	dst = append(append(dst, `],"meta_info":{"id":`...), w.id...)
	dst = w.finishReason(append(dst, `,"finish_reason":`...), last)
	dst = appendInt(dst, `,"prompt_tokens":`, w.PromptTokens)
	dst = appendInt(dst, `,"weight_version":"default","completion_tokens":`, w.Sent)
	dst = appendInt(dst, `,"cached_tokens":`, max(w.Cached, 0))
	if last {
		dst = strconv.AppendFloat(append(dst, `,"e2e_latency":`...), w.Elapsed.Seconds(), 'f', -1, 64)
		if w.Steps > 0 {
			dst = appendInt(dst, `,"spec_verify_ct":`, w.Steps)
			dst = strconv.AppendFloat(append(dst, `,"spec_accept_length":`...), float64(w.Sent)/float64(w.Steps), 'f', -1, 64)
		}
	}
	return append(dst, '}', '}')
}

// finishReason appends why the answer ended. The stop string is reported as matched; the natural
// end of an answer has no token here.
func (w *Writer) finishReason(dst []byte, last bool) []byte {
	switch {
	case !last:
		return append(dst, "null"...)
	case w.Finish == "length":
		dst = appendInt(dst, `{"type":"length","length":`, w.Tokens)
	default:
		dst = append(append(dst, `{"type":"stop","matched":`...), orNull(w.Stop)...)
	}
	return append(dst, '}')
}

// readGenerate reads the prompt. Lists, which make a batch there, are refused. A
// request with inputs is text-generation-inference's, which has the route too.
func readGenerate(r *reader) {
	text, ids := r.lastValue("text"), r.lastValue("input_ids")
	if r.lastValue("inputs").Exists() && !text.Exists() && !ids.Exists() {
		tgi := newReader(TGI)
		tgi.body = r.body
		tgi.read()
		*r = *tgi
		return
	}
	switch {
	case (text.Type != gjson.Null) == (ids.Type != gjson.Null):
		r.refusef("", nil, "Give either text or input_ids.")
	case text.IsArray() || ids.Get("0").IsArray():
		r.refusef("", nil, "this server takes one prompt per request.")
	case text.Type != gjson.Null:
		r.str("text", text, &r.req.Text)
	case !ids.IsArray():
		r.note("input_ids", "list_type", notList)
	default:
		r.req.IDs = r.ids("input_ids", ids)
	}
	r.wantText("The prompt is empty.")
}

var samplingFields = fields{
	"max_new_tokens": readLimitOrNull, "min_new_tokens": readLeast, "ignore_eos": readEOS,
	"stop": readStop, "n": readChoices,
	"no_stop_trim": readBoolean(func(q *Request) *bool { return &q.IncludeStop }),
}

// readSampling reads about length and stop strings.
func readSampling(r *reader, name string, v gjson.Result) {
	if v.Type != gjson.Null && !v.IsObject() {
		r.note(name, "dict_type", notDict)
	}
	samplingFields.read(r, name, v)
}

// readImages takes one picture or a list of them: data: URLs, or base64 alone.
func readImages(r *reader, name string, v gjson.Result) {
	r.req.Media = nil
	switch {
	case v.IsArray():
		for i, e := range v.Array() {
			r.bare(name+"."+strconv.Itoa(i), e)
		}
	case v.Type != gjson.Null:
		r.bare(name, v)
	}
}

func (r *reader) bare(loc string, v gjson.Result) {
	if v.Type == gjson.String && !strings.Contains(v.Str, ":") {
		v.Str = "data:;base64," + v.Str
	}
	r.picture(loc, v)
}
