package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/pitot-bench/pitot/internal/load/workload"
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
	counts []int  // of pictures, by request
	drawn  []size // of every picture
	bytes  []int  // of the pictures of a request, as they are sent
}

// encodersAtOnce bounds the requests whose pictures are held as pixels.
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
	p := &pictures{Image: d, s: s, counts: make([]int, d.Requests), bytes: make([]int, d.Requests)}
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
	if err := p.requests(ctx, b.Requests, inputs); err != nil {
		return Built{}, err
	}
	b.Lines = p.lines(b.Requests, inputs)
	b.Notes = slices.Concat(p.notes(), s.pictureNotes(d.Backend))
	return b, nil
}

// requests draws texts and pixels in order, and makes requests of them beside that.
func (p *pictures) requests(ctx context.Context, requests []workload.Request, lengths []int) error {
	all, err := p.vocabulary()
	if err != nil {
		return err
	}
	encoders, each := errgroup.WithContext(ctx)
	encoders.SetLimit(encodersAtOnce)
	for i := range requests {
		if each.Err() != nil {
			break
		}
		ids := p.s.draw(all, lengths[i])
		sizes, pixels := make([]size, p.counts[i]), make([][]byte, p.counts[i])
		for j := range sizes {
			sizes[j], pixels[j] = p.draw()
		}
		encoders.Go(func() error { return p.request(each, i, &requests[i], ids, sizes, pixels) })
	}
	if err := encoders.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// vocabulary is what texts beside pictures are drawn from.
func (p *pictures) vocabulary() ([]int32, error) {
	all, err := p.s.everyID()
	if p.s.Form == Main {
		all = without(all, p.s.Vocabulary.Special...)
	}
	if p.Pad != nil {
		all = without(all, *p.Pad)
	}
	if err == nil && len(all) == 0 {
		err = errNoVocabulary
	}
	return all, err
}

// request makes a request of what was drawn for it.
func (p *pictures) request(ctx context.Context, i int, r *workload.Request, ids []int32, sizes []size, pixels [][]byte) error {
	r.Media = make([]workload.Media, len(sizes))
	for j, at := range sizes {
		var err error
		if r.Media[j], err = encode(pixels[j], at, p.Format); err != nil {
			return err
		}
		pixels[j] = nil
		p.bytes[i] += dataURI(r.Media[j])
	}
	text, err := p.s.Tokenizer.Decode(ctx, ids)
	if err != nil {
		return err
	}
	if err := p.s.put(ctx, r, text, p.Backend); err != nil {
		return err
	}
	return p.s.Spool.Keep(r)
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
