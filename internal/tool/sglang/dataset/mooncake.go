package dataset

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// Mooncake is the dataset mooncake: sessions at the times of a trace, with a prompt
// made up from the hashes of its blocks, so that sessions share what blocks they share.
type Mooncake struct {
	File     *File   // --dataset-path
	Requests int     // --num-prompts: sessions, at most
	Rounds   int     // --mooncake-num-rounds
	Slowdown float64 // --mooncake-slowdown-factor
}

// mooncakeOutput is the output length of a line that tells none.
const mooncakeOutput = 256

// Validate reports everything wrong with d at once.
func (d Mooncake) Validate() error {
	errs := []error{atLeast("--num-prompts", d.Requests, 1), atLeast("--mooncake-num-rounds", d.Rounds, 1)}
	if !(d.Slowdown >= 0) || math.IsInf(d.Slowdown, 0) {
		errs = append(errs, fmt.Errorf("--mooncake-slowdown-factor %v: must be finite and not negative", d.Slowdown))
	}
	return errors.Join(errs...)
}

// A session is a line of the trace.
type session struct {
	Timestamp *float64          `json:"timestamp"` // milliseconds
	Hashes    []json.RawMessage `json:"hash_ids"`
	Output    *int              `json:"output_length"`
}

func (l session) output(otherwise int) int {
	if l.Output == nil {
		return otherwise
	}
	return *l.Output
}

// words is the text of the blocks: each id, then as many times "hi".
func (l session) words(each int) string {
	var b strings.Builder
	hi := strings.TrimSuffix(strings.Repeat("hi ", each), " ")
	for _, id := range l.Hashes {
		b.Write(id)
		b.WriteString(hi)
	}
	return b.String()
}

// Build reads the sessions. All rounds of one are due at its time, each with what the
// rounds before it are made up to have said.
func (d Mooncake) Build(ctx context.Context, s *Source) (Built, error) {
	if err := d.Validate(); err != nil {
		return Built{}, err
	}
	if d.File == nil {
		return Built{}, errNoFile("mooncake", "a trace of JSON Lines")
	}
	sessions, err := d.read()
	if err != nil {
		return Built{}, err
	}
	b := Built{Timed: true, Warmup: sessions[0].warmup()}
	slices.SortStableFunc(sessions, func(a, b session) int { return cmp.Compare(*a.Timestamp, *b.Timestamp) })
	b.Requests = make([]workload.Request, len(sessions)*d.Rounds)
	err = workload.Each(ctx, len(sessions), func(ctx context.Context, i int) error {
		rounds := b.Requests[i*d.Rounds : (i+1)*d.Rounds]
		at := d.at(*sessions[i].Timestamp - *sessions[0].Timestamp)
		for r := range rounds {
			rounds[r].At = at
		}
		return d.fill(ctx, s, sessions[i], rounds)
	})
	if err != nil {
		return Built{}, err
	}
	b.Start = []string{
		"Using time-based Mooncake request scheduler, ignoring --request-rate.",
		fmt.Sprintf("Starting Mooncake trace replay. Sessions: %d, Rounds per session: %d. Slowdown factor: %s", len(sessions), d.Rounds, pythonFloat(d.Slowdown)),
	}
	b.Notes = d.notes(s, len(sessions))
	return b, s.countWarmup(ctx, b.Warmup)
}

func (d Mooncake) notes(s *Source, sessions int) (notes []string) {
	if sessions < d.Requests {
		notes = append(notes, fmt.Sprintf("%s gives %d sessions of the %d asked for", d.File.Name, sessions, d.Requests))
	}
	if s.Vocabulary.Template == nil {
		notes = append(notes, "the tokenizer has no chat template: the messages of a session are written out by their roles, as the tool does then")
	}
	if s.Tokenizer == nil {
		notes = append(notes, "prompt lengths are not known before the server tells them")
	}
	return notes
}

// at is when a session begins, so many milliseconds of the trace after the first.
func (d Mooncake) at(ms float64) time.Duration {
	return time.Duration(math.Round(ms / 1000 * d.Slowdown * 1e9))
}

func (d Mooncake) read() (sessions []session, err error) {
	err = d.File.lines(func(line []byte) (bool, error) {
		if len(sessions) == d.Requests {
			return false, nil
		}
		var l session
		if err := decode(line, &l); err != nil {
			return false, fmt.Errorf("not a JSON object of a session: %w", err)
		}
		switch {
		case l.Timestamp == nil:
			return false, errors.New(`field "timestamp" is missing`)
		case math.Abs(*l.Timestamp) > math.MaxInt64/1e9:
			return false, fmt.Errorf(`field "timestamp" is %v: must be in milliseconds`, *l.Timestamp)
		case l.output(0) < 0:
			return false, fmt.Errorf(`field "output_length" is %d: must not be negative`, *l.Output)
		}
		for i, id := range l.Hashes {
			text, err := pythonStr(id)
			if err != nil {
				return false, fmt.Errorf(`field "hash_ids": %w`, err)
			}
			l.Hashes[i] = json.RawMessage(text)
		}
		sessions = append(sessions, l)
		return true, nil
	})
	if err == nil && len(sessions) == 0 {
		err = d.File.in(errors.New("no sessions: the file is empty"))
	}
	return sessions, err
}

// fill makes the prompts of a session's rounds.
func (d Mooncake) fill(ctx context.Context, s *Source, l session, rounds []workload.Request) error {
	query := l.words(128) + "Tell me a story based on this context."
	output := l.output(mooncakeOutput)
	answer := strings.TrimSuffix(strings.Repeat("story ", output), " ")
	var history []message
	for i := range rounds {
		history = append(history, message{"user", "Round " + strconv.Itoa(i+1) + ": " + query})
		rounds[i].Text = s.script(history)
		rounds[i].OutputTokens = output
		if s.Tokenizer != nil {
			ids, err := s.Tokenizer.Encode(ctx, rounds[i].Text, true)
			if err != nil {
				return err
			}
			rounds[i].PromptTokens = len(ids)
		}
		if err := s.Spool.Keep(&rounds[i]); err != nil {
			return err
		}
		history = append(history, message{"assistant", answer})
	}
	return nil
}

// script is a history in the chat template, or where that cannot be had, by its roles.
func (s *Source) script(history []message) string {
	if text, err := s.render(chat(history...)); err == nil {
		return text
	}
	lines := make([]string, len(history))
	for i, m := range history {
		lines[i] = fmt.Sprintf("%s: %s", m.Role, m.Content)
	}
	return strings.Join(lines, "\n")
}

// warmup is the request that the tool warms up with: of the first line of the file.
func (l session) warmup() *workload.Request {
	return &workload.Request{
		Text:         l.words(512) + "Can you tell me a detailed story in 1000 words?",
		OutputTokens: l.output(32),
	}
}

func (s *Source) countWarmup(ctx context.Context, r *workload.Request) error {
	if s.Tokenizer == nil {
		return nil
	}
	ids, err := s.Tokenizer.Encode(ctx, r.Text, true)
	r.PromptTokens = len(ids)
	return err
}
