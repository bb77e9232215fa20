package sglang

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A noise is the dataset image: text of random ids with pictures of noise. The pixels
// are the tool's; the bytes of the files are not, since the encoders differ.
type noise struct {
	common
	lengths
	carrier
	Count       int    `json:"images" flag:"image-count"`                        // of a request
	RandomCount bool   `json:"random_count,omitempty" flag:"random-image-count"` // 1 to Count
	Content     string `json:"content" flag:"image-content"`                     // blank, or noise
	Format      string `json:"format" flag:"image-format"`                       // jpeg or png
	Resolution  string `json:"resolution" flag:"image-resolution"`
	// Pad is the id that stands for a picture in a prompt, which texts never contain;
	// nil if not known.
	Pad *int `json:"pad,omitempty"`
}

func (d *noise) Check(s *workload.Source) plan.Problems {
	p := slices.Concat(d.common.check(), d.lengths.check(), d.fit(wanted(s)), d.carrier.check(&d.common, s.Ask))
	p.IntegerIn("images", d.Count, 1, maxImages)
	format := strings.ToLower(d.Format)
	p.If(format != "jpeg" && format != "png", "format", strconv.Quote(d.Format), "must be jpeg or png")
	sizes, err := parseResolution(d.Resolution)
	p.If(err != nil, "resolution", d.Resolution, "%v", err)
	pixels := sizes.most.width * sizes.most.height
	p.If(pixels > plan.MaxPixels, "resolution", d.Resolution, "an image may have at most %d pixels", plan.MaxPixels)
	p.Product("images", plan.MaxPictured, "pixels in a request", d.Count, pixels)
	p.If(format == "jpeg" && max(sizes.most.width, sizes.most.height) > maxSide, "resolution", d.Resolution, "a JPEG has at most %d pixels each way", maxSide)
	return p
}

func (*noise) Read(context.Context, *workload.Source) error { return nil }

func (d *noise) Describe() plan.Message { return workload.Describe("image", d.describe()) }

type pictures struct {
	*noise
	s      *source
	sizes  resolution
	counts []int  // of pictures, by request
	drawn  []size // of every picture
	bytes  []int  // of the pictures of a request, as they are sent
}

// maxImages is more than a server takes in one request.
const maxImages = 1 << 10

// Build draws counts and lengths, then request by request text and pixels.
func (d *noise) Build(ctx context.Context, from *workload.Source) (w workload.Workload, err error) {
	s := d.source(from)
	if err := s.needText("pictures go with texts"); err != nil {
		return w, err
	}
	n := wanted(from)
	p := &pictures{noise: d, s: s, counts: make([]int, n), bytes: make([]int, n)}
	p.sizes, _ = parseResolution(d.Resolution) // checked
	for i := range p.counts {
		p.counts[i] = d.Count
		if d.RandomCount {
			p.counts[i] = int(s.numpy.Randint(1, int64(d.Count)+1))
		}
	}
	inputs := s.lengths(d.Input, d.Ratio, n)
	outputs := s.lengths(d.Output, d.Ratio, n)
	w.Requests = make([]workload.Request, n)
	for i := range w.Requests {
		w.Requests[i].OutputTokens = outputs[i]
	}
	if err := p.requests(ctx, w.Requests, inputs); err != nil {
		return w, err
	}
	w.Lines = p.lines(w.Requests, inputs)
	w.Notes = slices.Concat(p.notes(), d.pictureNotes(s))
	return s.finished(w), nil
}

// requests draws texts and pixels in order, and makes requests of them in parallel.
func (p *pictures) requests(ctx context.Context, requests []workload.Request, lengths []int) error {
	all, err := p.vocabulary()
	if err != nil {
		return err
	}
	encoders, each := errgroup.WithContext(ctx)
	encoders.SetLimit(workload.EncodersAtOnce(slices.Max(p.counts) * p.sizes.most.width * p.sizes.most.height))
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

// vocabulary has the ids from which texts with images are drawn.
func (p *pictures) vocabulary() ([]int32, error) {
	all, err := p.s.everyID()
	if !p.s.january {
		all = workload.Without(all, p.s.Vocab.Special...)
	}
	if p.Pad != nil {
		all = workload.Without(all, int32(*p.Pad))
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
	text, err := p.s.Tokens.Decode(ctx, ids)
	if err != nil {
		return err
	}
	if err := p.put(ctx, p.s, r, text); err != nil {
		return err
	}
	return p.s.Spool.Spill(r)
}

// draw is the size of a picture, then its pixels: rows of RGB bytes.
func (p *pictures) draw() (size, []byte) {
	at := p.sizes.least
	if p.sizes.random {
		at.width = int(p.s.numpy.Randint(int64(at.width), int64(p.sizes.most.width)+1))
		at.height = int(p.s.numpy.Randint(int64(at.height), int64(p.sizes.most.height)+1))
	}
	p.drawn = append(p.drawn, at)
	rgb := make([]byte, 3*at.width*at.height)
	for i := range rgb {
		if p.Content == "blank" {
			rgb[i] = 255
		} else {
			rgb[i] = byte(p.s.numpy.Float64() * 255)
		}
	}
	return at, rgb
}

// notes tell what a run with these pictures may be surprised by.
func (p *pictures) notes() []plan.Message {
	notes := p.s.drawNotes()
	const fullHD = 1920 * 1080
	if n := sum(p.counts); p.sizes.most.width*p.sizes.most.height >= fullHD && n >= 100 {
		notes = append(notes, plan.Msg(picturesSlow, "pictures", n, "size", fmt.Sprintf("%dx%d", p.sizes.most.width, p.sizes.most.height)))
	}
	if p.Pad == nil {
		notes = append(notes, plan.Msg(padUnknown))
	}
	return notes
}
