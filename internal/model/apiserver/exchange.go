package apiserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// maxBody is the largest request body read. Images come inside it.
const maxBody = 256 << 20

// An exchange is one generation request and its response.
type exchange struct {
	s   *Server
	w   http.ResponseWriter
	rc  *http.ResponseController
	r   *http.Request
	rec *record

	api     api
	arrival uint64
	id      string // of the response, with its prefix
	req     *request
	plan    answerPlan
	lot     lot
	traits  traits
	ticket  ticket
	pooled  *pooled // what is to be embedded or scored, beside the first
	text    answer
	dice    rand.PCG // of the variations
}

// An answerPlan is what a request will get, settled before the first token.
type answerPlan struct {
	promptTokens int
	tokens       int // output tokens
	maxTokens    int // as asked for
	finish       string
	stopReason   string // the stop string, if one ended it
}

// How an exchange can end other than well: what it has not written must not
// look complete, so the connection is cut.
var (
	errGone  = errors.New("client went away")
	errAbort = errors.New("fault that cuts the connection")
)

// generation is the handler of one of the ways to ask for tokens.
func (s *Server) generation(a api) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.handlers.Add(1)
		defer s.handlers.Done()
		x := s.receive(w, r, a)
		defer s.truth.publish(x.rec)
		err := x.serve()
		x.rec.gone = errors.Is(err, errGone) && !errors.Is(context.Cause(r.Context()), errShutdown)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

// receive notes a request's arrival.
func (s *Server) receive(w http.ResponseWriter, r *http.Request, a api) *exchange {
	x := &exchange{s: s, w: w, rc: http.NewResponseController(w), r: r, api: a}
	received := s.loop.now()
	x.arrival = s.arrivals.Add(1) - 1
	x.rec = &record{endpoint: string(a), protocol: strings.Clone(r.Proto), received: received}
	x.name(r.Header.Get("X-Request-Id"))
	s.truth.open()
	return x
}

// name settles the request's id: the x-request-id it came with, else that of
// its body, once read, else one made up.
func (x *exchange) name(id string) {
	if id == "" {
		dice := engine.Dice(x.s.cfg.Seed, "id", x.arrival)
		id = fmt.Sprintf("%016x%016x", dice.Uint64(), dice.Uint64())
	}
	x.rec.id = id
	x.id = x.api.idPrefix() + id
}

// serve answers the request, or refuses it.
func (x *exchange) serve() error {
	refused := x.read()
	if refused == nil {
		if x.r.Header.Get("X-Request-Id") == "" {
			x.name(x.req.id)
		}
		refused = x.prepare()
	}
	if refused != nil {
		return x.refuse(refused)
	}
	x.lot = deal(x.s.cfg.Faults, x.s.cfg.Seed, x.arrival)
	x.traits = x.lot.traits(x.req)
	x.rec.faults = append(x.rec.faults, x.traits.names...)
	x.dice = engine.Dice(x.s.cfg.Seed, "variation", x.arrival)
	if status := x.lot.status(); status != 0 {
		x.struck()
		return x.refuse(statusError(status))
	}
	return x.generate()
}

// read takes the request in: its API, which two of them share a route, and what it
// asks.
func (x *exchange) read() *apiError {
	if x.api == transcriptionAPI {
		form, refused := readForm(x.w, x.r)
		if refused == nil {
			x.req, refused = decodeTranscription(form)
		}
		return refused
	}
	body, refused := readBody(x.w, x.r)
	if refused != nil {
		return refused
	}
	if x.api == generateAPI && asksTGI(body) {
		x.api = tgiAPI
		x.rec.endpoint = string(x.api)
	}
	if x.api.silent() {
		x.pooled, refused = decodePooled(x.s.vocab, body, x.api)
		if x.pooled != nil {
			x.req = &x.pooled.request
		}
		return refused
	}
	x.req, refused = decodeRequest(x.s.vocab, body, x.api)
	if x.req != nil && strings.HasSuffix(x.r.URL.Path, "_stream") {
		x.req.stream = true
	}
	return refused
}

// generate runs the job and writes its output, and frees the job's place if
// the response ends before it.
func (x *exchange) generate() error {
	x.ticket.finish, x.ticket.maxTokens = x.plan.finish, x.plan.maxTokens
	job := x.s.cfg.job(x.req, x.plan)
	job.ID = x.arrival
	if x.pooled != nil {
		job.PromptTokens = x.req.promptTokens() // of the first text alone
	}
	x.s.loop.add(job, &x.ticket)
	defer x.addRest()()
	x.req.prompt, x.req.images = nil, nil // done with; a stream may stay open for long
	defer func() {
		if int(x.ticket.tokens.Load()) < x.plan.tokens {
			x.s.loop.cancel(x.arrival)
		}
	}()
	if x.req.stream {
		return x.stream()
	}
	return x.reply()
}

// job is what the engine has to do for a request, without an ID.
func (c *Config) job(req *request, p answerPlan) engine.Job {
	j := engine.Job{
		PromptTokens: p.promptTokens,
		Images:       req.images,
		OutputTokens: p.tokens,
		Priority:     req.priority,
	}
	if req.model != c.Model {
		j.Adapter = req.model
	}
	if c.looksAtPrompts() {
		j.Prompt = req.prompt
	}
	return j
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *apiError) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		e := schemaError([]invalid{{}})
		e.Message, e.Param = "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed", nil
		return nil, e
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		e := badRequest("", nil, "the body is larger than %d bytes", maxBody)
		e.Code = http.StatusRequestEntityTooLarge
		return nil, e
	}
	if err != nil {
		e := badRequest("", nil, "read the body: %v", err)
		e.gone = r.Context().Err() != nil // net/http ends it when a read fails
		return nil, e
	}
	return body, nil
}

