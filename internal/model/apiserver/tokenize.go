package apiserver

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// serveTokenize turns a prompt, or the messages of a chat, into token ids.
// There are no special tokens, so add_special_tokens changes nothing; images
// have no ids and are left out.
func (s *Server) serveTokenize(w http.ResponseWriter, r *http.Request) {
	object, refused := s.readToolBody(w, r)
	var text string
	var strs bool
	if refused == nil {
		text, strs, refused = tokenizeText(object)
	}
	if refused != nil {
		writeError(w, refused)
		return
	}
	ids := s.vocab.encode([]int32{}, text)
	answer := struct {
		Count       int      `json:"count"`
		MaxModelLen int      `json:"max_model_len"`
		Tokens      []int32  `json:"tokens"`
		TokenStrs   []string `json:"token_strs"`
	}{len(ids), s.cfg.MaxModelLen, ids, nil}
	if strs {
		answer.TokenStrs = []string{}
		for _, id := range ids {
			answer.TokenStrs = append(answer.TokenStrs, s.vocab.text[id])
		}
	}
	b, _ := json.Marshal(answer)
	writeJSON(w, http.StatusOK, b)
}

// tokenizeText is the text to be tokenized, and whether the tokens' own texts
// are wanted too.
func tokenizeText(object gjson.Result) (text string, strs bool, refused *apiError) {
	var fields schema
	fields.boolean("body.return_token_strs", object.Get("return_token_strs"), &strs)
	prompt, messages := object.Get("prompt"), object.Get("messages")
	if prompt.Exists() || !messages.Exists() {
		fields.str("body.prompt", prompt, &text)
		if prompt.Type == gjson.Null {
			fields.note("body.prompt", "missing", "Field required")
		}
		return text, strs, fields.err()
	}
	generation := true
	fields.boolean("body.add_generation_prompt", object.Get("add_generation_prompt"), &generation)
	c := conversation{schema: &fields}
	c.read(messages)
	if err := fields.err(); err != nil {
		return "", false, err
	}
	return c.render(generation), strs, c.refused
}

// serveDetokenize turns token ids into text. Bytes that make no UTF-8 come out
// as U+FFFD.
func (s *Server) serveDetokenize(w http.ResponseWriter, r *http.Request) {
	object, refused := s.readToolBody(w, r)
	var ids []int32
	if refused == nil {
		ids, refused = s.knownIDs(object.Get("tokens"))
	}
	if refused != nil {
		writeError(w, refused)
		return
	}
	text := strings.ToValidUTF8(s.vocab.decode(ids), "\uFFFD")
	b, _ := json.Marshal(map[string]string{"prompt": text})
	writeJSON(w, http.StatusOK, b)
}

// knownIDs reads a list of ids of the vocabulary.
func (s *Server) knownIDs(v gjson.Result) ([]int32, *apiError) {
	var fields schema
	switch {
	case v.Type == gjson.Null:
		fields.note("body.tokens", "missing", "Field required")
	case !v.IsArray():
		fields.note("body.tokens", "list_type", "Input should be a valid list")
	}
	if err := fields.err(); err != nil {
		return nil, err
	}
	ids := fields.tokenIDs("body.tokens", v.Array())
	if err := fields.err(); err != nil {
		return nil, err
	}
	for _, id := range ids {
		if int(id) >= s.vocab.size() {
			return nil, badID(id)
		}
	}
	return ids, nil
}

func badID(id int32) *apiError {
	return badRequest("tokens", id, "Token id %d is out of vocabulary", id)
}

// readToolBody reads a JSON object and checks the model it names, if any.
func (s *Server) readToolBody(w http.ResponseWriter, r *http.Request) (gjson.Result, *apiError) {
	body, refused := readBody(w, r)
	if refused != nil {
		return gjson.Result{}, refused
	}
	object, refused := parseObject(body)
	if refused != nil {
		return gjson.Result{}, refused
	}
	if m := object.Get("model"); m.Type == gjson.String && !s.cfg.serves(m.Str) {
		return gjson.Result{}, modelNotFound(m.Str)
	}
	return object, nil
}
