package apiserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// An exchange is one generation request and its response.
type exchange struct {
	s   *Server
	w   http.ResponseWriter
	rc  *http.ResponseController
	r   *http.Request
	rec *record

	arrival uint64
	body    *body
	req     *request      // nothing but its protocol until it is read
	answer  phrase.Answer // settled before the first token, but for what complete adds
	faults  drawnFaults
	traits  traits
	ticket  ticket
	pooled  *pooled
	text    answer
	dice    rand.PCG // of the variations
}

// The ways in which an exchange can fail. Its partial answer must not look complete, so the
// connection is cut.
var (
	errGone  = errors.New("client went away")
	errAbort = errors.New("fault that cuts the connection")
)

// clientGone refuses a request after its client has left; the client gets no answer.
var clientGone = new(phrase.Error)

// generation is the handler of one of the ways to ask for tokens.
func (s *Server) generation(p *phrase.Protocol) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.handlers.Add(1)
		defer s.handlers.Done()
		x := s.receive(w, r, p)
		defer s.truth.publish(x.rec)
		err := x.serve()
		x.rec.ClientGone = errors.Is(err, errGone) && !errors.Is(context.Cause(r.Context()), errShutdown)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

// receive notes a request's arrival.
func (s *Server) receive(w http.ResponseWriter, r *http.Request, p *phrase.Protocol) *exchange {
	x := &exchange{
		s: s, w: w, rc: http.NewResponseController(w), r: r, req: &request{Request: &phrase.Request{Protocol: p}},
	}
	received := s.loop.now()
	x.arrival = s.arrivals.Add(1) - 1
	x.rec = &record{TruthRequest: TruthRequest{
		Endpoint: p.Name, Protocol: strings.Clone(r.Proto), Received: int64(received),
	}}
	x.name(r.Header.Get("X-Request-Id"))
	s.truth.open()
	return x
}

// name settles the request's id: the x-request-id it came with, else that of
// its body, once read, else one made up.
func (x *exchange) name(id string) {
	if id == "" {
		dice := arrival.Dice(x.s.cfg.Seed, "id", x.arrival)
		id = fmt.Sprintf("%016x%016x", dice.Uint64(), dice.Uint64())
	}
	x.rec.ID = id
}

// serve answers the request, or refuses it.
func (x *exchange) serve() error {
	refused := x.read()
	if refused == nil {
		if x.r.Header.Get("X-Request-Id") == "" {
			x.name(x.req.ID)
		}
		refused = x.prepare()
	}
	if refused != nil {
		x.req.prompt, x.req.more = nil, nil
	}
	x.body.release() // its client may be slow to read
	if refused != nil {
		return x.refuse(refused)
	}
	x.faults = deal(x.s.cfg.Faults, x.s.cfg.Seed, x.arrival)
	x.traits = x.faults.traits(x.req)
	x.rec.Faults = append(x.rec.Faults, x.traits...)
	x.dice = arrival.Dice(x.s.cfg.Seed, "variation", x.arrival)
	a := &x.answer
	a.ID, a.Created, a.Source, a.Seconds = x.rec.ID, time.Now().Unix(), &x.text, x.req.seconds
	a.Usage, a.Continuous = a.Usage && !x.traits.have(FaultNoUsage), a.Continuous && !x.traits.have(FaultNoUsage)
	if status := x.faults.status(); status != 0 {
		x.struck()
		return x.refuse(phrase.StatusError(status, ""))
	}
	return x.generate()
}

// read takes the request in. Its protocol may be another than that of the handler: two
// share a route.
func (x *exchange) read() (refused *phrase.Error) {
	if x.body, refused = x.s.bodies.read(x.r, x.req.Protocol.Form, maxBody); refused != nil {
		return refused
	}
	return x.body.parse(x.r.Context(), func(data []byte) *phrase.Error {
		asked, refused := phrase.Read(x.r.URL.Path, x.r.Header.Get("Content-Type"), data)
		x.rec.Endpoint = asked.Protocol.Name
		x.req, refused = x.s.vocab.take(asked, refused)
		return refused
	})
}

// generate runs the job and writes its output, and frees the job's place if
// the response ends before it.
func (x *exchange) generate() error {
	x.ticket.finish, x.ticket.maxTokens = x.answer.Finish, x.answer.MaxTokens
	job := x.s.cfg.job(x.req, &x.answer)
	job.ID = x.arrival
	if x.pooled != nil {
		job.PromptTokens = x.req.promptTokens() // of the first text alone
	}
	x.s.loop.add(job, &x.ticket)
	defer x.addRest()()
	x.req.prompt, x.req.more, x.req.images = nil, nil, nil // done with; a stream may stay open for long
	defer func() {
		if int(x.ticket.tokens.Load()) < x.answer.Tokens {
			x.s.loop.cancel(x.arrival)
		}
	}()
	if x.req.Stream {
		return x.stream()
	}
	return x.reply()
}

// job is what the engine has to do for a request, without an ID.
func (c *Config) job(req *request, a *phrase.Answer) engine.Job {
	j := engine.Job{
		PromptTokens: a.PromptTokens,
		Images:       req.images,
		OutputTokens: a.Tokens,
		Priority:     req.Priority,
	}
	if req.Model != c.Model {
		j.Adapter = req.Model
	}
	if c.looksAtPrompts() {
		j.Prompt = req.prompt
	}
	return j
}

