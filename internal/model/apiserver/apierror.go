package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// An apiError is a refused request, told as vLLM tells it:
//
//	{"error":{"message":"…","type":"BadRequestError","param":null,"code":400}}
//
// A request that does not fit the schema has the type "Bad Request" and a list
// of what is wrong; one that fits and cannot be served is a "BadRequestError".
type apiError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    int     `json:"code"`

	gone bool // the client has left and cannot be told
}

func (e *apiError) body() []byte {
	b, _ := json.Marshal(map[string]*apiError{"error": e}) // strings and numbers only
	return b
}

// badRequest refuses a request for one of its values; param may be empty.
func badRequest(param string, value any, format string, args ...any) *apiError {
	e := &apiError{Message: fmt.Sprintf(format, args...), Type: "BadRequestError", Code: http.StatusBadRequest}
	if param != "" {
		e.Message += fmt.Sprintf(" (parameter=%s, value=%v)", param, value)
		e.Param = &param
	}
	return e
}

func modelNotFound(model string) *apiError {
	param := "model"
	return &apiError{
		Message: fmt.Sprintf("The model `%s` does not exist.", model),
		Type:    "NotFoundError", Param: &param, Code: http.StatusNotFound,
	}
}

// unknownModel refuses a request for its model, or adapter.
func (r *request) unknownModel() *apiError {
	if r.api == generateAPI {
		return badRequest("lora_path", r.model, "The LoRA adapter `%s` is not loaded.", r.model)
	}
	return modelNotFound(r.model)
}

// statusError is what a server in trouble says.
func statusError(code int) *apiError {
	switch code {
	case http.StatusTooManyRequests:
		return &apiError{Message: "Too many requests", Type: "RateLimitError", Code: code}
	case http.StatusServiceUnavailable:
		return &apiError{Message: "The server is overloaded", Type: "ServiceUnavailableError", Code: code}
	}
	return &apiError{Message: "Internal server error", Type: "InternalServerError", Code: http.StatusInternalServerError}
}

// An invalid is one way in which a body does not fit the schema, in the terms
// of pydantic, which checks it in vLLM.
type invalid struct {
	kind string // int_parsing, missing, ...
	loc  string // path of the field in the body
	msg  string
}

// schemaError reports all of them, and the first one's field as param.
func schemaError(bad []invalid) *apiError {
	var b strings.Builder
	label := "error"
	if len(bad) > 1 {
		label = "errors"
	}
	fmt.Fprintf(&b, "%d validation %s:", len(bad), label)
	for i, v := range bad {
		if i == 10 {
			fmt.Fprintf(&b, "\n  ...and %d more %s", len(bad)-i, label)
			break
		}
		fmt.Fprintf(&b, "\n  {'type': '%s', 'loc': '%s', 'msg': '%s'}", v.kind, v.loc, v.msg)
	}
	return &apiError{Message: b.String(), Type: "Bad Request", Param: &bad[0].loc, Code: http.StatusBadRequest}
}

// ruleError is a body whose fields do not go together.
func ruleError(param, format string, args ...any) *apiError {
	msg := fmt.Sprintf(format, args...) + " (parameter=" + param + ")"
	e := schemaError([]invalid{{"value_error", "body", "Value error, " + msg}})
	e.Param = &param
	return e
}

func writeError(w http.ResponseWriter, e *apiError) {
	writeJSON(w, e.Code, e.body())
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client went away
}
