package apiserver

import (
	"net/http"
	"time"
)

// reply writes the response as one JSON object, once all of it is there. A
// fatal fault strikes when its tokens have been generated.
func (x *exchange) reply() error {
	want := x.plan.tokens
	if x.lot.unfinished() {
		want = min(want, x.lot.fatal.AfterTokens)
	}
	if _, err := x.await(want); err != nil {
		return err
	}
	if err := x.awaitRest(); err != nil {
		return err
	}
	body := x.answerJSON(time.Now().Unix())
	if x.lot.fatal != nil {
		return x.strikeReply(body)
	}
	x.rec.finish = x.plan.finish
	if x.api.silent() {
		x.rec.finish = ""
		return x.respondAs(http.StatusOK, x.pooled.contentType(), body, 0)
	}
	return x.respondAs(http.StatusOK, x.req.contentType(), body, x.plan.tokens)
}

// strikeReply spoils a response that is not a stream.
func (x *exchange) strikeReply(body []byte) error {
	half := body[:len(body)/2]
	switch x.lot.fatal.Name {
	case FaultStreamError:
		x.struck()
		return x.refuse(statusError(http.StatusInternalServerError))
	case FaultTruncate: // complete for HTTP, but not for JSON
		x.struck()
		return x.respond(http.StatusOK, half)
	case FaultMalformed:
		x.struck()
		body[len(body)-1] = ' '
		return x.respond(http.StatusOK, body)
	case FaultCut:
		x.head(http.StatusOK, "application/json", len(body))
	}
	return x.strike(body)
}

// answerJSON is the whole response, with the fields of its API.
func (x *exchange) answerJSON(created int64) []byte {
	p, chat := x.plan, x.api == chatAPI
	if x.api.silent() {
		return x.pooledJSON(created)
	}
	if p := x.phrasing(created); p != nil {
		return p.whole()
	}
	object := "text_completion"
	if chat {
		object = "chat.completion"
	}
	b := appendIdentity(make([]byte, 0, 512+4*p.tokens), x.id, object, x.req.model, created)
	b = append(b, `,"choices":[{"index":0,`...)
	if chat {
		b = append(b, `"message":{"role":"assistant","content":"`...)
		b = x.text.appendText(b, p.tokens)
		b = append(b, `","refusal":null,"annotations":null,"audio":null,"function_call":null,"tool_calls":[],"reasoning":null}`...)
	} else {
		b = append(b, `"text":"`...)
		b = x.text.appendText(b, p.tokens)
		b = append(b, '"')
	}
	b = append(b, `,"logprobs":null,"finish_reason":"`+p.finish+`","stop_reason":`...)
	b = appendStopReason(b, p.stopReason)
	b = append(b, `,"token_ids":null`...)
	if !chat {
		b = append(b, `,"prompt_logprobs":null,"prompt_token_ids":null`...)
	}
	b = append(b, `}],"service_tier":null,"system_fingerprint":null`...)
	if !x.traits.noUsage {
		b = appendUsage(b, p.promptTokens, p.tokens)
		if cached := x.cached(); cached >= 0 {
			b = appendCached(b, cached)
		} else {
			b = append(b[:len(b)-1], `,"prompt_tokens_details":null}`...)
		}
	}
	if chat {
		b = append(b, `,"prompt_logprobs":null,"prompt_token_ids":null`...)
	}
	return append(b, `,"kv_transfer_params":null}`...)
}
