package truth

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// maxModelLen is what the server says of its context. Nothing is refused for
// being longer.
const maxModelLen = 1 << 20

// side answers what clients ask besides tokens.
func (s *Server) side(req *request) (status int, body []byte) {
	handler, ok := sides[req.path]
	_, generates := dialects[req.path]
	switch {
	case generates, ok && handler.method != req.method:
		return http.StatusMethodNotAllowed, []byte(`{"detail":"Method Not Allowed"}`)
	case !ok:
		return http.StatusNotFound, []byte(`{"detail":"Not Found"}`)
	}
	body, err := handler.answer(s, req.body)
	if err != nil {
		return http.StatusBadRequest, problem(http.StatusBadRequest, err.Error())
	}
	return http.StatusOK, body
}

type side struct {
	method string
	answer func(s *Server, body []byte) ([]byte, error)
}

// sides are the paths of vLLM's API and of SGLang's that clients are known to
// look at.
var sides = map[string]side{
	"/v1/models":       {http.MethodGet, (*Server).models},
	"/health":          {http.MethodGet, (*Server).health},
	"/version":         {http.MethodGet, (*Server).version},
	"/get_model_info":  {http.MethodGet, (*Server).modelInfo},
	"/model_info":      {http.MethodGet, (*Server).modelInfo},
	"/get_server_info": {http.MethodGet, (*Server).serverInfo},
	"/server_info":     {http.MethodGet, (*Server).serverInfo},
	"/tokenize":        {http.MethodPost, (*Server).tokenize},
	"/detokenize":      {http.MethodPost, (*Server).detokenize},
}

func (s *Server) models([]byte) ([]byte, error) {
	name := quote(s.cfg.Model)
	return fmt.Appendf(nil, `{"object":"list","data":[{"id":%s,"object":"model","created":0,"owned_by":"pitot","root":%s,"parent":null,"max_model_len":%d}]}`,
		name, name, maxModelLen), nil
}

func (s *Server) health([]byte) ([]byte, error) { return nil, nil }

func (s *Server) version([]byte) ([]byte, error) { return []byte(`{"version":"0.0.0"}`), nil }

func (s *Server) modelInfo([]byte) ([]byte, error) {
	name := quote(s.cfg.Model)
	return fmt.Appendf(nil, `{"model_path":%s,"tokenizer_path":%s,"is_generation":true,"preferred_sampling_params":null,"weight_version":"default"}`, name, name), nil
}

func (s *Server) serverInfo([]byte) ([]byte, error) {
	name := quote(s.cfg.Model)
	return fmt.Appendf(nil, `{"model_path":%s,"served_model_name":%s,"tokenizer_path":%s,"version":"0.0.0","context_length":%d,"internal_states":[{}]}`,
		name, name, name, maxModelLen), nil
}

// tokenize takes each word for a token, whose id is its place.
func (s *Server) tokenize(body []byte) ([]byte, error) {
	prompt := gjson.GetBytes(body, "prompt")
	if !gjson.ValidBytes(body) || prompt.Type != gjson.String {
		return nil, fmt.Errorf("prompt: want a text")
	}
	n := words(prompt.Str)
	out := fmt.Appendf(nil, `{"count":%d,"max_model_len":%d,"tokens":[`, n, maxModelLen)
	for i := range n {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, int64(i), 10)
	}
	return append(out, `],"token_strs":null}`...), nil
}

// detokenize makes as many words as there are tokens.
func (s *Server) detokenize(body []byte) ([]byte, error) {
	list := gjson.GetBytes(body, "tokens")
	if !gjson.ValidBytes(body) || !list.IsArray() {
		return nil, fmt.Errorf("tokens: want a list of ids")
	}
	n := 0
	list.ForEach(func(_, _ gjson.Result) bool { n++; return true })
	return fmt.Appendf(nil, `{"prompt":%s}`, quote(strings.TrimSuffix(strings.Repeat("word ", n), " "))), nil
}
