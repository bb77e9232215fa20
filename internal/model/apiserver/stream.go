package apiserver

import (
	"net/http"
	"time"
)

// errorEvent is what vLLM sends when generation fails in mid-stream.
const errorEvent = `data: {"error": {"message": "Internal server error", "type": "InternalServerError", "param": null, "code": 500}}`

// generateErrorEvent is what SGLang sends instead.
const generateErrorEvent = `data: {"error": {"message": "Internal server error"}}`

const (
	doneEvent = "data: [DONE]"
	keepAlive = ": keep-alive"
)

// maxAround is how many events stand around the output of a stream at most.
const maxAround = 8

// A streaming is the response of an exchange as server-sent events.
type streaming struct {
	*exchange
	out   chunks
	sent  int // tokens written or formatted
	fresh int // tokens formatted and not yet written
	limit int // tokens after which the fatal fault strikes, or all of them
}

// stream writes the response event by event, in vLLM's order: the headers as
// soon as the request is accepted; for a chat the role chunk when the first
// token is there; the tokens, each event with as many as there are; the usage,
// if asked for; and [DONE].
func (x *exchange) stream() error {
	st := &streaming{exchange: x, limit: x.plan.tokens}
	st.out = x.chunks(time.Now().Unix())
	st.out.crlf, st.out.prompt = x.traits.crlf, x.plan.promptTokens
	st.out.usage = x.req.continuousUsage && !x.traits.noUsage
	if x.lot.fatal != nil {
		st.limit = min(st.limit, x.lot.fatal.AfterTokens)
	}
	if st.limit == 0 && x.lot.is(FaultReset) {
		return x.strike(nil)
	}
	if err := st.begin(); err != nil {
		return err
	}
	if err := st.tokens(); err != nil {
		return err
	}
	if x.lot.unfinished() {
		return st.strikeStream()
	}
	return st.conclude()
}

// chunks is the formatter of the response's events.
func (x *exchange) chunks(created int64) chunks {
	if p := x.phrasing(created); p != nil {
		return chunks{prefix: []byte("data: "), other: p, cached: -1}
	}
	return newChunks(x.api == chatAPI, x.id, x.req.model, created)
}

// phrasing is how the API words its answer; nil for OpenAI's two older ones.
func (x *exchange) phrasing(created int64) phrasing {
	switch x.api {
	case generateAPI:
		return newGenerated(x)
	case responsesAPI:
		return &responded{exchange: x, created: created}
	case messagesAPI:
		return &said{x}
	case tgiAPI:
		return newTGI(x)
	case tritonAPI:
		return &tensors{exchange: x}
	case transcriptionAPI:
		return &transcribed{exchange: x, created: created}
	}
	return nil
}

// errorEvent is what the API sends when generation fails in mid-stream.
func (x *exchange) errorEvent() string {
	switch x.api {
	case generateAPI:
		return generateErrorEvent
	case responsesAPI:
		return responsesErrorEvent
	case messagesAPI:
		return messagesErrorEvent
	case tgiAPI:
		return tgiErrorEvent
	case tritonAPI:
		return tritonErrorEvent
	}
	return errorEvent
}

// begin sends the headers, and what may come before the first token.
func (st *streaming) begin() error {
	st.head(http.StatusOK, "text/event-stream; charset=utf-8", -1)
	if err := st.flush(nil, 0, 0); err != nil {
		return err
	}
	if st.traits.comments {
		st.out.comment(keepAlive)
	}
	if st.traits.earlyRole {
		st.out.role()
	}
	if st.out.other != nil {
		st.out.other.accept(&st.out)
	}
	if len(st.out.buf) == 0 {
		return nil
	}
	return st.send()
}

