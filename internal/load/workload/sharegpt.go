package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/plan"
)

// ShareGPT takes conversations from a JSON file in the form of the ShareGPT dumps:
// the first turn is the prompt, and the length of the second is the output length.
// Selection and order are those of the vLLM benchmark's dataset "sharegpt".
type ShareGPT struct {
	Requests     int
	Output       int // instead of the length of the recorded answer; 0 = that length
	Seed         uint64
	NoShuffle    bool // keep the order of the file
	NoOversample bool
	IDPrefix     string
	Media        bool // send the image or video of a conversation; otherwise it is an error
}

// Limits of the vLLM benchmark on prompts and answers of a dataset, in tokens.
const (
	minTokens = 4
	maxPrompt = 1024
	maxTotal  = 2048
)

// Conversations are those of a ShareGPT dump that have two turns or more.
type Conversations []conversation

type conversation struct {
	Conversations []struct {
		Value string `json:"value"`
	} `json:"conversations"`
	Image json.RawMessage `json:"image"`
	Video json.RawMessage `json:"video"`
}

// Build shuffles conversations, in place, and takes the first that fit:
// prompt and answer of at least 4 tokens, a prompt of at most 1024, at most 2048 in
// total.
func (s ShareGPT) Build(ctx context.Context, talks Conversations, tok Tokenizer) (Workload, error) {
	if tok == nil {
		return Workload{}, errors.New("sharegpt selects conversations by length and needs a tokenizer")
	}
	rng := pyrand.NewRandom(int64(s.Seed))
	if !s.NoShuffle {
		rng.Shuffle(len(talks), func(i, j int) { talks[i], talks[j] = talks[j], talks[i] })
	}
	requests, err := s.choose(ctx, talks, tok)
	if err != nil {
		return Workload{}, err
	}
	if len(requests) == 0 {
		return Workload{}, fmt.Errorf("none of %d conversations has a prompt of %d to %d tokens and at most %d with its "+
			"answer", len(talks), minTokens, maxPrompt, maxTotal)
	}
	w := Workload{Requests: requests, Python: rng}
	w.Oversample(s.Requests, s.Seed, s.NoOversample, s.IDPrefix)
	return w, nil
}

// ReadConversations reads a dump.
func ReadConversations(file io.Reader) (Conversations, error) {
	var all Conversations
	dec := json.NewDecoder(file)
	if err := dec.Decode(&all); errors.Is(err, io.EOF) {
		return nil, errors.New("no conversations: the file is empty")
	} else if err != nil {
		return nil, fmt.Errorf("read a list of conversations, at byte %d: %w", dec.InputOffset(), rows.WrongType(err))
	}
	n := len(all)
	all = slices.DeleteFunc(all, func(c conversation) bool { return len(c.Conversations) < 2 })
	if len(all) == 0 {
		return nil, fmt.Errorf("no conversation of two turns among %d entries", n)
	}
	return all, nil
}

// choose tokenizes talks in order until enough fit.
func (s ShareGPT) choose(ctx context.Context, talks []conversation, tok Tokenizer) (chosen []Request, err error) {
	fits := func(ctx context.Context, i int) (*Request, error) { return s.request(ctx, talks[i], tok) }
	for r, err := range InOrder(ctx, len(talks), fits) {
		if err != nil {
			return nil, err
		}
		if r != nil {
			chosen = append(chosen, *r)
		}
		if len(chosen) >= s.Requests {
			break
		}
	}
	return chosen, nil
}

// request returns nil if the conversation does not fit.
func (s ShareGPT) request(ctx context.Context, c conversation, tok Tokenizer) (*Request, error) {
	media, err := c.media()
	if err != nil {
		return nil, err
	}
	if len(media) > 0 && !s.Media {
		return nil, errors.New("a conversation has an image or a video, where only text is sent: pitot vllm bench serve " +
			"--backend openai-chat sends it")
	}
	prompt, answer := c.Conversations[0].Value, c.Conversations[1].Value
	ids, err := tok.Encode(ctx, prompt, true)
	if err != nil {
		return nil, err
	}
	output := s.Output
	if output == 0 {
		recorded, err := tok.Encode(ctx, answer, true)
		if err != nil {
			return nil, err
		}
		output = len(recorded)
	}
	tooShort := len(ids) < minTokens || s.Output == 0 && output < minTokens
	if tooShort || len(ids) > maxPrompt || len(ids)+output > maxTotal {
		return nil, nil
	}
	return &Request{Text: prompt, Media: media, PromptTokens: len(ids), OutputTokens: output}, nil
}

// media is the image or else the video of a conversation: a URL stays, a path becomes a URL for the
// server to read.
func (c conversation) media() ([]Media, error) {
	field, m, prefixes := c.Image, Media{MIME: "image/*"}, []string{"http://", "https://", "file://", "data:image/"}
	if !holds(field) {
		field, m, prefixes = c.Video, Media{MIME: "video/*"}, prefixes[:3]
	}
	if !holds(field) {
		return nil, nil
	}
	if err := json.Unmarshal(field, &m.URL); err != nil {
		return nil, fmt.Errorf("an image or video of a conversation must be a path or an address in text: %w",
			rows.WrongType(err))
	}
	if !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(m.URL, prefix) }) {
		m.URL = "file://" + m.URL
	}
	return []Media{m}, nil
}

// holds reports whether a field is true in Python's sense.
func holds(field json.RawMessage) bool {
	return !slices.Contains([]string{"", "null", `""`, "[]", "{}", "false", "0"}, string(field))
}

// Oversample adds copies until there are n requests, like the vLLM benchmark if a
// file has fewer, and numbers all of them.
func (w *Workload) Oversample(n int, seed uint64, noOversample bool, prefix string) {
	have := w.All().N
	Note(&w.Notes, noOversample && have < n && n < plan.MaxRequests, FileShort, "have", have, "asked", n)
	if !noOversample && have < n {
		w.Python = pyrand.NewRandom(int64(seed)) // that benchmark reseeds here
		w.repeat(have, n)
		w.Notes = append(w.Notes, plan.Msg(Oversampled, "have", have, "copies", n-have, "asked", n))
	}
	w.Amend(func(i int, r *Request) { r.ID = prefix + strconv.Itoa(i) })
}

// repeat adds copies to have requests up to n, each by random.choice.
func (w *Workload) repeat(have, n int) {
	if w.List != nil {
		positions := consecutive(n)
		for i := have; i < n; i++ {
			positions[i] = int32(w.Python.Below(have))
		}
		all := w.List.Pick(positions)
		w.List = &all
		return
	}
	for len(w.Requests) < n {
		w.Requests = append(w.Requests, w.Requests[w.Python.Below(have)])
	}
}
