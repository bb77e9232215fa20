package apiserver

import (
	"errors"
	"slices"
	"sync"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// An Admission is a Server's way of taking requests in, without the server: what
// the engine has to do for each, or in which words it is refused. It is safe for
// concurrent use.
type Admission struct {
	cfg     Config
	vocab   *vocabulary
	prompts sync.Pool // of *[]int32, for prompts without another owner
}

// NewAdmission is the intake of a server of this configuration.
func NewAdmission(cfg Config) (*Admission, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Admission{cfg: cfg.withDefaults(), vocab: toy()}, nil
}

// Model is the name of the model served.
func (in *Admission) Model() string { return in.cfg.Model }

// Models are the names that requests can give: the model's, and those of its
// adapters.
func (in *Admission) Models() []string { return append([]string{in.cfg.Model}, in.cfg.Adapters...) }

// Encode gives the token ids of text.
func (in *Admission) Encode(text string) []int32 {
	return in.vocab.encoded(text)
}

// mostTokens is how many tokens a text has, or some more: few have less than 2.5 bytes a token.
func mostTokens(text string) int { return len(text)*2/5 + 8 }

// Decode gives the text of token ids. Bytes that make no UTF-8 come out as
// U+FFFD.
func (in *Admission) Decode(ids []int32) (string, error) {
	text, unknown := in.vocab.known(ids)
	if unknown != nil {
		return "", errors.New(unknown.Message)
	}
	return text, nil
}

// A Admitted request is what the server makes of one.
type Admitted struct {
	Job     engine.Job // without its ID
	Finish  string     // the finish reason of its answer
	Status  int        // of a refusal, 0 for none
	Refused []byte     // the body of a refusal

	answer answer
}

// Text is the visible text of the answer, empty for a refusal.
func (t Admitted) Text() string {
	if t.Status != 0 {
		return ""
	}
	return string(t.answer.appendText(nil, t.Job.OutputTokens))
}

// Blank reports whether the answer has no visible text.
func (t Admitted) Blank() bool { return t.Status == 0 && t.answer.visible == 0 }

// Mark are the marks and the defects of the answer; open says that its length was left to the model.
func (t Admitted) Mark(m *trace.Marker, open bool) (trace.Marks, trace.Defects) {
	if t.Status != 0 {
		return "", 0
	}
	var a trace.Answer
	a.Begin(m)
	for range t.Job.OutputTokens {
		a.AddString(trace.VisiblePart, t.answer.Next())
	}
	return a.End(t.Finish == "length", open)
}

// Body takes the body of a request over a protocol, by its name.
func (in *Admission) Body(body []byte, protocol string) Admitted {
	return in.admit(in.vocab.take(phrase.Read(phrase.Named(protocol).Routes[0], phrase.JSON, body)))
}

// Tokens takes a completion of token ids, of maxTokens at most, in place of
// Body: a body of many ids takes long to read.
func (in *Admission) Tokens(prompt []int32, maxTokens int, ignoreEOS bool) Admitted {
	asked := &phrase.Request{Protocol: phrase.Completions, MaxTokens: maxTokens, IgnoreEOS: ignoreEOS}
	return in.admit(&request{Request: asked, prompt: prompt}, nil)
}

// Text is Tokens for a prompt of text, which must be valid UTF-8 and not empty.
func (in *Admission) Text(prompt string, maxTokens int, ignoreEOS bool) Admitted {
	if in.cfg.looksAtPrompts() {
		return in.Tokens(in.Encode(prompt), maxTokens, ignoreEOS)
	}
	ids, _ := in.prompts.Get().(*[]int32)
	if ids == nil {
		ids = new([]int32)
	}
	defer in.prompts.Put(ids)
	*ids = in.vocab.encode(slices.Grow((*ids)[:0], mostTokens(prompt)), prompt)
	return in.Tokens(*ids, maxTokens, ignoreEOS)
}

func (in *Admission) admit(req *request, refused *phrase.Error) Admitted {
	if refused == nil && !in.cfg.serves(req.Model) {
		refused = req.UnknownModel()
	}
	var a phrase.Answer
	if refused == nil {
		a, refused = in.cfg.fit(req)
	}
	if refused != nil {
		return Admitted{Status: refused.Code, Refused: refused.Body()}
	}
	text := in.cfg.compose(in.vocab, req, &a)
	return Admitted{Job: in.cfg.job(req, &a), Finish: a.Finish, answer: text}
}
