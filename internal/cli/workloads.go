package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/dist"
	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// files are what was read ahead of the run, so that what is wrong with it is told before
// anything is sent.
type files struct {
	rows    []traffic.Row // of a trace that are to be sent
	notes   []string      // on the others
	format  traffic.Format
	talks   []traffic.Talk
	lengths []traffic.Pair
}

// seed is that of the workload: of each part of a mix another, and of the warm-up.
func (c *benchCmd) seed() uint64 {
	seed := uint64(c.Seed) | c.partSeed
	if c.otherPrompts {
		seed |= 1 << 32 // beyond the seeds that can be asked for
	}
	return seed
}

// build draws or reads the requests.
func (c *benchCmd) build(ctx context.Context, s *session, tok tokens) (workload.Workload, error) {
	switch {
	case len(c.Mix) > 0:
		return c.buildMix(ctx, s, tok)
	case len(c.Tenants) > 0:
		return c.buildTenants(ctx, s, tok)
	}
	return c.buildOne(ctx, tok)
}

// buildOne builds a workload that has no parts.
func (c *benchCmd) buildOne(ctx context.Context, tok tokens) (workload.Workload, error) {
	if c.needsText() && tok.tok == nil && c.Workload != "custom" && !c.talking() {
		return workload.Workload{}, usagef("--protocol %s takes no token ids here, and nothing can turn them into text: name a tokenizer file with --tokenizer, or use --protocol completions", c.Protocol)
	}
	w, err := c.draw(ctx, tok)
	if err != nil {
		return w, err
	}
	return c.suit(w)
}

func (c *benchCmd) draw(ctx context.Context, tok tokens) (workload.Workload, error) {
	switch c.Workload {
	case "random":
		r := c.random()
		notes := c.drawLengths(&r)
		w, err := r.Build(ctx, tok.vocab, tok.tok)
		w.Notes = append(w.Notes, notes...)
		return w, err
	case "random-mm":
		r, err := c.randomMM()
		if err != nil {
			return workload.Workload{}, err
		}
		notes := c.drawLengths(&r.Random)
		w, err := r.Build(ctx, tok.vocab, tok.tok)
		w.Notes = append(w.Notes, notes...)
		return w, err
	case "trace", "chat", "agent":
		return c.buildPrompted(ctx, tok)
	case "conversations":
		w, err := c.talks().Build(ctx, c.files.talks, tok.tok)
		return w, named("--data", c.Data, err)
	}
	source := fileWorkload(c.custom())
	if c.Workload == "sharegpt" {
		source = c.shareGPT()
	}
	return buildFrom(ctx, "--data", c.Data, source, tok)
}

// drawLengths draws the lengths of a random workload where they have a distribution.
func (c *benchCmd) drawLengths(r *workload.Random) []string {
	if c.InputLen.count == nil && c.OutputLen.count == nil && c.Lengths == "" && c.Fit == 0 {
		return nil
	}
	l := c.lengths()
	if l.Fit > 0 {
		l.Fit = max(l.Fit-c.PrefixLen, 2)
	}
	pairs, notes := l.Draw(r.Requests, r.Seed)
	for i := range notes {
		if c.PrefixLen > 0 {
			notes[i] += fmt.Sprintf(", beside the prefix of %d", c.PrefixLen)
		}
	}
	for _, p := range pairs {
		r.Inputs, r.Outputs = append(r.Inputs, p.Input), append(r.Outputs, p.Output)
	}
	return notes
}

// lengths are where those of a workload that is drawn come from.
func (c *benchCmd) lengths() traffic.Lengths {
	return traffic.Lengths{Input: c.InputLen.law(), Output: c.OutputLen.law(), Seen: c.files.lengths, Fit: c.Fit}
}

// buildPrompted builds the workloads whose prompts are made up of words.
func (c *benchCmd) buildPrompted(ctx context.Context, tok tokens) (workload.Workload, error) {
	p, err := traffic.NewPrompter(ctx, tok.vocab, tok.tok, c.seed())
	if err != nil {
		return workload.Workload{}, err
	}
	if c.Workload != "trace" {
		return c.chat().Build(ctx, p)
	}
	r := traffic.Replay{Rows: c.files.rows, Block: c.BlockLen, Fit: c.Fit, IDPrefix: c.idPrefix, Spool: c.spool}
	if c.Requests > 0 { // fewer may be wanted than were read: of a part of a mix
		r.Rows = r.Rows[:min(len(r.Rows), c.Requests)]
	}
	w, err := r.Build(ctx, p)
	w.Notes = append(slices.Clone(c.files.notes), w.Notes...)
	return w, err
}

// chat is a workload of conversations that are drawn.
func (c *benchCmd) chat() traffic.Chat {
	turns, later, think := "uniform(2,6)", "64", "exponential(5s)"
	if c.Workload == "agent" {
		turns, later, think = "uniform(4,12)", "lognormal(300,1)", "lognormal(1s,1)"
	}
	return traffic.Chat{
		Conversations: c.Conversations, Requests: c.Requests, Turns: count(c.Turns, turns), First: c.lengths(), Later: count(c.TurnLen, later),
		Think: pause(c.Think, think), System: c.PrefixLen, Messages: c.protocol().TakesMessages(), Seed: c.seed(), IDPrefix: c.idPrefix,
		Spool: c.spool,
	}
}

