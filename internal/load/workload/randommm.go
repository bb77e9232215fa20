package workload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/pitot-bench/pitot/internal/plan"
)

// RandomMM is Random with images of noise after the text, like the dataset
// "random-mm" of the vLLM benchmark: the same draws, so the same pixels, encoded
// as JPEG of the same quality and subsampling. (The files differ in their bytes,
// since the encoders do.)
type RandomMM struct {
	Random
	Items      int            // images in a request
	ItemsRange float64        // widens Items to [Items(1-r), Items(1+r)]; in [0, 1]
	Limits     map[string]int // of items in a request, by modality
	Buckets    []Bucket
}

// A Bucket is an image size with its frequency.
type Bucket struct {
	Height int     `json:"height"` // pixels
	Width  int     `json:"width"`
	Frames int     `json:"frames"` // 1 is an image, more a video
	P      float64 `json:"p"`      // relative frequency
}

// DefaultBuckets is half 256×256 and half 720p.
func DefaultBuckets() []Bucket {
	return []Bucket{{256, 256, 1, 0.5}, {720, 1280, 1, 0.5}, {720, 1280, 16, 0}}
}

// DefaultLimits is the number of items of each modality allowed in a request.
func DefaultLimits() map[string]int { return map[string]int{"image": 255, "video": 1} }

// maxSide is the limit of JPEG.
const maxSide = 65535

func (b Bucket) modality() string {
	if b.Frames > 1 {
		return "video"
	}
	return "image"
}

// String is the form of ParseBuckets.
func (b Bucket) String() string { return fmt.Sprintf("(%d, %d, %d)", b.Height, b.Width, b.Frames) }

func (b Bucket) validate() error {
	switch {
	case b.Height < 1 || b.Width < 1 || b.Frames < 1:
		return fmt.Errorf("%s: height, width and frames must be at least 1", b)
	case b.Height > maxSide || b.Width > maxSide:
		return fmt.Errorf("%s: a JPEG has at most %d pixels each way", b, maxSide)
	case b.Height*b.Width > plan.MaxPixels:
		return fmt.Errorf("%s: an image may have at most %d pixels", b, plan.MaxPixels)
	case !(b.P >= 0) || math.IsInf(b.P, 1):
		return fmt.Errorf("%s: probability %v must not be negative", b, b.P)
	}
	return nil
}

// Check reports everything wrong with r: as Random does, and under items, items_range,
// buckets and limits.
func (r RandomMM) Check() plan.Problems {
	p := r.Random.Check()
	p.If(r.Items < 0, "items", r.Items, "must not be negative")
	p.If(!(r.ItemsRange >= 0 && r.ItemsRange <= 1), "items_range", r.ItemsRange, "must be within 0 and 1")
	total := 0.0
	for _, b := range r.Buckets {
		if err := b.validate(); err != nil {
			p.If(true, "buckets", nil, "%v", err)
		}
		limit, ok := r.Limits[b.modality()]
		p.If(b.Frames > 1 && b.P > 0 && limit > 0, "buckets", nil,
			"%s: video is not supported; give it probability 0 or leave it out, or set the limit of video to 0", b)
		p.If(!ok, "limits", nil, "no %q, which the bucket %s needs even at probability 0", b.modality(), b)
		total += b.P
	}
	p.If(!(total > 0), "buckets", nil, "at least one needs a positive probability")
	lo, hi := r.items()
	p.If(lo > hi, "items", r.Items, "at least %d are wanted but the limit is %d", lo, hi)
	if p == nil {
		p.Product("items", plan.MaxPictured, "pixels in a request", int(hi), r.pixels())
		p.Product("items", plan.MaxDrawn, "pixels in all requests", r.Requests, int(hi), r.pixels())
	}
	return p
}

// items is the range of images in a request.
func (r RandomMM) items() (lo, hi int64) {
	l, h := spread(float64(r.Items), r.ItemsRange, 0)
	if len(r.drawn(true)) == 0 {
		return l, 0
	}
	return l, min(h, int64(r.Limits["image"]))
}

