package apiserver

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// dimensions is how long a vector is, unless the request says.
const (
	dimensions    = 384
	maxDimensions = 8192
)

// pooled is a request for what a model makes of texts without writing any: the
// engine reads each, and its work ends with what would be the first token.
type pooled struct {
	request              // of the first text
	more       [][]int32 // the others
	documents  []string  // of a rerank
	topN       int
	dimensions int
	encoding   string // of the vectors
	truncate   bool   // texts longer than the context are cut

	arrivals []uint64 // of the jobs for the others
	tickets  []*ticket
	seed     uint64   // of the server
	seeds    []uint64 // of the vectors and scores
}

// decodePooled reads a request for embeddings, pooling or rerank.
func decodePooled(v *vocabulary, body []byte, a api) (*pooled, *apiError) {
	object, refused := parseObject(body)
	if refused != nil {
		return nil, refused
	}
	d := &decoder{v: v, n: 1, req: request{api: a}}
	p := &pooled{dimensions: dimensions, encoding: "float"}
	var input gjson.Result
	query := ""
	truncate := 0
	object.ForEach(func(key, value gjson.Result) bool {
		loc := "body." + key.Str
		switch key.Str {
		case "model", "priority", "request_id", "messages":
			d.field(key.Str, value)
		case "input":
			input = value
		case "query":
			d.str(loc, value, &query)
		case "documents":
			p.readDocuments(d, loc, value)
		case "top_n":
			d.integer(loc, value, &p.topN, nil)
		case "dimensions":
			d.integer(loc, value, &p.dimensions, nil)
		case "encoding_format":
			d.str(loc, value, &p.encoding)
		case "truncate_prompt_tokens":
			d.integer(loc, value, &truncate, nil)
		}
		return true
	})
	p.truncate = truncate == -1
	var texts [][]int32
	if a == rerankAPI {
		texts = p.pairs(d, query)
	} else {
		texts = d.inputs(input)
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	p.check(d, texts)
	p.request = d.req
	if len(texts) > 0 {
		p.prompt, p.more = texts[0], texts[1:]
	}
	return p, d.refused
}

func (p *pooled) check(d *decoder, texts [][]int32) {
	if p.dimensions < 1 || p.dimensions > maxDimensions {
		d.refuse(badRequest("dimensions", p.dimensions, "dimensions must be between 1 and %d, got %d.", maxDimensions, p.dimensions))
	}
	if !slices.Contains([]string{"float", "base64", "bytes", "bytes_only"}, p.encoding) {
		d.refuse(badRequest("encoding_format", p.encoding, "encoding_format must be float, base64, bytes or bytes_only."))
	}
	if len(texts) == 0 && d.refused == nil {
		d.refuse(badRequest("", nil, "there is no text in the request."))
	}
	for _, text := range texts {
		if len(text) == 0 && len(d.req.images) == 0 {
			d.refuse(badRequest("", nil, "a text of the request is empty."))
		}
	}
}

// readDocuments takes a list of texts, or of objects with one.
func (p *pooled) readDocuments(d *decoder, loc string, v gjson.Result) {
	if !v.IsArray() {
		d.note(loc, "list_type", "Input should be a valid list")
		return
	}
	for i, e := range v.Array() {
		if e.IsObject() {
			e = e.Get("text")
		}
		text := ""
		d.str(loc+"."+strconv.Itoa(i), e, &text)
		p.documents = append(p.documents, strings.Clone(text))
	}
}

// pairs are the query with each of the documents.
func (p *pooled) pairs(d *decoder, query string) [][]int32 {
	if query == "" {
		d.note("body.query", "missing", "Field required")
	}
	if len(p.documents) == 0 {
		d.refuse(badRequest("documents", "[]", "documents must hold at least one text."))
	}
	asked := d.v.encode(nil, query)
	texts := make([][]int32, len(p.documents))
	for i, document := range p.documents {
		texts[i] = d.v.encode(slices.Clone(asked), document)
	}
	return texts
}

// inputs are the texts of the field input: one or several, of text or of ids; or a
// chat.
func (d *decoder) inputs(v gjson.Result) [][]int32 {
	const loc = "body.input"
	switch {
	case v.Type == gjson.Null && d.messages.Exists():
		c := conversation{schema: &d.schema}
		c.read(d.messages)
		d.take(&c)
		return [][]int32{d.req.prompt}
	case v.Type == gjson.Null:
		d.note(loc, "missing", "Field required")
		return nil
	case v.Type == gjson.String:
		return [][]int32{d.v.encode(nil, v.Str)}
	case !v.IsArray():
		d.note(loc, "string_type", "Input should be a valid string")
		return nil
	}
	list := v.Array()
	if len(list) > 0 && list[0].Type == gjson.Number {
		return [][]int32{d.tokenIDs(loc, list)}
	}
	texts := make([][]int32, len(list))
	for i, e := range list {
		at := loc + "." + strconv.Itoa(i)
		if e.IsArray() {
			texts[i] = d.tokenIDs(at, e.Array())
			continue
		}
		var text string
		d.str(at, e, &text)
		texts[i] = d.v.encode(nil, text)
	}
	return texts
}

// fit gives every text its place in the context.
func (p *pooled) fit(c *Config) (answerPlan, *apiError) {
	most := c.MaxModelLen - 1 // the engine ends a text with a token
	fits := answerPlan{tokens: 1, maxTokens: 1, finish: "stop"}
	p.model, p.seed = cmp.Or(p.model, c.Model), c.Seed
	for _, text := range append([]*[]int32{&p.prompt}, pointers(p.more)...) {
		if p.truncate && len(*text) > most {
			*text = (*text)[:most]
		}
		if len(*text) > most {
			return fits, badRequest("input_tokens", len(*text), "This model's maximum context length is %d tokens. "+
				"However, you requested %d tokens in the input. Please reduce the length of the input.", most, len(*text))
		}
		fits.promptTokens += len(*text)
		p.seeds = append(p.seeds, hashIDs(*text))
	}
	for _, i := range p.images {
		fits.promptTokens += i.Tokens
		p.seeds[0] ^= i.Hash
	}
	return fits, nil
}

func pointers(texts [][]int32) []*[]int32 {
	out := make([]*[]int32, len(texts))
	for i := range texts {
		out[i] = &texts[i]
	}
	return out
}

// addRest starts the jobs for all texts but the first; the function that it returns
// frees the places of those that have not ended.
func (x *exchange) addRest() (release func()) {
	p := x.pooled
	if p == nil {
		return func() {}
	}
	for _, text := range p.more {
		t := &ticket{finish: x.plan.finish, maxTokens: 1}
		job := x.s.cfg.job(&request{model: p.model, prompt: text, priority: p.priority}, answerPlan{promptTokens: len(text), tokens: 1})
		job.ID = x.s.arrivals.Add(1) - 1
		p.arrivals, p.tickets = append(p.arrivals, job.ID), append(p.tickets, t)
		x.s.loop.add(job, t)
	}
	p.more = nil
	return func() {
		for i, t := range p.tickets {
			if t.tokens.Load() == 0 {
				x.s.loop.cancel(p.arrivals[i])
			}
		}
	}
}

// awaitRest waits for them.
func (x *exchange) awaitRest() error {
	if x.pooled == nil {
		return nil
	}
	for _, t := range x.pooled.tickets {
		if _, ok := t.wait(1, x.r.Context().Done()); !ok {
			return errGone
		}
	}
	return nil
}

func (p *pooled) packed() bool {
	return p.api != rerankAPI && strings.HasPrefix(p.encoding, "bytes")
}

func (p *pooled) contentType() string {
	if p.packed() {
		return "application/octet-stream"
	}
	return "application/json"
}

// pooledJSON is the response.
func (x *exchange) pooledJSON(created int64) []byte {
	switch {
	case x.api == rerankAPI:
		return x.ranked()
	case x.pooled.packed():
		return x.packedVectors()
	}
	b := appendIdentity(make([]byte, 0, 256+10*x.pooled.dimensions*len(x.pooled.seeds)), x.id, "list", x.req.model, created)
	b = append(b, `,"data":[`...)
	for i, seed := range x.pooled.seeds {
		if i > 0 {
			b = append(b, ',')
		}
		b = x.pooled.appendVector(b, i, seed)
	}
	b = appendUsage(append(b, ']'), x.plan.promptTokens, 0)
	return append(b, '}')
}

// appendVector adds an entry of the answer: an embedding, or what vLLM calls data.
func (p *pooled) appendVector(b []byte, index int, seed uint64) []byte {
	b = append(b, `{"index":`...)
	b = strconv.AppendInt(b, int64(index), 10)
	if p.api == embeddingsAPI {
		b = append(b, `,"object":"embedding","embedding":`...)
	} else {
		b = append(b, `,"object":"pooling","data":`...)
	}
	if p.encoding == "base64" {
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, p.floats(seed))
		return append(b, '"', '}')
	}
	b = append(b, '[')
	dice := engine.Dice(p.seed, "vector", seed)
	for i := range p.dimensions {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(p.component(dice.Uint64())), 'g', -1, 32)
	}
	return append(b, ']', '}')
}

