package live

import (
	"fmt"
	"math"
	"strings"
)

// Unknown stands for what is not known.
const Unknown = "-"

// Known is a value by a verb, Unknown for none.
func Known(v *float64, verb string, scale float64) string {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return Unknown
	}
	return fmt.Sprintf(verb, *v*scale)
}

// Count is a number without a fraction.
func Count(v *float64) string { return Known(v, "%.0f", 1) }

// Watts is a power.
func Watts(v *float64) string { return Known(v, "%.0f W", 1) }

// Percent is a share.
func Percent(v *float64) string {
	if v != nil && *v > 0 && *v < 0.0995 {
		return Known(v, "%.1f %%", 100)
	}
	return Known(v, "%.0f %%", 100)
}

// Short is a number in about three digits.
func Short(v *float64) string {
	if v != nil && math.Abs(*v) < 100 {
		return Known(v, "%.3g", 1)
	}
	return Known(v, "%.0f", 1)
}

// The heights of a course, the least first.
var (
	bars      = []rune("▁▂▃▄▅▆▇█")
	asciiBars = []rune("_.:-=+*#")
)

func (p Paper) bars() []rune {
	if p.ASCII {
		return asciiBars
	}
	return bars
}

// Spark draws a course in at most width characters, the newest at the right: each is the mean of
// the values that it stands for, a blank where none is known. The highest bar is most, or where
// that is 0 the largest of them.
func (p Paper) Spark(course []*float64, width int, most float64) string {
	means := Means(course, width)
	if most == 0 {
		for _, m := range means {
			if !math.IsNaN(m) {
				most = max(most, m)
			}
		}
	}
	drawn := make([]rune, len(means))
	for i, m := range means {
		drawn[i] = p.bar(m, most)
	}
	return string(drawn)
}

// Means are those of a course in at most n parts, of which all but the first stand for as many
// values; NaN where none is known.
func Means(course []*float64, n int) []float64 {
	if len(course) == 0 || n <= 0 {
		return nil
	}
	each := (len(course) + n - 1) / n
	means := make([]float64, (len(course)+each-1)/each)
	for i, end := len(means)-1, len(course); end > 0; i, end = i-1, end-each {
		sum, known := 0.0, 0
		for _, v := range course[max(0, end-each):end] {
			if v != nil {
				sum, known = sum+*v, known+1
			}
		}
		means[i] = sum / float64(known)
	}
	return means
}

func (p Paper) bar(v, most float64) rune {
	bars := p.bars()
	switch {
	case math.IsNaN(v):
		return ' '
	case most <= 0:
		return bars[0]
	}
	return bars[min(max(int(math.Round(v/most*float64(len(bars)-1))), 0), len(bars)-1)]
}

// Largest is the largest value of a course, nil if none is known.
func Largest(course []*float64) (most *float64) {
	for _, v := range course {
		if v != nil && (most == nil || *v > *most) {
			most = v
		}
	}
	return most
}

// parts are the left eighths of a full block.
var parts = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// Bar is a progress bar of width columns for a share from 0 to 1.
func (p Paper) Bar(share float64, width int) string {
	share = min(1, max(0, share))
	if p.ASCII {
		full := int(share * float64(max(0, width-2)))
		return "[" + strings.Repeat("#", full) + strings.Repeat(".", max(0, width-2-full)) + "]"
	}
	eighths := int(share * float64(8*width))
	part := parts[eighths%8]
	rest := width - eighths/8
	if part != "" {
		rest--
	}
	return strings.Repeat("█", eighths/8) + part + strings.Repeat("░", rest)
}
