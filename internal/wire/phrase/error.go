package phrase

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
)

// An Error is a request that is refused, as vLLM words it:
//
//	{"error":{"message":"…","type":"BadRequestError","param":null,"code":400}}
//
// A request that does not fit the schema has the type "Bad Request" and a list of
// its faults; one that fits and cannot be served is a "BadRequestError".
type Error struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    int     `json:"code"` // of HTTP
}

// Body is e as OpenAI words it.
func (e *Error) Body() []byte { return marshal(map[string]*Error{"error": e}) }

// BadRequest refuses a request for one of its values; param may be empty.
func BadRequest(param string, value any, format string, args ...any) *Error {
	e := &Error{Message: fmt.Sprintf(format, args...), Type: "BadRequestError", Code: http.StatusBadRequest}
	if param != "" {
		e.Message += fmt.Sprintf(" (parameter=%s, value=%v)", param, value)
		e.Param = &param
	}
	return e
}

// ModelNotFound refuses a request for its model.
func ModelNotFound(model string) *Error {
	param := "model"
	return &Error{
		Message: fmt.Sprintf("The model `%s` does not exist.", model), Type: "NotFoundError", Param: &param,
		Code: http.StatusNotFound,
	}
}

// UnknownModel refuses q for its model, or adapter.
func (q *Request) UnknownModel() *Error {
	if q.Protocol == Generate {
		return BadRequest("lora_path", q.Model, "The LoRA adapter `%s` is not loaded.", q.Model)
	}
	return ModelNotFound(q.Model)
}

// TooMany refuses q for its limit, which is beyond the context.
func (q *Request) TooMany(limit, context int) *Error {
	field := q.Protocol.Limit
	return BadRequest(field, limit, "%s=%d cannot be greater than max_model_len=%d. Please request fewer output tokens.",
		field, limit, context)
}

// NotJSON refuses a body for its media type.
func NotJSON() *Error {
	return &Error{
		Message: "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed",
		Type:    "Bad Request", Code: http.StatusBadRequest,
	}
}

// StatusError is what a server in trouble says. The message is that of the status if
// it is empty.
func StatusError(code int, message string) *Error {
	e := &Error{Message: message, Code: code}
	switch code {
	case http.StatusBadRequest:
		e.Type = "BadRequestError"
	case http.StatusTooManyRequests:
		e.Type, e.Message = "RateLimitError", cmp.Or(message, "Too many requests")
	case http.StatusInternalServerError:
		e.Type, e.Message = "InternalServerError", cmp.Or(message, "Internal server error")
	case http.StatusServiceUnavailable:
		e.Type, e.Message = "ServiceUnavailableError", cmp.Or(message, "The server is overloaded")
	default:
		e.Type = http.StatusText(code)
	}
	return e
}

// Bodies of FastAPI, for a path that is not there, and for another method.
const (
	NotFound   = `{"detail":"Not Found"}`
	NotAllowed = `{"detail":"Method Not Allowed"}`
)

// An invalid is one way in which a body does not fit the schema, in the terms of
// pydantic, which checks it in vLLM.
type invalid struct {
	kind string // int_parsing, missing, ...
	loc  string // path of the field in the body
	msg  string
}

// schemaError reports all of them, and the first one's field as param.
func schemaError(bad ...invalid) *Error {
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
	return &Error{Message: b.String(), Type: "Bad Request", Param: &bad[0].loc, Code: http.StatusBadRequest}
}

// ruleError is the fault of a body with fields that exclude each other.
func ruleError(param, msg string) *Error {
	e := schemaError(invalid{"value_error", "body", "Value error, " + msg + " (parameter=" + param + ")"})
	e.Param = &param
	return e
}