// component is one of a vector's numbers; the vector is about as long as 1.
func (p *pooled) component(draw uint64) float32 {
	return float32((2*engine.Unit(draw) - 1) * math.Sqrt(3/float64(p.dimensions)))
}

// floats is a vector in little-endian 32-bit floats.
func (p *pooled) floats(seed uint64) []byte {
	dice := engine.Dice(p.seed, "vector", seed)
	b := make([]byte, 0, 4*p.dimensions)
	for range p.dimensions {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(p.component(dice.Uint64())))
	}
	return b
}

// packedVectors is the response as bytes alone; with the format bytes a header tells
// the rest.
func (x *exchange) packedVectors() []byte {
	p := x.pooled
	if p.encoding == "bytes" {
		meta, _ := json.Marshal(map[string]any{
			"id": x.id, "model": x.req.model, "usage": map[string]int{"prompt_tokens": x.plan.promptTokens, "total_tokens": x.plan.promptTokens},
		})
		x.w.Header().Set("metadata", string(meta))
	}
	var b []byte
	for _, seed := range p.seeds {
		b = append(b, p.floats(seed)...)
	}
	return b
}

// ranked is the response to a rerank in vLLM's form, best document first.
func (x *exchange) ranked() []byte {
	type document struct {
		Text       string  `json:"text"`
		MultiModal *string `json:"multi_modal"`
	}
	type result struct {
		Index    int      `json:"index"`
		Document document `json:"document"`
		Score    float64  `json:"relevance_score"`
	}
	p := x.pooled
	results := make([]result, len(p.documents))
	for i, text := range p.documents {
		dice := engine.Dice(p.seed, "score", p.seeds[i])
		results[i] = result{i, document{Text: text}, engine.Unit(dice.Uint64())}
	}
	slices.SortStableFunc(results, func(a, b result) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	if p.topN > 0 && p.topN < len(results) {
		results = results[:p.topN]
	}
	b, _ := json.Marshal(map[string]any{
		"id": x.id, "model": x.req.model, "usage": map[string]int{"prompt_tokens": x.plan.promptTokens, "total_tokens": x.plan.promptTokens}, "results": results,
	})
	return b
}