// tokens writes the output until the stream ends or the fatal fault strikes.
func (st *streaming) tokens() error {
	end := st.plan.tokens
	if st.lot.unfinished() {
		end = st.limit
	}
	role := st.api == chatAPI && !st.traits.earlyRole
	begun := st.out.other == nil
	for st.sent < end {
		perEvent, events := st.group()
		want := min(st.sent+perEvent*events, end)
		ready, err := st.await(want)
		if err != nil {
			return err
		}
		st.out.cached = st.cached()
		if !begun {
			begun = true
			st.out.other.begin(&st.out)
		}
		if role {
			role = false
			st.out.role()
			if err := st.sendUnlessBatch(); err != nil {
				return err
			}
		}
		if err := st.advance(min(ready, end), perEvent); err != nil {
			return err
		}
	}
	return nil
}

// group draws how many tokens the next events shall have at least, and how
// many events the next write.
func (st *streaming) group() (perEvent, events int) {
	perEvent, events = 1, 1
	if st.traits.multiToken {
		perEvent = 2 + int(st.dice.Uint64()%3)
	}
	if st.traits.batch {
		events = 2 + int(st.dice.Uint64()%3)
	}
	return perEvent, events
}

// advance writes the tokens up to until: in one event, or with the batch
// variation in one write of events of perEvent tokens.
func (st *streaming) advance(until, perEvent int) error {
	switch {
	case st.api == tgiAPI:
		perEvent = 1
	case !st.traits.batch:
		perEvent = until - st.sent
	}
	for st.sent < until && st.out.events < maxWriteEvents-maxAround {
		st.event(min(perEvent, until-st.sent))
	}
	if st.traits.batch && st.sent == st.plan.tokens && !st.lot.unfinished() {
		return nil // conclude adds the end to this write
	}
	return st.send()
}

// event formats the next n tokens.
func (st *streaming) event(n int) {
	spoilt := min(st.limit, st.plan.tokens-1) // the token whose event is malformed, if one is
	broken := st.lot.is(FaultMalformed) && st.sent <= spoilt && spoilt < st.sent+n
	start := len(st.out.buf)
	st.out.openText()
	st.out.buf = st.text.appendText(st.out.buf, n)
	st.sent += n
	st.fresh += n
	last := st.sent == st.plan.tokens && !st.lot.unfinished()
	if last {
		st.out.finishText(st.sent, st.plan.finish, st.plan.stopReason)
	} else {
		st.out.closeText(st.sent)
	}
	switch {
	case broken: // and with it the finish reason, if it is the last
		st.struck()
		st.out.buf = st.out.buf[:start+(len(st.out.buf)-start)*2/3]
		st.out.end()
	case last:
		st.rec.finish = st.plan.finish
	}
	if st.traits.comments && st.dice.Uint64()&1 == 0 {
		st.out.comment(keepAlive)
	}
}

// send writes what has been formatted.
func (st *streaming) send() error {
	err := st.write(st.out.buf, st.fresh, st.out.events)
	st.out.clear()
	st.fresh = 0
	return err
}

// sendUnlessBatch writes what has been formatted, or leaves it to go with what
// follows.
func (st *streaming) sendUnlessBatch() error {
	if st.traits.batch {
		return nil
	}
	return st.send()
}

// conclude ends a stream well.
func (st *streaming) conclude() error {
	if st.out.other != nil {
		st.out.other.conclude(&st.out)
	}
	if st.out.other == nil && st.req.usage && !st.traits.noUsage {
		st.out.total(st.sent)
		if err := st.sendUnlessBatch(); err != nil {
			return err
		}
	}
	if !st.traits.noDone && st.api.marked() {
		st.out.line(doneEvent)
	}
	if len(st.out.buf) == 0 {
		return nil
	}
	return st.send()
}

// strikeStream ends a stream in the way of its fault.
func (st *streaming) strikeStream() error {
	if st.lot.is(FaultStreamError) {
		st.struck()
		for _, text := range []string{st.errorEvent(), doneEvent} {
			if text == doneEvent && !st.api.marked() {
				continue
			}
			st.out.line(text)
			if err := st.send(); err != nil {
				return err
			}
		}
		return nil
	}
	st.out.openText()
	st.out.buf = st.text.appendText(st.out.buf, 1)
	st.out.closeText(st.sent + 1)
	return st.strike(st.out.buf)
}
