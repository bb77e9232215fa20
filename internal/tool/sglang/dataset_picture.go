package sglang

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// The images of the datasets image and mmmu, and their prompts.

// A size is of a picture, in pixels.
type size struct{ width, height int }

// A resolution is one size, or bounds of sizes that are drawn.
type resolution struct {
	least, most size
	random      bool
}

// maxSide is the limit of JPEG.
const maxSide = 65535

var presets = map[string]size{"4k": {3840, 2160}, "1080p": {1920, 1080}, "720p": {1280, 720}, "360p": {640, 360}}

// parseResolution reads 4k, 1080p, 720p, 360p, HEIGHTxWIDTH, or two of these bounds as
// random:LEAST-MOST.
func parseResolution(text string) (r resolution, err error) {
	bounds, random := strings.CutPrefix(strings.ToLower(strings.TrimSpace(text)), "random:")
	if !random {
		least, err := parseSize(text)
		return resolution{least: least, most: least}, err
	}
	least, most, ok := strings.Cut(bounds, "-")
	if !ok {
		return r, errors.New("bounds are random:HxW-HxW, e.g. random:256x256-1024x1024")
	}
	r.random = true
	if r.least, err = parseSize(least); err != nil {
		return r, err
	}
	if r.most, err = parseSize(most); err != nil {
		return r, err
	}
	if r.least.width > r.most.width || r.least.height > r.most.height {
		return r, errors.New("the first bound is above the second")
	}
	return r, nil
}

func parseSize(text string) (size, error) {
	if s, ok := presets[text]; ok {
		return s, nil
	}
	height, width, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), "x")
	h, errH := strconv.ParseUint(height, 10, 24)
	w, errW := strconv.ParseUint(width, 10, 24)
	if errH != nil || errW != nil || h == 0 || w == 0 {
		return size{}, errors.New("must be 4k, 1080p, 720p, 360p or HEIGHTxWIDTH, e.g. 1080x1920")
	}
	return size{int(w), int(h)}, nil
}

// encode makes a file of rows of RGB bytes: JPEG of quality 85 with 4:2:0 subsampling,
// as the tool's, or PNG.
func encode(rgb []byte, at size, format string) (workload.Media, error) {
	img := image.NewRGBA(image.Rect(0, 0, at.width, at.height))
	for i := range at.width * at.height {
		copy(img.Pix[4*i:], rgb[3*i:3*i+3])
		img.Pix[4*i+3] = 255
	}
	var buf bytes.Buffer
	var err error
	if strings.EqualFold(format, "png") {
		err = png.Encode(&buf, img)
	} else {
		err = jpeg.Encode(&buf, img, &jpeg.Options{Quality: 85})
	}
	if err != nil {
		return workload.Media{}, fmt.Errorf("encode a picture: %w", err)
	}
	return workload.Media{MIME: "image/" + format, Data: buf.Bytes()}, nil
}

// dataURI is how long a picture is as the text that it is sent as.
func dataURI(m workload.Media) int {
	return len("data:;base64,") + len(m.MIME) + base64.StdEncoding.EncodedLen(len(m.Data))
}

// A carrier says how pictures get to the server.
type carrier struct {
	// Backend is the tool's name of how requests are written; empty: as the protocol is.
	Backend string `json:"backend,omitempty" flag:"backend"`
}

// The backends that take images: those that get the text as it is, those that get it in the chat
// template of the tokenizer, and those that did not need the template in January.
var (
	chats     = []string{"sglang-oai-chat", "vllm-chat", "lmdeploy-chat", "chat"}
	natives   = []string{"sglang", "sglang-native", "generate"}
	rawBefore = append([]string{"sglang", "sglang-oai", "vllm", "lmdeploy", "completions", "generate"}, chats...)
)

func (c *carrier) check(version *common, ask workload.Ask) (p plan.Problems) {
	takes := version.Version == January || slices.Contains(append(chats, natives...), cmp.Or(c.Backend, ask.Protocol))
	p.If(!takes, "backend", cmp.Or(c.Backend, ask.Protocol), "cannot send pictures")
	p.Hint(!takes, "take one of %s", strings.Join(slices.Concat(natives[:2], chats[:3]), ", "))
	return p
}

// raw reports whether a backend gets the text with images as it is.
func (c *carrier) raw(s *source) bool {
	backends := chats
	if s.january {
		backends = rawBefore
	}
	return slices.Contains(backends, cmp.Or(c.Backend, s.Ask.Protocol))
}

// put gives a request that has pictures its text, and counts that.
func (c *carrier) put(ctx context.Context, s *source, r *workload.Request, text string) (err error) {
	r.Text = text
	if !c.raw(s) {
		r.Text = s.withPictures(text, len(r.Media))
	}
	if s.Tokens == nil {
		return nil
	}
	plain, err := s.render(userMessage(text))
	if err != nil {
		plain = text
	}
	r.PromptTokens, err = s.Count(ctx, plain)
	return err
}

// withPictures is the text of a prompt with n pictures, each in its place as the chat
// template has it, or one <image> ahead of it all where the template does not know
// pictures.
func (s *source) withPictures(text string, n int) string {
	type item struct {
		Type  string         `json:"type"`
		Image map[string]any `json:"image,omitempty"`
		Text  *string        `json:"text,omitempty"`
	}
	content := make([]item, n, n+1)
	for i := range content {
		content[i] = item{Type: "image", Image: map[string]any{"url": ""}}
	}
	content = append(content, item{Type: "text", Text: &text})
	if out, err := s.render(chat(message{"user", content})); err == nil {
		return out
	}
	return "<image>" + text
}

// pictureNotes are the notes on unknown lengths of prompts with images.
func (c *carrier) pictureNotes(s *source) []plan.Message {
	notes := []plan.Message{plan.Msg(textAlone)}
	if !c.raw(s) && s.Vocab.Template == nil {
		notes = append(notes, plan.Msg(picturesFirst))
	}
	return notes
}
