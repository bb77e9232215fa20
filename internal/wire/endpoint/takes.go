package endpoint

import (
	"errors"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// inputKinds are the inputs of a protocol other than text.
type inputKinds uint

const (
	tokenIDs   inputKinds = 1 << iota // a prompt of token ids
	messages                          // a chat
	parts                             // the typed parts of a message, as OpenAI has them
	pictures                          // with a text
	otherMedia                        // video and sound
	batch                             // several texts
	pairs                             // the texts must be a query and documents
	oneSound                          // a sound, by its content, must be there
)

// check says what of a request is not taken.
func (t inputKinds) check(req *workload.Request) error {
	switch {
	case t&pairs != 0 && len(req.Batch) < 2:
		return errors.New("it holds no query with documents, which this protocol is about")
	case t&oneSound != 0 && (len(req.Media) != 1 ||
		req.Later == nil && (mediaKind(req.Media[0]) != "audio" || len(req.Media[0].Data) == 0)):
		return errors.New("it holds no sound, by content, which this protocol is about")
	case req.Tokens != nil && t&tokenIDs == 0:
		return unsupportedInput("a prompt of token ids", tokenIDs)
	case req.Messages != nil && t&messages == 0:
		return unsupportedInput("a list of messages", messages)
	case req.Parts != nil && t&parts == 0:
		return unsupportedInput("the typed parts of a message", parts)
	case req.Batch != nil && t&batch == 0:
		return unsupportedInput("a list of texts", batch)
	}
	return t.checkMedia(req.Media)
}

func (t inputKinds) checkMedia(media []workload.Media) error {
	for _, m := range media {
		switch kind := mediaKind(m); {
		case kind == "image" && t&(pictures|oneSound) == 0:
			return unsupportedInput("a picture", pictures)
		case kind != "image" && t&otherMedia == 0:
			return unsupportedInput("a "+kind, otherMedia)
		}
	}
	return nil
}

// unsupportedInput names an input that a protocol does not take, and the protocols that take it.
func unsupportedInput(what string, by inputKinds) error {
	var able []string
	for p, g := range grammars {
		if g.takes&by != 0 && g.takes&oneSound == 0 {
			able = append(able, string(p))
		}
	}
	slices.Sort(able)
	return errors.New("it holds " + what + ", which only these protocols can say: " + strings.Join(able, ", "))
}
