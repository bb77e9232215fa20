package phrase

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Embeddings is OpenAI's way to ask for vectors of texts, as vLLM serves it.
var Embeddings = &Protocol{
	Name: "embeddings", Routes: []string{"/v1/embeddings"}, Silent: true, prefix: "embd-",
	fields: textFields, read: readInputs, mediaType: vectorType,
	unstreamed: func(w *Writer, dst []byte) []byte { return w.vectors(dst, `,"object":"embedding","embedding":`) },
}

// Pooling is vLLM's own way to ask for what a model makes of texts.
var Pooling = &Protocol{
	Name: "pooling", Routes: []string{"/pooling"}, Silent: true, prefix: "pool-",
	fields: textFields, read: readInputs, mediaType: vectorType,
	unstreamed: func(w *Writer, dst []byte) []byte { return w.vectors(dst, `,"object":"pooling","data":`) },
}

// Rerank is the way to ask how well documents fit a query, as vLLM serves it in Jina's
// and Cohere's form.
var Rerank = &Protocol{
	Name: "rerank", Routes: []string{"/rerank", "/v1/rerank", "/v2/rerank"}, Silent: true, prefix: "rerank-",
	fields: textFields, read: readDocuments, unstreamed: (*Writer).ranked,
}

// Texts are the inputs to embed or to rank.
type Texts struct {
	Inputs    []Prompt
	Query     string // of a rerank
	Documents []string
	TopN      int // best documents wanted; 0: all

	Dimensions int
	Encoding   string // of the vectors: float, base64, bytes or bytes_only
	Truncate   int    // -1: texts longer than the context are cut to it
}

// Pooled is what was made of texts.
type Pooled struct {
	*Texts
	Vectors [][]float32 // of the inputs
	Scores  []float64   // of the documents
}

// dimensions is how long a vector is, unless the request says.
const (
	dimensions    = 384
	maxDimensions = 8192
)

var textFields = fields{
	"model": readModel, "request_id": readID, "priority": readPriority, "messages": later,
	"input": later, "documents": later,
	"query":                  readString(func(q *Request) *string { return &q.Texts.Query }),
	"top_n":                  readInteger(func(q *Request) *int { return &q.Texts.TopN }),
	"dimensions":             readInteger(func(q *Request) *int { return &q.Texts.Dimensions }),
	"encoding_format":        readString(func(q *Request) *string { return &q.Texts.Encoding }),
	"truncate_prompt_tokens": readInteger(func(q *Request) *int { return &q.Texts.Truncate }),
}

// readInputs reads the texts of the field input, or of a chat.
func readInputs(r *reader) {
	v, t := r.lastValue("input"), r.req.Texts
	if v.Type == gjson.Null && r.lastValue("messages").Exists() {
		r.conversation()
		t.Inputs = []Prompt{r.req.Prompt}
	} else {
		t.Inputs = r.inputs(v)
	}
	r.checkTexts(t)
}

// inputs are one or several texts, of text or of ids.
func (r *reader) inputs(v gjson.Result) []Prompt {
	const loc = "input"
	switch {
	case v.Type == gjson.Null:
		r.note(loc, "missing", "Field required")
		return nil
	case v.Type == gjson.String:
		return []Prompt{{Text: v.Str}}
	case !v.IsArray():
		r.note(loc, "string_type", notString)
		return nil
	case v.Get("0").Type == gjson.Number:
		return []Prompt{{IDs: r.ids(loc, v)}}
	}
	list := v.Array()
	prompts := make([]Prompt, len(list))
	for i, e := range list {
		at := loc + "." + strconv.Itoa(i)
		if e.IsArray() {
			prompts[i].IDs = r.ids(at, e)
		} else {
			r.str(at, e, &prompts[i].Text)
		}
	}
	return prompts
}

