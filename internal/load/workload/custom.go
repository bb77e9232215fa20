package workload

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Custom takes requests from a JSON Lines file, one object a line:
//
//	{"prompt": "text or a list of token ids", "output_tokens": 100, "timestamp": 1.25}
//	{"messages": [{"role": "user", "content": "hello"}]}
//	{"texts": ["to embed", "several"]}
//	{"query": "to rank", "documents": ["what", "is there"]}
//	{"audio": "audio in base64, or a data: URL"}
//
// One of these is required. output_tokens is the wanted length, timestamp the time
// of a replay in seconds. A line with a grader, by its field grade or by Grade, is a
// question: answer is the right one, choices a list or number of letters, id a name for
// it. Other fields are ignored.
type Custom struct {
	Requests     int // 0 = every line
	Output       int // for every request; 0 = the output_tokens of its line, which are then required
	Shuffle      bool
	Seed         uint64
	NoOversample bool
	IDPrefix     string
	NeedTime     bool // every line must have a timestamp
	// Grade is the name of the grader of lines that name none; empty: they are not graded.
	Grade string
}

type customLine struct {
	Prompt       json.RawMessage `json:"prompt"`
	Messages     json.RawMessage `json:"messages"`
	Texts        json.RawMessage `json:"texts"`
	Query        *string         `json:"query"`
	Documents    json.RawMessage `json:"documents"`
	Audio        *string         `json:"audio"`
	OutputTokens *float64        `json:"output_tokens"`
	Timestamp    *float64        `json:"timestamp"`
	lineQuestion
}

// Build makes a workload of the requests of a file. tok counts prompt
// tokens; without one they stay unknown until the server reports its usage.
func (c Custom) Build(ctx context.Context, p *Pack, tok Tokenizer) (Workload, error) {
	rng, order := pyrand.NewRandom(int64(c.Seed)), consecutive(p.size())
	if c.Shuffle {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	n := c.Requests
	if n <= 0 {
		n = len(order)
	}
	order = order[:min(n, len(order))]
	if tok != nil {
		err := Each(ctx, len(order), func(ctx context.Context, i int) error { return p.count(ctx, int(order[i]), tok) })
		if err != nil {
			return Workload{}, err
		}
	}
	if n > len(order) && p.asks {
		return Workload{}, fmt.Errorf("graded questions are asked once each, and the file has %d: %d requests are too many", len(order), n)
	}
	w := p.workload(order)
	w.Python = rng
	w.Oversample(n, c.Seed, c.NoOversample, c.IDPrefix)
	return w, nil
}

// Read parses every line into p, and reports the first few that are wrong.
func (c Custom) Read(file io.Reader, p *Pack) (*Pack, error) {
	var full error // the spool
	endless := 0
	err := rows.Lines(file, func(n int, line []byte) error {
		r, err := c.line(line)
		if errors.Is(err, errNoLength) {
			endless, err = cmp.Or(endless, n), nil
		}
		if err == nil && endless == 0 && full == nil {
			full = p.add(r)
		}
		return err
	})
	if err == nil && endless > 0 {
		why := fmt.Sprintf("is needed, as line %d of the file has no field \"output_tokens\" for the length of its answer", endless)
		return nil, plan.Problems{{Path: "output_len", Why: why}}
	}
	if err == nil && full == nil && p.size() == 0 {
		err = errors.New("no requests: the file is empty")
	}
	return p, errors.Join(err, full)
}

func (c Custom) line(b []byte) (Request, error) {
	var l customLine
	if err := json.Unmarshal(b, &l); err != nil {
		return Request{}, fmt.Errorf("not a JSON object of a request: %w", rows.WrongType(err))
	}
	r := Request{OutputTokens: c.Output}
	if err := l.prompt(&r); err != nil {
		return Request{}, err
	}
	if c.Output == 0 && (l.OutputTokens != nil || r.Batch == nil && r.Media == nil) {
		var err error
		if r.OutputTokens, err = l.outputTokens(); err != nil {
			return r, err
		}
	}
	var err error
	if r.Question, err = l.question(c.Grade); err != nil {
		return r, err
	}
	return r, l.time(&r, c.NeedTime)
}

func (l customLine) prompt(r *Request) error {
	switch {
	case l.Texts != nil || l.Query != nil || l.Documents != nil:
		return l.texts(r)
	case l.Audio != nil:
		return l.audio(r)
	case len(l.Prompt) == 0 && len(l.Messages) == 0:
		return errNoPrompt
	case len(l.Prompt) == 0:
		var list []map[string]json.RawMessage
		if err := json.Unmarshal(l.Messages, &list); err != nil || len(list) == 0 {
			return errors.New(`field "messages" must be a list of at least one message`)
		}
		r.Messages = bytes.Clone(l.Messages)
		return nil
	case isText(l.Prompt, &r.Text):
		return nil
	case json.Unmarshal(l.Prompt, &r.Tokens) == nil && len(r.Tokens) > 0:
		r.PromptTokens = len(r.Tokens)
		return nil
	}
	return errors.New(`field "prompt" must be a string or a list of token ids`)
}

var (
	errNoPrompt = errors.New(`field "prompt" is missing`)
	errNoLength = errors.New(`field "output_tokens" is missing`)
)

// isText reads field into text if it is a string.
func isText(field json.RawMessage, text *string) bool {
	return json.Unmarshal(field, text) == nil && !bytes.Equal(field, []byte("null"))
}

func (l customLine) outputTokens() (int, error) {
	n := l.OutputTokens
	if n == nil {
		return 0, errNoLength
	}
	if *n < 1 || *n != math.Trunc(*n) || *n > math.MaxInt32 {
		return 0, fmt.Errorf(`field "output_tokens" is %v: must be a whole number of at least 1`, *n)
	}
	return int(*n), nil
}

func (l customLine) time(r *Request, need bool) error {
	switch {
	case l.Timestamp == nil && need:
		return errors.New(`field "timestamp" is missing, and the arrivals are to follow it`)
	case l.Timestamp == nil:
		return nil
	case math.Abs(*l.Timestamp) > math.MaxInt64/1e9:
		return fmt.Errorf(`field "timestamp" is %v: must be in seconds`, *l.Timestamp)
	}
	r.At = time.Duration(math.Round(*l.Timestamp * 1e9))
	return nil
}

// count fills in the prompt tokens of request i if it is text.
func (p *Pack) count(ctx context.Context, i int, tok Tokenizer) error {
	var r *Request
	if p.index == nil {
		r = &p.here[i]
	} else {
		r = p.request(i)
	}
	n, err := countText(ctx, r, tok)
	switch {
	case p.index == nil || p.index[i].own != nil:
		r.PromptTokens += n
	default:
		p.index[i].prompt += int32(n)
	}
	return err
}

// countText is the number of tokens of the texts of a request, 0 if it has none.
func countText(ctx context.Context, r *Request, tok Tokenizer) (n int, err error) {
	if r.Tokens != nil || r.Messages != nil {
		return 0, nil
	}
	whole, err := r.Unspooled()
	if err != nil || whole.Text == "" && whole.Media != nil {
		return 0, err
	}
	texts := whole.Batch
	if texts == nil {
		texts = []string{whole.Text}
	}
	for _, text := range texts {
		ids, err := tok.Encode(ctx, text, true)
		if err != nil {
			return n, err
		}
		n += len(ids)
	}
	return n, nil
}
