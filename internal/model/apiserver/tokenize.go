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
	s.serveTool(w, r, phrase.ReadTokenize, func(ask phrase.Tokenize) ([]byte, *phrase.Error) {
		text := ask.Text
		if ask.Messages != nil {
			text = render(ask.Messages, ask.Opens)
		}
		ids := s.vocab.encoded(text)
		var texts []string
		if ask.Texts {
			texts = make([]string, len(ids))
			for i, id := range ids {
				texts[i] = s.vocab.text[id]
			}
		}
		return phrase.Tokenized(s.cfg.MaxModelLen, ids, texts), nil
	})
}

// serveDetokenize turns token ids into text. Bytes that make no UTF-8 come out
// as U+FFFD.
func (s *Server) serveDetokenize(w http.ResponseWriter, r *http.Request) {
	s.serveTool(w, r, phrase.ReadDetokenize, func(ask phrase.Tokenize) ([]byte, *phrase.Error) {
		text, refused := s.vocab.known(ask.IDs)
		if refused != nil {
			return nil, refused
		}
		return phrase.Detokenized(text), nil
	})
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

// serveTool answers a body, once the model that it names is checked, if any. Answers are longer than what they are made
// of, so making one is part of the parsing.
func (s *Server) serveTool(
	w http.ResponseWriter, r *http.Request,
	read func([]byte) (phrase.Tokenize, *phrase.Error), answer func(phrase.Tokenize) ([]byte, *phrase.Error),
) {
	var reply []byte
	body, refused := s.bodies.read(r, false, maxTool)
	if refused == nil {
		refused = body.parse(r.Context(), func(data []byte) *phrase.Error {
			ask, refused := read(data)
			if !s.cfg.serves(ask.Model) {
				refused = phrase.ModelNotFound(ask.Model)
			}
			if refused == nil {
				reply, refused = answer(ask)
			}
			return refused
		})
		body.release()
	}
	switch refused {
	case nil:
		writeJSON(w, http.StatusOK, reply)
	case clientGone:
	default:
		writeError(w, refused)
	}
}

func writeError(w http.ResponseWriter, e *phrase.Error) { writeJSON(w, e.Code, e.Body()) }

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", phrase.JSON)
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client went away
}
