package apiserver

import (
	"net/http"
	"strings"

	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// serveTokenize turns a prompt, or the messages of a chat, into token ids.
// There are no special tokens, so add_special_tokens changes nothing; images
// have no ids and are left out.
func (s *Server) serveTokenize(w http.ResponseWriter, r *http.Request) {
	ask, refused := s.readTool(w, r, phrase.ReadTokenize)
	if refused != nil {
		writeError(w, refused)
		return
	}
	text := ask.Text
	if ask.Messages != nil {
		text = render(ask.Messages, ask.Opens)
	}
	ids := s.vocab.encode([]int32{}, text)
	var texts []string
	if ask.Texts {
		texts = []string{}
		for _, id := range ids {
			texts = append(texts, s.vocab.text[id])
		}
	}
	writeJSON(w, http.StatusOK, phrase.Tokenized(s.cfg.MaxModelLen, ids, texts))
}

// serveDetokenize turns token ids into text. Bytes that make no UTF-8 come out
// as U+FFFD.
func (s *Server) serveDetokenize(w http.ResponseWriter, r *http.Request) {
	ask, refused := s.readTool(w, r, phrase.ReadDetokenize)
	var text string
	if refused == nil {
		text, refused = s.vocab.known(ask.IDs)
	}
	if refused != nil {
		writeError(w, refused)
		return
	}
	writeJSON(w, http.StatusOK, phrase.Detokenized(text))
}

// known is the text of ids of the vocabulary, as UTF-8.
func (v *vocabulary) known(ids []int32) (string, *phrase.Error) {
	for _, id := range ids {
		if id < 0 || int(id) >= v.size() {
			return "", phrase.BadRequest("tokens", id, "Token id %d is out of vocabulary", id)
		}
	}
	return strings.ToValidUTF8(v.decode(ids), "\uFFFD"), nil
}

// readTool reads a body and checks the model it names, if any.
func (s *Server) readTool(w http.ResponseWriter, r *http.Request, read func([]byte) (phrase.Tokenize, *phrase.Error)) (phrase.Tokenize, *phrase.Error) {
	body, refused := readBody(w, r, false)
	if refused != nil {
		return phrase.Tokenize{}, refused
	}
	ask, refused := read(body)
	if !s.cfg.serves(ask.Model) {
		refused = phrase.ModelNotFound(ask.Model)
	}
	return ask, refused
}

func writeError(w http.ResponseWriter, e *phrase.Error) { writeJSON(w, e.Code, e.Body()) }

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", phrase.JSON)
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client went away
}