// prepare checks the request against the server and settles its answer.
func (x *exchange) prepare() *phrase.Error {
	cfg := &x.s.cfg
	if !cfg.serves(x.req.Model) {
		return x.req.UnknownModel()
	}
	x.rec.PromptTokens, x.rec.Images = x.req.promptTokens(), len(x.req.images)
	var refused *phrase.Error
	if x.req.Texts != nil {
		x.pooled, x.answer, refused = cfg.pool(x.req)
		x.rec.PromptTokens = x.answer.PromptTokens
		return refused
	}
	if x.answer, refused = cfg.fit(x.req); refused == nil {
		if cfg.Role == RolePrefill {
			x.answer.MaxTokens = 1
		}
		x.text = cfg.compose(x.s.vocab, x.req, &x.answer)
	}
	return refused
}

// fit gives a request for a served model its place in the context.
func (c *Config) fit(req *request) (phrase.Answer, *phrase.Error) {
	req.Model = cmp.Or(req.Model, c.Model)
	n := req.promptTokens()
	a := req.Answer()
	a.PromptTokens, a.MaxTokens = n, req.MaxTokens
	room := c.MaxModelLen - n
	most := req.Protocol.Limit
	if req.Fill {
		a.MaxTokens = max(room, 0)
		if room == 0 {
			return a, phrase.BadRequest(most, 0, "%s must be at least 1, got 0.", most)
		}
	}
	if a.MaxTokens > c.MaxModelLen {
		return a, req.TooMany(a.MaxTokens, c.MaxModelLen)
	}
	if a.MaxTokens > room || room < 0 {
		return a, phrase.BadRequest("input_tokens", n, "You passed %d input tokens and requested %d output tokens. "+
			"However, the model's context length is only %d tokens, resulting in a maximum input length of %d tokens. "+
			"Please reduce the length of the input prompt.", n, a.MaxTokens, c.MaxModelLen, c.MaxModelLen-a.MaxTokens)
	}
	return a, nil
}

// compose draws the answer: its text, and where and why it ends.
func (c *Config) compose(v *vocabulary, req *request, a *phrase.Answer) answer {
	prompt, start := hashIDs(req.prompt), c.Seed
	text, longer := newAnswer(v, prompt), 0.0
	if c.Answers != nil {
		start, longer = 0, float64(c.Answers.Longer)
	}
	length := arrival.Dice(start, "length", prompt)
	a.Tokens, a.Finish = a.MaxTokens, "length"
	if !req.IgnoreEOS {
		natural := max(int(math.Round(float64(c.OutputLen.Draw(rand.New(&length)))*(1+longer))), req.MinTokens, 1)
		if natural < a.Tokens {
			a.Tokens, a.Finish = natural, "stop"
		}
	}
	if len(req.Stop) > 0 {
		if end, ok := text.stop(req.Stop, req.IncludeStop, req.MinTokens, a.Tokens); ok {
			a.Tokens, a.Finish, a.Stop = end.tokens, "stop", end.reason
			text.visible = end.visible
		}
	}
	if c.Answers != nil {
		text.vary(*c.Answers, c.Seed, prompt, a)
		if right := float64(c.Answers.Right); right > 0 {
			text.solve(v, v.decode(req.prompt), right, req.IgnoreEOS, a)
		}
	}
	return text
}

// complete adds to an answer the facts known with its last token.
func (x *exchange) complete(a *phrase.Answer) {
	a.Cached, a.Elapsed = x.cached(), x.s.loop.now()-time.Duration(x.rec.Received)
	if x.s.cfg.Drafts() > 0 {
		a.Steps = x.ticket.steps
	}
}

// refuse answers with an error.
func (x *exchange) refuse(e *phrase.Error) error {
	if e == clientGone {
		return errGone
	}
	if e.Code == http.StatusTooManyRequests || e.Code == http.StatusServiceUnavailable {
		x.w.Header().Set("Retry-After", "1")
	}
	return x.respond(x.req.Protocol.Refuse(e, x.req.Stream), 0)
}

// respond writes a response in one piece, which carries tokens.
func (x *exchange) respond(r phrase.Reply, tokens int) error {
	x.head(r)
	return x.write(r.Body, tokens, r.Events)
}

// head sets the response's status and headers; a stream has no length.
func (x *exchange) head(r phrase.Reply) {
	x.rec.Status = r.Status
	h := x.w.Header()
	h.Set("Content-Type", r.MediaType)
	if r.Metadata != "" {
		h.Set("metadata", r.Metadata)
	}
	if r.MediaType != phrase.EventStream {
		h.Set("Content-Length", strconv.Itoa(len(r.Body)))
	}
	x.w.WriteHeader(r.Status)
}

// write sends p, which carries tokens in events, and stamps it. With the split
// variation it goes out in pieces; the last one counts the tokens.
func (x *exchange) write(p []byte, tokens, events int) error {
	if x.traits.have(FaultSplit) {
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
	if tokens > 0 {
		x.written(before)
	}
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
	if !x.s.cfg.PrefixCache() {
		return -1
	}
	return x.ticket.cached
}

// pause waits for d; false means that over was closed before.
func pause(d time.Duration, over <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-over:
		return false
	}
}
