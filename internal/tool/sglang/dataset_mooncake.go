package sglang

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// A mooncake is the dataset mooncake: sessions at the times of a trace, with a prompt
// made up from the hashes of its blocks, so that sessions share what blocks they share.
type mooncake struct {
	common
	data
	Workload string  `json:"workload" flag:"mooncake-workload"` // of the traces that the tool keeps
	Rounds   int     `json:"rounds" flag:"mooncake-num-rounds"`
	Slowdown float64 `json:"slowdown" flag:"mooncake-slowdown-factor"`

	sessions []session
}

// mooncakeOutput is the output length of a line that tells none.
const mooncakeOutput = 256

func (d *mooncake) Check(*workload.Source) plan.Problems {
	p := d.check()
	p.If(d.Rounds < 1, "rounds", d.Rounds, "must be at least 1")
	p.If(!(d.Slowdown >= 0) || math.IsInf(d.Slowdown, 0), "slowdown", d.Slowdown, "must be finite and not negative")
	return p
}

// Read reads as many sessions as are wanted.
func (d *mooncake) Read(ctx context.Context, s *workload.Source) error {
	return d.read(ctx, s, datasetLocation{temp: d.Workload + "_trace.jsonl", lack: "name a trace of JSON Lines"}, func(f *file) (err error) {
		d.sessions, err = readSessions(f, wanted(s))
		return err
	})
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

// Build makes the requests of sessions. All rounds of one are due at its time, each with invented
// answers to the rounds before it.
func (d *mooncake) Build(ctx context.Context, from *workload.Source) (w workload.Workload, err error) {
	s := d.source(from)
	sessions := slices.Clone(d.sessions)
	if w.Warmup, err = sessions[0].warmup(ctx, s); err != nil {
		return w, err
	}
	slices.SortStableFunc(sessions, func(a, b session) int { return cmp.Compare(*a.Timestamp, *b.Timestamp) })
	w.Requests = make([]workload.Request, len(sessions)*d.Rounds)
	err = workload.Each(ctx, len(sessions), func(ctx context.Context, i int) error {
		rounds := w.Requests[i*d.Rounds : (i+1)*d.Rounds]
		at := d.at(*sessions[i].Timestamp - *sessions[0].Timestamp)
		for r := range rounds {
			rounds[r].At = at
		}
		return s.fill(ctx, sessions[i], rounds)
	})
	if err != nil {
		return w, err
	}
	w.Start = []string{
		"Using time-based Mooncake request scheduler, ignoring --request-rate.",
		fmt.Sprintf("Starting Mooncake trace replay. Sessions: %d, Rounds per session: %d. Slowdown factor: %s", len(sessions), d.Rounds, python.Float(d.Slowdown)),
	}
	w.Notes = d.notes(s)
	return s.finished(w), nil
}

func (d *mooncake) notes(s *source) []plan.Message {
	notes := short(len(d.sessions), wanted(s.Source))
	if s.Vocab.Template == nil {
		notes = append(notes, plan.Msg(asScript))
	}
	if s.Tokens == nil {
		notes = append(notes, plan.Msg(uncounted))
	}
	if fractions, length := d.times(); fractions || length < time.Second && len(d.sessions) > 1 && len(d.sessions) < wanted(s.Source) {
		notes = append(notes, plan.Msg(milliseconds, "fractions", fractions, "length", length))
	}
	return notes
}

// times reports whether some time is no integer of milliseconds, and the length from the first to
// the last.
func (d *mooncake) times() (fractions bool, length time.Duration) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range d.sessions {
		low, high = min(low, *l.Timestamp), max(high, *l.Timestamp)
		fractions = fractions || *l.Timestamp != math.Trunc(*l.Timestamp)
	}
	return fractions, time.Duration(math.Round(min(high-low, 1e12) * 1e6))
}

// at is when a session begins, so many milliseconds of the trace after the first.
func (d *mooncake) at(ms float64) time.Duration {
	return time.Duration(math.Round(ms / 1000 * d.Slowdown * 1e9))
}

func readSessions(f *file, most int) (sessions []session, err error) {
	err = rows.Lines(f, func(_ int, line []byte) error {
		if len(sessions) == most {
			return fs.SkipAll
		}
		l, err := readSession(line)
		sessions = append(sessions, l)
		return err
	})
	if err == nil && len(sessions) == 0 {
		err = errors.New("no sessions: the file is empty")
	}
	return sessions, err
}

func readSession(line []byte) (l session, err error) {
	if err := decode(line, &l); err != nil {
		return l, fmt.Errorf("not a JSON object of a session: %w", err)
	}
	switch {
	case l.Timestamp == nil:
		return l, errors.New(`field "timestamp" is missing`)
	case math.Abs(*l.Timestamp) > math.MaxInt64/1e9:
		return l, fmt.Errorf(`field "timestamp" is %v: must be in milliseconds`, *l.Timestamp)
	case l.output(0) < 0:
		return l, fmt.Errorf(`field "output_length" is %d: must not be negative`, *l.Output)
	}
	for i, id := range l.Hashes {
		text, err := python.Str(id)
		if err != nil {
			return l, fmt.Errorf(`field "hash_ids": %w`, err)
		}
		l.Hashes[i] = json.RawMessage(text)
	}
	return l, nil
}

func (s *source) fill(ctx context.Context, l session, rounds []workload.Request) (err error) {
	query := l.words(128) + "Tell me a story based on this context."
	output := l.output(mooncakeOutput)
	answer := strings.TrimSuffix(strings.Repeat("story ", output), " ")
	var history []message
	for i := range rounds {
		history = append(history, message{"user", "Round " + strconv.Itoa(i+1) + ": " + query})
		rounds[i].Text = s.script(history)
		rounds[i].OutputTokens = output
		if rounds[i].PromptTokens, err = s.Count(ctx, rounds[i].Text); err != nil {
			return err
		}
		if err := s.Spool.Spill(&rounds[i]); err != nil {
			return err
		}
		history = append(history, message{"assistant", answer})
	}
	return nil
}

// script is a history in the chat template, or where that cannot be had, by its roles.
func (s *source) script(history []message) string {
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
func (l session) warmup(ctx context.Context, s *source) ([]workload.Request, error) {
	r := workload.Request{
		Text:         l.words(512) + "Can you tell me a detailed story in 1000 words?",
		OutputTokens: l.output(32),
	}
	var err error
	r.PromptTokens, err = s.Count(ctx, r.Text)
	return []workload.Request{r}, err
}
