package truth

import (
	"net/http"
	"strings"

	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// maxModelLen is what the server says of its context. Nothing is refused for
// being longer.
const maxModelLen = 1 << 20

const version = "0.0.0"

// side answers requests for anything but tokens.
func (s *Server) side(req *request) phrase.Reply {
	handler, ok := sides[req.path]
	switch {
	case spoken(req.path) != nil, ok && handler.method != req.method:
		return phrase.JSONReply(http.StatusMethodNotAllowed, []byte(phrase.NotAllowed))
	case !ok:
		return phrase.JSONReply(http.StatusNotFound, []byte(phrase.NotFound))
	}
	body, refused := handler.answer(s, req.body)
	if refused != nil {
		return phrase.JSONReply(refused.Code, refused.Body())
	}
	return phrase.JSONReply(http.StatusOK, body)
}

type side struct {
	method string
	answer func(s *Server, body []byte) ([]byte, *phrase.Error)
}

func get(answer func(*Server) []byte) side {
	return side{http.MethodGet, func(s *Server, _ []byte) ([]byte, *phrase.Error) { return answer(s), nil }}
}

// sides are the paths of vLLM's API and of SGLang's that clients are known to
// look at.
var sides = map[string]side{
	"/v1/models":       get(func(s *Server) []byte { return phrase.Models(0, maxModelLen, s.cfg.Model) }),
	"/health":          get(func(*Server) []byte { return nil }),
	"/version":         get(func(*Server) []byte { return phrase.Version(version) }),
	"/get_model_info":  get((*Server).modelInfo),
	"/model_info":      get((*Server).modelInfo),
	"/get_server_info": get((*Server).serverInfo),
	"/server_info":     get((*Server).serverInfo),
	"/tokenize":        {http.MethodPost, (*Server).tokenize},
	"/detokenize":      {http.MethodPost, (*Server).detokenize},
}

func (s *Server) modelInfo() []byte { return phrase.ModelInfo(s.cfg.Model) }

func (s *Server) serverInfo() []byte {
	return phrase.ServerInfo{Model: s.cfg.Model, Version: version, Context: maxModelLen, Seed: s.cfg.Seed}.Body()
}

// tokenize takes each word for a token; its id is its index.
func (s *Server) tokenize(body []byte) ([]byte, *phrase.Error) {
	ask, refused := phrase.ReadTokenize(body)
	ids := make([]int32, promptTokens(&ask.Prompt))
	for i := range ids {
		ids[i] = int32(i)
	}
	return phrase.Tokenized(maxModelLen, ids, nil), refused
}

// detokenize makes as many words as there are tokens.
func (s *Server) detokenize(body []byte) ([]byte, *phrase.Error) {
	ask, refused := phrase.ReadDetokenize(body)
	return phrase.Detokenized(strings.TrimSuffix(strings.Repeat("word ", len(ask.IDs)), " ")), refused
}
