package sglangdata

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/pitot-bench/pitot/internal/workload"
)

// Image is the dataset image: text of random ids with pictures of noise. The pixels
// are the tool's; the bytes of the files are not, since the encoders differ.
type Image struct {
	Requests    int     // --num-prompts
	Count       int     // --image-count
	RandomCount bool    // --random-image-count: 1 to Count
	Input       int     // --random-input-len
	Output      int     // --random-output-len
	Ratio       float64 // --random-range-ratio
	Content     string  // --image-content: blank, or noise
	Format      string  // --image-format
	Resolution  string  // --image-resolution
	Backend     string  // --backend
	// Pad is the id that stands for a picture in a prompt, which texts never contain;
	// nil if not known.
	Pad *int32
}

// Validate reports everything wrong with d at once.
func (d Image) Validate() error {
	errs := []error{
		atLeast("--num-prompts", d.Requests, 1),
		atLeast("--image-count", d.Count, 1),
		atLeast("--random-input-len", d.Input, 0),
		atLeast("--random-output-len", d.Output, 0),
		checkRatio("--random-range-ratio", d.Ratio),
	}
	if format := strings.ToLower(d.Format); format != "jpeg" && format != "png" {
		errs = append(errs, fmt.Errorf("--image-format %q: must be jpeg or png", d.Format))
	}
	sizes, err := parseResolution(d.Resolution)
	if err == nil && strings.EqualFold(d.Format, "jpeg") && max(sizes.most.width, sizes.most.height) > maxSide {
		err = fmt.Errorf("--image-resolution %s: a JPEG has at most %d pixels each way", d.Resolution, maxSide)
	}
	return errors.Join(append(errs, err)...)
}

// pictures is an Image in the making.
type pictures struct {
	Image
	s      *Source
	sizes  resolution
	counts []int
	drawn  []size // of every picture
}

// encodersAtOnce bounds the pictures held as pixels.
const encodersAtOnce = 16

// Build draws counts and lengths, then request by request text and pixels.
func (d Image) Build(ctx context.Context, s *Source) (Built, error) {
	if err := d.Validate(); err != nil {
		return Built{}, err
	}
	if err := s.needTokenizer("the dataset image needs texts"); err != nil {
		return Built{}, err
	}
	if err := checkImageBackend(s.Form, d.Backend); err != nil {
		return Built{}, err
	}
	p := &pictures{Image: d, s: s, counts: make([]int, d.Requests)}
	p.sizes, _ = parseResolution(d.Resolution)
	for i := range p.counts {
		p.counts[i] = d.Count
		if d.RandomCount {
			p.counts[i] = int(s.Numpy.Randint(1, int64(d.Count)+1))
		}
	}
	inputs := s.lengths(d.Input, d.Ratio, d.Requests)
	outputs := s.lengths(d.Output, d.Ratio, d.Requests)
	b := Built{Workload: workload.Workload{Requests: make([]workload.Request, d.Requests)}}
	for i := range b.Requests {
		b.Requests[i].OutputTokens = outputs[i]
	}
	texts, err := p.texts(ctx, inputs)
	if err != nil {
		return Built{}, err
	}
	if err := p.pictures(ctx, b.Requests); err != nil {
		return Built{}, err
	}
	if err := s.put(ctx, b.Requests, texts, d.Backend); err != nil {
		return Built{}, err
	}
	b.Lines = p.lines(b.Requests, inputs)
	b.Notes = slices.Concat(p.notes(), s.pictureNotes(d.Backend))
	return b, nil
}

// texts draws the texts of all requests: no other draw is of the same generator.
func (p *pictures) texts(ctx context.Context, lengths []int) ([]string, error) {
	all, err := p.s.everyID()
	if err != nil {
		return nil, err
	}
	if p.s.Form == Main {
		all = without(all, p.s.Vocabulary.Special...)
	}
	if p.Pad != nil {
		all = without(all, *p.Pad)
	}
	parts := p.s.parts(all, lengths)
	if err := p.s.spell(ctx, parts); err != nil {
		return nil, err
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = part.text
	}
	return texts, nil
}

// pictures draws the pictures of all requests in order and encodes them beside that.
func (p *pictures) pictures(ctx context.Context, requests []workload.Request) error {
	encoders, ctx := errgroup.WithContext(ctx)
	encoders.SetLimit(encodersAtOnce)
	for i := range requests {
		requests[i].Media = make([]workload.Media, p.counts[i])
		for j := range requests[i].Media {
			if ctx.Err() != nil {
				break
			}
			size, rgb := p.draw()
			encoders.Go(func() (err error) {
				requests[i].Media[j], err = encode(rgb, size, p.Format)
				return err
			})
		}
	}
	if err := encoders.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// draw is the size of a picture, then its pixels: rows of RGB bytes.
func (p *pictures) draw() (size, []byte) {
	at := p.sizes.least
	if p.sizes.random {
		at.width = int(p.s.Numpy.Randint(int64(at.width), int64(p.sizes.most.width)+1))
		at.height = int(p.s.Numpy.Randint(int64(at.height), int64(p.sizes.most.height)+1))
	}
	p.drawn = append(p.drawn, at)
	rgb := make([]byte, 3*at.width*at.height)
	for i := range rgb {
		if p.Content == "blank" {
			rgb[i] = 255
		} else {
			rgb[i] = byte(p.s.Numpy.Float64() * 255)
		}
	}
	return at, rgb
}

// notes tell what a run with these pictures may be surprised by.
func (p *pictures) notes() []string {
	notes := p.s.drawNotes()
	const fullHD = 1920 * 1080
	if n := sum(p.counts); p.sizes.most.width*p.sizes.most.height >= fullHD && n >= 100 {
		notes = append(notes, fmt.Sprintf("%d pictures of up to %dx%d take long to draw and to send", n, p.sizes.most.width, p.sizes.most.height))
	}
	if p.Pad == nil {
		notes = append(notes, "which id stands for a picture is not known: if it is no special token of the tokenizer, a text may contain it")
	}
	return notes
}
