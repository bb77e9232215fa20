package apiserver

import (
	"net/http"

	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// reply writes the response as one JSON object, once all of it is there. A
// fatal fault strikes when its tokens have been generated.
func (x *exchange) reply() error {
	want := x.answer.Tokens
	if x.faults.unfinished() {
		want = min(want, x.faults.fatal.AfterTokens)
	}
	if _, err := x.await(want); err != nil {
		return err
	}
	if err := x.awaitRest(); err != nil {
		return err
	}
	x.complete(&x.answer)
	if x.pooled != nil {
		x.answer.Pooled = x.pooled.results()
	}
	r := x.req.Protocol.Unstreamed(x.answer)
	switch {
	case x.faults.fatal != nil:
		return x.strikeReply(r)
	case x.pooled != nil:
		return x.respond(r, 0)
	}
	x.rec.FinishReason = x.answer.Finish
	return x.respond(r, x.answer.Tokens)
}

// strikeReply spoils a response that is not a stream.
func (x *exchange) strikeReply(r phrase.Reply) error {
	body := r.Body
	r.MediaType = phrase.JSON
	switch x.faults.fatal.Name {
	case FaultStreamError:
		x.struck()
		return x.refuse(phrase.StatusError(http.StatusInternalServerError, ""))
	case FaultTruncate: // complete for HTTP, but not for JSON
		x.struck()
		r.Body = body[:len(body)/2]
		return x.respond(r, 0)
	case FaultMalformed:
		x.struck()
		body[len(body)-1] = ' '
		return x.respond(r, 0)
	case FaultCut:
		x.head(r)
	}
	return x.strike(body)
}
