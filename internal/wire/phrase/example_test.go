package phrase_test

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// tokens are those of an answer.
type tokens []string

func (t *tokens) Next() string {
	next := (*t)[0]
	*t = (*t)[1:]
	return next
}

func (t *tokens) ID() int32 { return int32(len(*t)) }

func ExampleProtocol_Stream() {
	w := phrase.Completions.Stream(phrase.Answer{
		ID: "7", Model: "m", Created: 1767225600, Source: &tokens{"A", " pitot", " tube"},
		PromptTokens: 5, Cached: -1, Tokens: 3, Finish: "length", Usage: true,
	})
	stream := w.Begin(nil) // nothing: of a chat, the role
	stream = w.Event(stream, 2, false)
	stream = w.Event(stream, 1, true)
	stream = w.End(w.Total(stream), true)
	fmt.Printf("%s%d events, %d tokens\n", stream, w.Events, w.Sent)
	// Output:
	// data: {"id":"cmpl-7","object":"text_completion","created":1767225600,"model":"m","choices":[{"index":0,"text":"A pitot","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]}
	//
	// data: {"id":"cmpl-7","object":"text_completion","created":1767225600,"model":"m","choices":[{"index":0,"text":" tube","logprobs":null,"finish_reason":"length","stop_reason":null,"prompt_token_ids":null,"token_ids":null}]}
	//
	// data: {"id":"cmpl-7","object":"text_completion","created":1767225600,"model":"m","choices":[],"usage":{"prompt_tokens":5,"total_tokens":8,"completion_tokens":3}}
	//
	// data: [DONE]
	//
	// 4 events, 3 tokens
}

func ExampleRead() {
	body := `{"model":"m","max_tokens":3,"stream":true,"system":"Be brief.","messages":[{"role":"user",` +
		`"content":"What is a pitot tube?"}]}`
	q, _ := phrase.Read("/v1/messages", phrase.JSON, []byte(body))
	fmt.Println(q.Protocol.Name, q.Model, q.MaxTokens, q.Stream, q.Messages)

	q, refused := phrase.Read("/v1/messages", phrase.JSON, []byte(`{"messages":[{"role":"user","content":"And now?"}]}`))
	r := q.Protocol.Refuse(refused, q.Stream)
	fmt.Println(r.Status, string(r.Body))
	// Output:
	// messages m 3 true [{system Be brief.} {user What is a pitot tube?}]
	// 400 {"error":{"message":"1 validation error:\n  {'type': 'missing', 'loc': 'body.max_tokens', 'msg': 'Field required'}","type":"Bad Request"},"type":"error"}
}
