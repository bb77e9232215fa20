package vllm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A CustomImage takes prompts with pictures from JSON Lines of one of two forms:
//
//	{"prompt": "How many?", "image_files": ["a.png", "https://example.org/b.png"]}
//	{"content": [{"type": "text", "text": "See"}, {"type": "image", "image": "a.png"}]}
//
// A path becomes a file:// address, which the server reads; Inline fetches all
// pictures and sends them.
type CustomImage struct {
	file[imageLine]
	Output int  `json:"output_len" flag:"output-len,custom-output-len"`
	Inline bool `json:"inline,omitempty" flag:"custom-ensure-client-side-data"`
	Common
}

// An imageLine is a line, with the addresses of its pictures.
type imageLine struct {
	place    string
	text     string   // for the count
	pictures []string // of the first form
	parts    []part   // of the second
}

// A part is a text, or an image with settings in addition to its address.
type part struct {
	text        *string
	where       string
	otherFields map[string]json.RawMessage
}

// sent is the part as a member of the list.
func (p part) sent() any {
	if p.text != nil {
		return map[string]any{"type": "text", "text": *p.text}
	}
	picture := map[string]any{}
	for name, v := range p.otherFields {
		picture[name] = v
	}
	picture["url"] = p.where
	return map[string]any{"type": "image_url", "image_url": picture}
}

// Check reports all problems.
func (d *CustomImage) Check(s *workload.Source) plan.Problems {
	return append(d.file.Check(s), output(d.Output)...)
}

func (d *CustomImage) Read(_ context.Context, s *workload.Source) error {
	return d.read(s, linesBy(readImageLine))
}

func readImageLine(row rows.Row) (l imageLine, err error) {
	l.place = row.Place()
	has := func(name string) bool { return slices.Contains(row.Columns(), name) }
	switch {
	case has("content"):
		raw, err := row.JSON("content")
		if err != nil {
			return l, err
		}
		l.parts, l.text, err = contentParts(raw)
		return l, atPlace(l.place, err)
	case !has("prompt") || !has("image_files"):
		return l, fmt.Errorf("%s: must have prompt and image_files, or content", l.place)
	}
	if l.text, err = row.String("prompt"); err != nil {
		return l, err
	}
	if err := row.Decode("image_files", &l.pictures); err != nil {
		return l, err
	}
	if len(l.pictures) == 0 {
		return l, row.Errorf("image_files", "is empty: must name at least one picture")
	}
	for i, p := range l.pictures {
		l.pictures[i] = pictureAddress(p)
	}
	return l, nil
}

// contentParts are the parts of a message, and their text.
func contentParts(raw json.RawMessage) (parts []part, text string, err error) {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil || len(all) == 0 {
		return nil, "", errors.New(`column "content" must be a list of at least one part, each an object`)
	}
	for i, raw := range all {
		p, err := contentPart(raw)
		if err != nil {
			return nil, "", fmt.Errorf("part %d of content: %w", i+1, err)
		}
		if p.text != nil {
			text += *p.text
		}
		parts = append(parts, p)
	}
	return parts, text, nil
}

func contentPart(raw json.RawMessage) (part, error) {
	var p struct {
		Type     string          `json:"type"`
		Text     *string         `json:"text"`
		Image    *string         `json:"image"`
		ImageURL json.RawMessage `json:"image_url"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return part{}, errors.New("must be an object with a type, and texts in text and image")
	}
	switch {
	case p.Type == "text" && p.Text != nil:
		return part{text: p.Text}, nil
	case p.Type == "text":
		return part{}, errors.New(`of type text must have "text"`)
	case p.Type == "image" && p.Image != nil:
		return part{where: pictureAddress(*p.Image)}, nil
	case p.Type == "image":
		return part{}, errors.New(`of type image must have "image", a path or address`)
	case p.Type == "image_url":
		return imageURL(p.ImageURL)
	}
	return part{}, fmt.Errorf("type %q: must be text, image or image_url", p.Type)
}

// imageURL is a part of what stands in image_url: an address, or an object with one
// and other settings, which stay.
func imageURL(raw json.RawMessage) (p part, err error) {
	if json.Unmarshal(raw, &p.where) != nil || len(raw) == 0 || raw[0] != '"' {
		if json.Unmarshal(raw, &p.otherFields) != nil || json.Unmarshal(p.otherFields["url"], &p.where) != nil {
			return p, errors.New(`of type image_url must have "image_url", an address or an object with "url"`)
		}
	}
	p.where = pictureAddress(p.where)
	return p, nil
}

// Build makes requests of the lines.
func (d *CustomImage) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	w, err := inOrder(ctx, &d.Common, s, d.lines, d.request)
	if err != nil {
		return w, d.blame(err)
	}
	d.finish(&w, s)
	return w, nil
}

func (d *CustomImage) request(ctx context.Context, s *workload.Source, l imageLine) (r workload.Request, err error) {
	defer func() { err = atPlace(l.place, err) }()
	r.OutputTokens = d.Output
	if r.PromptTokens, err = s.Count(ctx, l.text); err != nil {
		return r, err
	}
	if l.parts != nil {
		r.Parts, err = d.parts(ctx, s, l.parts)
		return r, err
	}
	r.Text = l.text
	for _, where := range l.pictures {
		m := workload.Media{MIME: "image/*", URL: where}
		if d.Inline {
			if m, err = inlined(ctx, s, where); err != nil {
				return r, err
			}
		}
		r.Media = append(r.Media, m)
	}
	return r, nil
}

func (d *CustomImage) parts(ctx context.Context, s *workload.Source, all []part) (json.RawMessage, error) {
	sent := make([]any, len(all))
	for i, p := range all {
		if d.Inline && p.text == nil {
			m, err := inlined(ctx, s, p.where)
			if err != nil {
				return nil, err
			}
			p.where = m.Address()
		}
		sent[i] = p.sent()
	}
	return json.Marshal(sent)
}
