package apiserver

import (
	"net/http"

	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

const keepAlive = "keep-alive"

// maxAround is how many events stand around the output of a stream at most.
const maxAround = 8

// A streaming is the response of an exchange as server-sent events.
type streaming struct {
	*exchange
	out   *phrase.Writer
	buf   []byte // formatted and not yet written
	fresh int    // tokens in it
	limit int    // tokens after which the fatal fault strikes, or all of them
}

func (x *exchange) streaming() *streaming {
	if x.traits.have(FaultCRLF) {
		x.answer.LineEnd = "\r\n"
	}
	st := &streaming{exchange: x, out: x.req.Protocol.Stream(x.answer), limit: x.answer.Tokens}
	if x.faults.fatal != nil {
		st.limit = min(st.limit, x.faults.fatal.AfterTokens)
	}
	return st
}

// stream writes the response event by event, in vLLM's order: the headers as
// soon as the request is accepted; for a chat the role chunk when the first
// token is there; the tokens, each event with as many as there are; the usage,
// if asked for; and [DONE].
func (x *exchange) stream() error {
	st := x.streaming()
	if st.limit == 0 && x.faults.is(FaultReset) {
		return x.strike(nil)
	}
	if err := st.begin(); err != nil {
		return err
	}
	if err := st.tokens(); err != nil {
		return err
	}
	if x.faults.unfinished() {
		return st.strikeStream()
	}
	return st.conclude()
}

// begin sends the headers, and what may come before the first token.
func (st *streaming) begin() error {
	if !st.ticket.begun(st.r.Context().Done()) {
		return errGone
	}
	st.head(phrase.Reply{Status: http.StatusOK, MediaType: phrase.EventStream})
	if err := st.flush(nil, 0, 0); err != nil {
		return err
	}
	if st.traits.have(FaultComments) {
		st.buf = st.out.Comment(st.buf, keepAlive)
	}
	if st.traits.have(FaultEarlyRole) {
		st.buf = st.out.Begin(st.buf)
	}
	st.buf = st.out.Accept(st.buf)
	return st.send()
}

// tokens writes the output until the stream ends or the fatal fault strikes.
func (st *streaming) tokens() error {
	end := st.answer.Tokens
	if st.faults.unfinished() {
		end = st.limit
	}
	begun := st.traits.have(FaultEarlyRole)
	for st.out.Sent < end {
		perEvent, events := st.group()
		ready, err := st.await(min(st.out.Sent+perEvent*events, end))
		if err != nil {
			return err
		}
		st.out.Cached = st.cached()
		if !begun {
			begun = true
			st.buf = st.out.Begin(st.buf)
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
	if st.traits.have(FaultMultiToken) {
		perEvent = 2 + int(st.dice.Uint64()%3)
	}
	if st.traits.have(FaultBatch) {
		events = 2 + int(st.dice.Uint64()%3)
	}
	return perEvent, events
}

// advance writes the tokens up to until: in one event, or with the batch
// variation in one write of events of perEvent tokens.
func (st *streaming) advance(until, perEvent int) error {
	switch {
	case st.req.Protocol.Single:
		perEvent = 1
	case !st.traits.have(FaultBatch):
		perEvent = until - st.out.Sent
	}
	for st.out.Sent < until && st.out.Events < maxWriteEvents-maxAround {
		st.event(min(perEvent, until-st.out.Sent))
	}
	if st.traits.have(FaultBatch) && st.out.Sent == st.answer.Tokens && !st.faults.unfinished() {
		return nil // conclude adds the end to this write
	}
	return st.send()
}

// event formats the next n tokens.
func (st *streaming) event(n int) {
	spoilt := min(st.limit, st.answer.Tokens-1) // the token with the malformed event, if there is one
	broken := st.faults.is(FaultMalformed) && st.out.Sent <= spoilt && spoilt < st.out.Sent+n
	start := len(st.buf)
	last := st.out.Sent+n == st.answer.Tokens && !st.faults.unfinished()
	if last {
		st.complete(&st.out.Answer)
	}
	st.buf = st.out.Event(st.buf, n, last)
	st.fresh += n
	switch {
	case broken: // and with it the finish reason, if it is the last
		st.struck()
		st.buf = st.out.Break(st.buf[:start+(len(st.buf)-start)*2/3])
	case last:
		st.rec.FinishReason = st.answer.Finish
	}
	if st.traits.have(FaultComments) && st.dice.Uint64()&1 == 0 {
		st.buf = st.out.Comment(st.buf, keepAlive)
	}
}

// send writes what has been formatted.
func (st *streaming) send() error {
	if len(st.buf) == 0 {
		return nil
	}
	err := st.write(st.buf, st.fresh, st.out.Events)
	st.buf, st.fresh, st.out.Events = st.buf[:0], 0, 0
	return err
}

// sendUnlessBatch writes what has been formatted, or leaves it to go with what
// follows.
func (st *streaming) sendUnlessBatch() error {
	if st.traits.have(FaultBatch) {
		return nil
	}
	return st.send()
}

// conclude ends a stream well.
func (st *streaming) conclude() error {
	st.buf = st.out.Total(st.buf)
	if err := st.sendUnlessBatch(); err != nil {
		return err
	}
	st.buf = st.out.End(st.buf, !st.traits.have(FaultNoDone))
	return st.send()
}

// strikeStream ends a stream in the way of its fault.
func (st *streaming) strikeStream() error {
	if st.faults.is(FaultStreamError) {
		st.struck()
		st.buf = st.out.Fail(st.buf)
		return st.send()
	}
	return st.strike(st.out.Event(nil, 1, false))
}