// count is what was given, or else a distribution of ours.
func count(given *dist.Count, text string) dist.Count {
	c, _ := dist.ParseCount(text) // ours can be read
	return or(given, c)
}

func pause(given *dist.Duration, text string) dist.Duration {
	d, _ := dist.ParseDuration(text)
	return or(given, d)
}

func (c *benchCmd) talks() traffic.Talks {
	t := traffic.Talks{
		Conversations: c.Conversations, Requests: c.Requests, Recorded: c.History == "recorded", Messages: c.protocol().TakesMessages(),
		NeedTime: c.Replay == "data", Seed: c.seed(), IDPrefix: c.idPrefix,
	}
	if c.OutputLen.given() {
		t.Output = c.OutputLen.law()
	}
	if c.Think != nil {
		t.Think = *c.Think
	}
	return t
}

func (c *benchCmd) shareGPT() workload.ShareGPT {
	return workload.ShareGPT{
		Requests: c.Requests, Output: c.OutputLen.fixed, Seed: c.seed(), NoOversample: c.NoOversample, IDPrefix: c.idPrefix,
	}
}

func (c *benchCmd) custom() workload.Custom {
	return workload.Custom{
		Requests: c.Requests, Output: c.OutputLen.fixed, Shuffle: c.Shuffle, Seed: c.seed(), NoOversample: c.NoOversample,
		IDPrefix: c.idPrefix, NeedTime: c.Replay == "data",
	}
}

// read reads the files of a workload, and so finds what is wrong with them.
func (c *benchCmd) read() error {
	var errs []error
	if c.Lengths != "" {
		errs = append(errs, withFile("--lengths", c.Lengths, func(file io.Reader) (err error) {
			c.files.lengths, err = traffic.ReadLengths(file)
			return err
		}))
	}
	switch c.Workload {
	case "sharegpt":
		errs = append(errs, withFile("--data", c.Data, c.shareGPT().Check))
	case "custom":
		errs = append(errs, withFile("--data", c.Data, c.custom().Check))
	case "conversations":
		errs = append(errs, withFile("--data", c.Data, func(file io.Reader) (err error) {
			c.files.talks, err = traffic.ReadTalks(file)
			return err
		}))
	case "trace":
		errs = append(errs, withFile("--data", c.Data, c.readTrace))
	}
	return errors.Join(errs...)
}

func (c *benchCmd) readTrace(file io.Reader) error {
	t, err := traffic.ReadTrace(file, traffic.Format(c.TraceFormat))
	if err != nil {
		return err
	}
	c.files.format = t.Format
	c.files.rows, c.files.notes, err = t.Select(c.selection())
	return err
}

// selection is what is taken of a trace; checkWorkload has read the slice.
func (c *benchCmd) selection() traffic.Selection {
	s := traffic.Selection{Model: c.TraceModel, Kind: c.LogType, Share: c.Sample, Rows: c.Requests, Seed: c.seed()}
	if c.Slice != "" {
		s.Span, _ = traffic.ParseSpan(c.Slice)
	}
	return s
}

// describeWorkload says what a workload is, in words.
func (c *benchCmd) describeWorkload(n int) string {
	if parts := c.parts(); len(parts) > 0 {
		var texts []string
		for _, name := range slices.Sorted(maps.Keys(c.dealt)) {
			texts = append(texts, fmt.Sprintf("%s %d", name, c.dealt[name]))
		}
		what := "mix"
		if len(c.Tenants) > 0 {
			what = "tenants"
		}
		return fmt.Sprintf("%s of %s arrivals, %d requests", what, strings.Join(texts, ", "), n)
	}
	return fmt.Sprintf("%s, %d requests", c.describe(), n)
}

func (c *benchCmd) describe() string {
	out := c.OutputLen.describe(c.OutputRange)
	lengths := c.describeLengths(c.InputLen.describe(c.InputRange), out) + " tokens"
	first := c.InputLen.String()
	if c.Lengths != "" {
		first = "lengths of " + c.Lengths
		if lengths = first; c.files.lengths[0].Output == 0 {
			lengths += fmt.Sprintf("→%s tokens", out)
		}
	}
	prefix := ""
	if c.PrefixLen > 0 {
		prefix = fmt.Sprintf(", prefix %d", c.PrefixLen)
	}
	switch c.Workload {
	case "random":
		return fmt.Sprintf("random %s%s", lengths, prefix)
	case "random-mm":
		return fmt.Sprintf("random-mm %s, %d%s pictures of %s%s", lengths, c.Images, spread(c.ImageRange), c.ImageSizes, prefix)
	case "chat", "agent":
		chat := c.chat()
		return fmt.Sprintf("%s %s, then %v→%s tokens%s, %v turns, think %v", c.Workload, first, chat.Later, out, prefix, chat.Turns, chat.Think)
	case "trace":
		text := fmt.Sprintf("trace %s (%s)", c.Data, c.files.format)
		for _, part := range []struct{ what, value string }{{"", c.Slice}, {"model ", c.TraceModel}, {"log type ", c.LogType}} {
			if part.value != "" {
				text += ", " + part.what + part.value
			}
		}
		return text
	}
	return fmt.Sprintf("%s %s", c.Workload, c.Data)
}
