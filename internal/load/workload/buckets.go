package workload

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// bucketEntry is (height,width,frames):p, the key optionally in quotes.
var bucketEntry = lazy.Regexp(`^(["']?)\((\d+),(\d+),(\d+),?\)(["']?):([^,{}()]+)(?:,|$)`)

// ParseBuckets parses buckets in the form of a Python dictionary with tuple keys:
// {(256, 256, 1): 0.5, (720, 1280, 1): 0.5}. Among equal keys the last wins.
func ParseBuckets(s string) ([]Bucket, error) {
	rest := strings.Join(strings.Fields(s), "")
	inner, open := strings.CutPrefix(rest, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !open || !closed {
		return nil, errBuckets(s)
	}
	var buckets []Bucket
	for inner != "" {
		m := bucketEntry.FindStringSubmatch(inner)
		if m == nil || m[1] != m[5] {
			return nil, errBuckets(s)
		}
		b, err := newBucket(m[2], m[3], m[4], m[6])
		if err != nil {
			return nil, fmt.Errorf("%w in %q", err, s)
		}
		buckets = setBucket(buckets, b)
		inner = inner[len(m[0]):]
	}
	if len(buckets) == 0 {
		return nil, errBuckets(s)
	}
	return buckets, nil
}

func errBuckets(s string) error {
	return fmt.Errorf("%q: must be a dictionary such as {(256, 256, 1): 0.5, (720, 1280, 1): 0.5}, each (height, "+
		"width, frames): probability", s)
}

// ParseSizes parses image sizes in the form 256x256=0.5,1280x720=0.5: width, height
// and relative frequency, by default 1.
func ParseSizes(s string) ([]Bucket, error) {
	var buckets []Bucket
	for item := range strings.SplitSeq(s, ",") {
		size, p, weighted := strings.Cut(strings.TrimSpace(item), "=")
		if !weighted {
			p = "1"
		}
		width, height, ok := strings.Cut(size, "x")
		if !ok {
			return nil, fmt.Errorf("image size %q: must be WIDTHxHEIGHT or WIDTHxHEIGHT=FREQUENCY", item)
		}
		b, err := newBucket(height, width, "1", p)
		if err != nil {
			return nil, fmt.Errorf("image size %q: %w", item, err)
		}
		buckets = setBucket(buckets, b)
	}
	return buckets, nil
}

func newBucket(height, width, frames, p string) (b Bucket, err error) {
	var errs [4]error
	b.Height, errs[0] = strconv.Atoi(height)
	b.Width, errs[1] = strconv.Atoi(width)
	b.Frames, errs[2] = strconv.Atoi(frames)
	b.P, errs[3] = strconv.ParseFloat(p, 64)
	return b, errors.Join(errs[:]...)
}

// setBucket adds b, or replaces the bucket of the same size.
func setBucket(buckets []Bucket, b Bucket) []Bucket {
	for i, old := range buckets {
		if old.Height == b.Height && old.Width == b.Width && old.Frames == b.Frames {
			buckets[i] = b
			return buckets
		}
	}
	return append(buckets, b)
}
