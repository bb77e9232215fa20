package dataset

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// Pictures and the prompts beside them, of the datasets image and mmmu.

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
		return r, fmt.Errorf("--image-resolution %s: bounds are random:HxW-HxW, e.g. random:256x256-1024x1024", text)
	}
	r.random = true
	if r.least, err = parseSize(least); err != nil {
		return r, err
	}
	if r.most, err = parseSize(most); err != nil {
		return r, err
	}
	if r.least.width > r.most.width || r.least.height > r.most.height {
		return r, fmt.Errorf("--image-resolution %s: the first bound is above the second", text)
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
		return size{}, fmt.Errorf("--image-resolution %s: must be 4k, 1080p, 720p, 360p or HEIGHTxWIDTH, e.g. 1080x1920", text)
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

// Backends that put a text beside pictures into the chat template themselves, and those
// that did not have to in January.
var (
	chats     = []string{"sglang-oai-chat", "vllm-chat", "lmdeploy-chat"}
	natives   = []string{"sglang", "sglang-native"}
	rawBefore = append([]string{"sglang", "sglang-oai", "vllm", "lmdeploy"}, chats...)
)

func checkImageBackend(form Form, backend string) error {
	if form == January || slices.Contains(chats, backend) || slices.Contains(natives, backend) {
		return nil
	}
	return fmt.Errorf("--backend %s cannot send pictures: take one of %s", backend, strings.Join(slices.Concat(natives, chats), ", "))
}

// raw reports whether a backend gets a text beside pictures as it is.
func (s *Source) raw(backend string) bool {
	if s.Form == January {
		return slices.Contains(rawBefore, backend)
	}
	return slices.Contains(chats, backend)
}

// put gives a request that has pictures its text, and counts that.
func (s *Source) put(ctx context.Context, r *workload.Request, text, backend string) error {
	r.Text = text
	if !s.raw(backend) {
		r.Text = s.besidePictures(text, len(r.Media))
	}
	if s.Tokenizer == nil {
		return nil
	}
	plain, err := s.render(userMessage(text))
	if err != nil {
		plain = text
	}
	ids, err := s.Tokenizer.Encode(ctx, plain, true)
	r.PromptTokens = len(ids)
	return err
}

// besidePictures is the text of a prompt with n pictures, each in its place as the chat
// template has it, or one <image> ahead of it all where the template does not know
// pictures.
func (s *Source) besidePictures(text string, n int) string {
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

// pictureNotes tell what is not known of prompts with pictures.
func (s *Source) pictureNotes(backend string) []string {
	notes := []string{"prompt lengths are of the text alone: how many tokens a picture is only the model's processor knows, and the server's usage tells"}
	if !s.raw(backend) && s.Vocabulary.Template == nil {
		notes = append(notes, "there is no chat template to put the pictures in their places: prompts begin with <image>, as the tool's do then")
	}
	return notes
}