// readDocuments reads texts, or objects with one.
func readDocuments(r *reader) {
	const loc = "documents"
	t := r.req.Texts
	switch v := r.lastValue(loc); {
	case v.IsArray():
		for i, e := range v.Array() {
			if e.IsObject() {
				e = e.Get("text")
			}
			text := ""
			r.str(loc+"."+strconv.Itoa(i), e, &text)
			t.Documents = append(t.Documents, strings.Clone(text))
		}
	case v.Exists():
		r.note(loc, "list_type", notList)
	}
	if t.Query == "" {
		r.note("query", "missing", "Field required")
	}
	if len(t.Documents) == 0 {
		r.refusef("documents", "[]", "documents must hold at least one text.")
	}
	r.checkTexts(t)
}

// checkTexts refuses values that no request for vectors or scores may have.
func (r *reader) checkTexts(t *Texts) {
	if t.Dimensions < 1 || t.Dimensions > maxDimensions {
		r.refusef("dimensions", t.Dimensions, "dimensions must be between 1 and %d, got %d.", maxDimensions, t.Dimensions)
	}
	if !slices.Contains([]string{"float", "base64", "bytes", "bytes_only"}, t.Encoding) {
		r.refusef("encoding_format", t.Encoding, "encoding_format must be float, base64, bytes or bytes_only.")
	}
	if len(t.Inputs)+len(t.Documents) == 0 {
		r.refusef("", nil, "there is no text in the request.")
	}
	if len(r.req.Media) == 0 && slices.ContainsFunc(t.Inputs, func(p Prompt) bool { return p.empty() }) {
		r.refusef("", nil, "a text of the request is empty.")
	}
}

func packed(t *Texts) bool { return strings.HasPrefix(t.Encoding, "bytes") }

func vectorType(a *Answer) string {
	if packed(a.Pooled.Texts) {
		return "application/octet-stream"
	}
	return JSON
}

// metadata is what a header tells of vectors that are bytes alone, in one of the two
// ways to ask for these.
func (w *Writer) metadata() string {
	if w.Pooled.Encoding != "bytes" || w.Pooled.Scores != nil {
		return ""
	}
	return string(marshal(w.about()))
}

// about are the members of an answer that has them after the fact.
func (w *Writer) about() map[string]any {
	return map[string]any{
		"id": w.protocol.prefix + w.ID, "model": w.Model,
		"usage": map[string]int{"prompt_tokens": w.PromptTokens, "total_tokens": w.PromptTokens},
	}
}

// vectors appends the answer; the members of a vector's entry lead to it.
func (w *Writer) vectors(dst []byte, members string) []byte {
	if packed(w.Pooled.Texts) {
		for _, vector := range w.Pooled.Vectors {
			dst = appendFloats(dst, vector)
		}
		return dst
	}
	dst = append(append(dst, w.identity("list")...), `,"data":[`...)
	for i, vector := range w.Pooled.Vectors {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendInt(dst, `{"index":`, i), members...)
		dst = append(w.Pooled.appendVector(dst, vector), '}')
	}
	return append(appendUsage(append(dst, ']'), w.PromptTokens, 0), '}')
}

func (p *Pooled) appendVector(dst []byte, vector []float32) []byte {
	if p.Encoding == "base64" {
		return append(base64.StdEncoding.AppendEncode(append(dst, '"'), appendFloats(nil, vector)), '"')
	}
	for i, v := range vector {
		dst = append(dst, "[,"[min(i, 1)])
		dst = strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
	}
	return append(dst, ']')
}

// appendFloats appends a vector in little-endian 32-bit floats.
func appendFloats(dst []byte, vector []float32) []byte {
	for _, v := range vector {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

// ranked appends the answer to a rerank, best document first.
func (w *Writer) ranked(dst []byte) []byte {
	type document struct {
		Text       string  `json:"text"`
		MultiModal *string `json:"multi_modal"`
	}
	type result struct {
		Index    int      `json:"index"`
		Document document `json:"document"`
		Score    float64  `json:"relevance_score"`
	}
	var results []result
	for i, score := range w.Pooled.Scores {
		results = append(results, result{i, document{Text: w.Pooled.Documents[i]}, score})
	}
	slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(b.Score, a.Score) })
	if n := w.Pooled.TopN; n > 0 && n < len(results) {
		results = results[:n]
	}
	answer := w.about()
	answer["results"] = results
	return append(dst, marshal(answer)...)
}