// prepare checks the request against the server and settles its plan.
func (x *exchange) prepare() *apiError {
	cfg := &x.s.cfg
	if !cfg.serves(x.req.model) {
		return x.req.unknownModel()
	}
	x.rec.prompt, x.rec.images = x.req.promptTokens(), len(x.req.images)
	if x.pooled != nil {
		fits, refused := x.pooled.fit(cfg)
		x.plan, x.rec.prompt = fits, fits.promptTokens
		return refused
	}
	p, refused := cfg.fit(x.req)
	if refused != nil {
		return refused
	}
	x.plan, x.text = cfg.compose(x.s.vocab, x.req, p)
	return nil
}

// fit gives a request, whose model is served, its place in the context.
func (c *Config) fit(req *request) (answerPlan, *apiError) {
	req.model = cmp.Or(req.model, c.Model)
	n := req.promptTokens()
	p := answerPlan{promptTokens: n, maxTokens: req.maxTokens}
	room := c.MaxModelLen - n
	most, _ := req.limits()
	if req.fill {
		p.maxTokens = max(room, 0)
		if room == 0 {
			return p, badRequest(most, 0, "%s must be at least 1, got 0.", most)
		}
	}
	if p.maxTokens > c.MaxModelLen {
		return p, badRequest(most, p.maxTokens, "%s=%d cannot be greater than max_model_len=%d. "+
			"Please request fewer output tokens.", most, p.maxTokens, c.MaxModelLen)
	}
	if p.maxTokens > room || room < 0 {
		return p, badRequest("input_tokens", n, "You passed %d input tokens and requested %d output tokens. "+
			"However, the model's context length is only %d tokens, resulting in a maximum input length of %d tokens. "+
			"Please reduce the length of the input prompt.", n, p.maxTokens, c.MaxModelLen, c.MaxModelLen-p.maxTokens)
	}
	return p, nil
}

// compose draws the answer: its text, and where and why it ends.
func (c *Config) compose(v *vocabulary, req *request, p answerPlan) (answerPlan, answer) {
	text, length := newAnswer(v, c.Seed, req.prompt)
	p.tokens, p.finish = p.maxTokens, "length"
	if !req.ignoreEOS {
		natural := max(c.OutputLen.Draw(rand.New(&length)), req.minTokens)
		if natural < p.tokens {
			p.tokens, p.finish = natural, "stop"
		}
	}
	if len(req.stop) > 0 {
		if end, ok := text.stop(req.stop, req.includeStop, req.minTokens, p.tokens); ok {
			p.tokens, p.finish, p.stopReason = end.tokens, "stop", end.reason
			text.visible = end.visible
		}
	}
	return p, text
}

// refuse answers with an error.
func (x *exchange) refuse(e *apiError) error {
	if e.gone {
		return errGone
	}
	if e.Code == http.StatusTooManyRequests || e.Code == http.StatusServiceUnavailable {
		x.w.Header().Set("Retry-After", "1")
	}
	switch x.api {
	case generateAPI:
		return x.refuseGenerate(e)
	case messagesAPI:
		return x.respond(e.Code, e.messagesBody())
	case tgiAPI:
		return x.respond(tgiStatus(e), e.tgiBody())
	case tritonAPI:
		return x.respond(e.Code, e.tritonBody())
	}
	return x.respond(e.Code, e.body())
}

// respond writes a whole JSON response without output.
func (x *exchange) respond(status int, body []byte) error {
	return x.respondAs(status, "application/json", body, 0)
}

func (x *exchange) respondAs(status int, contentType string, body []byte, tokens int) error {
	x.head(status, contentType, len(body))
	return x.write(body, tokens, 0)
}

// head sets the response's status and headers; length is negative if unknown.
func (x *exchange) head(status int, contentType string, length int) {
	x.rec.status = status
	x.w.Header().Set("Content-Type", contentType)
	if length >= 0 {
		x.w.Header().Set("Content-Length", strconv.Itoa(length))
	}
	x.w.WriteHeader(status)
}

// write sends p, which carries tokens in events, and stamps it. With the split
// variation it goes out in pieces; the last one counts the tokens.
func (x *exchange) write(p []byte, tokens, events int) error {
	if x.traits.split {
		for len(p) > 1 {
			n := 1 + int(x.dice.Uint64()%uint64(min(len(p)-1, 80)))
			if err := x.flush(p[:n], 0, 0); err != nil {
				return err
			}
			p = p[n:]
			if x.dice.Uint64()%3 == 0 {
				break
			}
		}
	}
	return x.flush(p, tokens, events)
}

func (x *exchange) flush(p []byte, tokens, events int) error {
	before := x.s.loop.now()
	_, err := x.w.Write(p)
	if err == nil {
		err = x.rc.Flush()
	}
	x.rec.add(before, x.s.loop.now(), tokens, events, len(p))
	if err != nil {
		return errGone
	}
	return nil
}

// await waits for the engine to have emitted want tokens and returns how many
// it has.
func (x *exchange) await(want int) (int, error) {
	n, ok := x.ticket.wait(want, x.r.Context().Done())
	if !ok {
		return 0, errGone
	}
	return n, nil
}

// cached is how much of the prompt a prefix cache spared, known with the first
// token, or -1 where there is no such cache.
func (x *exchange) cached() int {
	if !x.s.cfg.prefixCache() {
		return -1
	}
	return x.ticket.cached
}

// idle waits for d, or until the client has gone.
func (x *exchange) idle(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-x.r.Context().Done():
		return errGone
	}
}