// drawn are the buckets that can be drawn: all, or those of images alone.
func (r RandomMM) drawn(images bool) (all []Bucket) {
	for _, b := range r.Buckets {
		if b.P > 0 && (!images || b.Frames == 1) {
			all = append(all, b)
		}
	}
	return all
}

// pixels are those of the largest image.
func (r RandomMM) pixels() (most int) {
	for _, b := range r.drawn(true) {
		most = max(most, b.Height*b.Width)
	}
	return most
}

// Build draws the workload. It needs a tokenizer: images go with text.
func (r RandomMM) Build(ctx context.Context, v Vocabulary, tok Tokenizer) (Workload, error) {
	if err := r.Check().Err(); err != nil {
		return Workload{}, err
	}
	if tok == nil {
		return Workload{}, errors.New("images need text prompts, and text needs a tokenizer")
	}
	d, err := r.begin(ctx, v, v.AddedSpecial, tok)
	if err != nil {
		return Workload{}, err
	}
	requests, err := r.draw(ctx, d)
	number(requests, r.IDPrefix)
	return Workload{Requests: requests, Notes: d.notes()}, err
}

// draw draws texts and pixels in order, and encodes the images in parallel.
func (r RandomMM) draw(ctx context.Context, d *draw) ([]Request, error) {
	requests := make([]Request, r.Requests)
	encoders, ctx := errgroup.WithContext(ctx)
	_, images := r.items()
	encoders.SetLimit(EncodersAtOnce(int(images) * r.pixels()))
	err := d.each(ctx, func(i int, req Request) error {
		requests[i] = req
		sizes, pixels := r.images(d)
		encoders.Go(func() error { return r.encode(&requests[i], sizes, pixels) })
		return nil
	})
	return requests, errors.Join(err, encoders.Wait())
}

// EncodersAtOnce limits the requests with images held as pixels, by the pixels of one.
func EncodersAtOnce(pixels int) int {
	const most, budget = 16, plan.MaxPixels / 2
	return min(most, max(1, budget/max(1, pixels)))
}

// images draws the images of a request. A video is over its limit, which is 0: once one
// was drawn, the request's other draws are among the images.
func (r RandomMM) images(d *draw) (sizes []Bucket, pixels [][]byte) {
	lo, hi := r.items()
	from := r.drawn(false)
	for n := d.rng.Integers(lo, hi+1); int64(len(sizes)) < n; {
		size := pick(d, from)
		if size.Frames > 1 {
			from = r.drawn(true)
			continue
		}
		rgb := make([]byte, 3*size.Height*size.Width)
		d.rng.Uint8s(rgb)
		sizes, pixels = append(sizes, size), append(pixels, rgb)
	}
	return sizes, pixels
}

// pick draws a bucket.
func pick(d *draw, from []Bucket) Bucket {
	p := make([]float64, len(from))
	for i, b := range from {
		p[i] = b.P
	}
	return from[d.rng.Choice(p)]
}

// encode adds the images to a request.
func (r RandomMM) encode(req *Request, sizes []Bucket, pixels [][]byte) error {
	req.Media = make([]Media, len(sizes))
	for j, size := range sizes {
		var err error
		if req.Media[j], err = noiseJPEG(pixels[j], size.Width, size.Height); err != nil {
			return err
		}
		pixels[j] = nil
	}
	return r.Spool.Spill(req)
}

// noiseJPEG encodes rows of RGB bytes at quality 75 with 4:2:0 subsampling.
func noiseJPEG(rgb []byte, width, height int) (Media, error) {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		copy(img.Pix[4*i:], rgb[3*i:3*i+3])
		img.Pix[4*i+3] = 255
	}
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: 75}); err != nil {
		return Media{}, fmt.Errorf("encode image: %w", err)
	}
	return Media{MIME: "image/jpeg", Data: buf.Bytes()}, nil
}
