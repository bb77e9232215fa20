package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// protocol is the one that requests are written in.
func (c *benchCmd) protocol() endpoint.Protocol { return endpoint.Protocol(c.Protocol) }

// checkProtocol settles what the protocol decides of other settings.
func (c *benchCmd) checkProtocol() []error {
	var errs []error
	bad := func(cond bool, format string, a ...any) {
		if cond {
			errs = append(errs, usagef(format, a...))
		}
	}
	p := c.protocol()
	if c.Workload == "random-mm" {
		picture := workload.Request{Text: "a", Media: []workload.Media{{MIME: "image/jpeg"}}}
		bad(p.Takes(&picture) != nil, "--workload random-mm sends pictures: use --protocol chat, responses, messages, generate, embeddings or pooling, not %s", p)
	}
	bad(p == endpoint.Transcription && c.Workload != "custom", "--protocol transcription needs sounds: use --workload custom with a --data FILE whose lines have audio")
	bad(c.Texts < 1, "--texts %d: must be at least 1", c.Texts)
	bad(p == endpoint.Rerank && c.Workload != "random" && c.Workload != "custom", "--protocol rerank needs a query with documents: use --workload random, or custom with lines that have query and documents")
	bad(p.Silent() && c.talking(), "--workload %s: a conversation goes on from answers, and --protocol %s gives none; use completions, chat, responses or messages", c.Workload, p)
	return errs
}

// needsText tells whether prompts must be text.
func (c *benchCmd) needsText() bool { return !c.protocol().TakesTokens() || c.grouped() }

// grouped tells whether several random texts make one request.
func (c *benchCmd) grouped() bool {
	p := c.protocol()
	return c.Workload == "random" && (p == endpoint.Rerank || p.Silent() && c.Texts > 1)
}

// textsEach is how many texts a random request holds.
func (c *benchCmd) textsEach() int {
	if c.protocol() == endpoint.Rerank {
		return 1 + c.Texts
	}
	return c.Texts
}

// suit makes the requests of a workload such as the protocol has them, and refuses
// those that it cannot say.
func (c *benchCmd) suit(w workload.Workload) (workload.Workload, error) {
	if c.grouped() {
		w.Requests = group(w.Requests, c.textsEach(), c.protocol() == endpoint.Rerank, c.idPrefix)
	}
	for i := range w.Requests {
		r := &w.Requests[i]
		if c.protocol().Silent() {
			r.OutputTokens = 0
		}
		if err := c.protocol().Takes(r); err != nil {
			source := "--workload " + c.Workload
			if c.Data != "" {
				source = "--data " + c.Data
			}
			return w, usagef("%s, request %d, with --protocol %s: %w", source, i+1, c.Protocol, err)
		}
	}
	return w, nil
}

// group puts n texts into each request. To rerank, the model reads the first with
// each of the others.
func group(requests []workload.Request, n int, pairs bool, idPrefix string) []workload.Request {
	out := make([]workload.Request, 0, len(requests)/n)
	for some := range slices.Chunk(requests, n) {
		r := workload.Request{ID: fmt.Sprint(idPrefix, len(out))}
		for i := range some {
			r.Batch = append(r.Batch, some[i].Text)
			r.PromptTokens += some[i].PromptTokens
		}
		if pairs {
			r.PromptTokens += (n - 2) * some[0].PromptTokens
		}
		out = append(out, r)
	}
	return out
}

// small is a request with little to do, in the protocol's way. A sound is nobody's to
// make up: there it is the first of the workload.
func (c *benchCmd) small(text string, tokens int, requests []workload.Request) workload.Request {
	switch {
	case c.protocol() == endpoint.Rerank:
		return workload.Request{Batch: []string{text, text}}
	case c.protocol().Silent():
		return workload.Request{Text: text}
	case c.protocol() == endpoint.Transcription && len(requests) > 0:
		first := requests[0]
		first.ID, first.OutputTokens = "", tokens
		return first
	}
	return workload.Request{Text: text, OutputTokens: tokens}
}

// sampling takes the object of sampling parameters out of the extra fields, where the
// protocol has one: its members go beside those that the run writes itself.
func (c *benchCmd) sampling(extra map[string]json.RawMessage) (fields, sampling map[string]json.RawMessage, err error) {
	name := map[endpoint.Protocol]string{endpoint.Generate: "sampling_params", endpoint.TGI: "parameters"}[c.protocol()]
	if extra[name] == nil {
		return extra, nil, nil
	}
	if err := json.Unmarshal(extra[name], &sampling); err != nil {
		return nil, nil, usagef("--body: %s must be an object, not %.60q", name, extra[name])
	}
	fields = maps.Clone(extra)
	delete(fields, name)
	return fields, sampling, nil
}

// describeLengths are the lengths of random requests in words.
func (c *benchCmd) describeLengths(in, out string) string {
	switch p := c.protocol(); {
	case p == endpoint.Rerank:
		return fmt.Sprintf("query and %d × %s", c.Texts, in)
	case p.Silent() && c.Texts > 1:
		return fmt.Sprintf("%d × %s", c.Texts, in)
	case p.Silent():
		return in
	}
	return in + "→" + out
}

// isRoute tells whether a URL ends with the route of a protocol.
func isRoute(url string) (before string, ok bool) {
	for _, p := range endpoint.Protocols() {
		for _, route := range []string{p.Path(), p.PathOf(false)} {
			if before, ok := strings.CutSuffix(url, route); ok && strings.Contains(before, "://") {
				return before, true
			}
		}
	}
	return "", false
}

// route is where requests go.
func (c *benchCmd) route() string { return cmp.Or(c.Endpoint, c.protocol().PathOf(!c.NoStream)) }
