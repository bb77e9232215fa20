package apiserver

import (
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// A request is what a client asked for, as the model reads it.
type request struct {
	*phrase.Request                // once it is known to be served, its Model is never empty
	prompt          []int32        // text tokens
	more            [][]int32      // further texts, where several are pooled
	images          []engine.Image // and sounds
	seconds         float64        // of the sound to be transcribed
}

// taskTokens is how many tokens tell a model of speech the language and what to do.
const taskTokens = 4

// take turns the prompt of a request into tokens and its media into counts of them,
// and lets go of the body. A request that was refused stays so, unless something that
// is looked at here is wrong too.
func (v *vocabulary) take(asked *phrase.Request, refused *phrase.Error) (*request, *phrase.Error) {
	req := &request{Request: asked}
	if asked.Unserved != nil {
		return req, asked.Unserved
	}
	for _, m := range asked.Media {
		if err := req.look(m); err != nil {
			return req, phrase.BadRequest("", nil, "%s%v", m.Place, err)
		}
	}
	if refused != nil {
		return req, refused
	}
	switch {
	case asked.Protocol.Form:
		req.prompt = make([]int32, taskTokens)
	case asked.Texts != nil:
		texts := v.texts(asked.Texts)
		req.prompt, req.more = texts[0], texts[1:]
	default:
		req.prompt = v.tokens(asked.Prompt)
	}
	asked.Prompt, asked.Media = phrase.Prompt{}, nil
	beyond := asked.EndID >= v.size() && asked.EndID <= math.MaxInt32
	asked.IgnoreEOS = asked.IgnoreEOS || beyond // a token that is not in the vocabulary never comes
	return req, nil
}

// look counts the tokens of a picture or a sound.
func (r *request) look(m phrase.Media) (err error) {
	var media engine.Image
	if m.Sound != nil {
		media, r.seconds = readSound(m.Sound)
	} else {
		media, err = readImage(m.URL)
	}
	r.images = append(r.images, media)
	return err
}

func (r *request) promptTokens() int {
	n := len(r.prompt)
	for _, i := range r.images {
		n += i.Tokens
	}
	return n
}

// tokens are those of a prompt.
func (v *vocabulary) tokens(p phrase.Prompt) []int32 {
	switch {
	case p.Messages != nil:
		return v.encoded(render(p.Messages, true))
	case p.IDs != nil:
		return p.IDs
	}
	return v.encoded(p.Text)
}

// encoded are the tokens of a text.
func (v *vocabulary) encoded(text string) []int32 {
	return v.encode(make([]int32, 0, mostTokens(text)), text)
}

// texts are those that are pooled; of a rerank, the query with each of the documents.
func (v *vocabulary) texts(t *phrase.Texts) (texts [][]int32) {
	for _, p := range t.Inputs {
		texts = append(texts, v.tokens(p))
	}
	query := v.encode(nil, t.Query)
	for _, document := range t.Documents {
		texts = append(texts, v.encode(slices.Clone(query), document))
	}
	t.Inputs = nil
	return texts
}

// opening begins an answer.
const opening = "assistant:"

// render makes the text of a chat, with the opening of the answer if asked for:
//
//	user: What is in this picture?
//	assistant: A pitot tube.
//	user: And behind it?
//	assistant:
//
// There are no special tokens; an image adds tokens but no text.
func render(messages []phrase.Message, opens bool) string {
	const marks = len(": \n")
	size := len(opening)
	for _, m := range messages {
		size += len(m.Role) + len(m.Text) + marks
	}
	var b strings.Builder
	b.Grow(size)
	for _, m := range messages {
		b.WriteString(m.Role)
		b.WriteString(": ")
		b.WriteString(m.Text)
		b.WriteByte('\n')
	}
	if opens {
		b.WriteString(opening)
	}
	return b.String()
}
