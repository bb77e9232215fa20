package exposition

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Reader reads pages of one source after the other, in memory that it keeps: a page like the
// one before it allocates nothing. The zero value is ready to use.
type Reader struct {
	// Wanted reports whether the samples of a name are of use; nil: all are. Of the others only
	// the syntax is looked at.
	Wanted func(name []byte) bool

	open   bool   // the page is OpenMetrics
	ended  bool   // after # EOF
	rest   []byte // behind the line
	doubts []plan.Message

	seed   maphash.Seed
	typed  map[uint64]family   // by the hash of the name
	seen   map[uint64]struct{} // series of the page, by their hashes
	labels []rawLabel
	sample Sample
	texts  map[string]string // strings of pages
	plain  []byte            // a label without escapes
}

type family byte

// The types that matter here. Other types of OpenMetrics are read as untyped.
const (
	counter family = iota + 1
	histogram
	summary
	other
)

var families = map[string]family{
	"counter": counter, "gauge": other, "histogram": histogram, "summary": summary, "untyped": other,
}

// mostTexts bounds the strings that a Reader keeps.
const mostTexts = 1 << 14

// Read hands the samples of a page to take, one after the other; the labels of one are valid until
// take returns. The page is of the content type that came with it. Without one, a page that ends in
// # EOF is OpenMetrics. Of a series that stands there twice the first sample counts.
//
// The doubts are what was left out, each code once. The error is an *Error, or the cause of the end
// of ctx; what was handed over before is then part of no page.
func (r *Reader) Read(
	ctx context.Context, contentType string, text []byte, take func(*Sample),
) ([]plan.Message, error) {
	if err := refuse(text); err != nil {
		return nil, err
	}
	r.begin(isOpenMetrics(contentType, text))
	for n := 1; len(text) > 0; n++ {
		const often = 256 // lines
		if n%often == 1 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if text, r.rest = rest, rest; !whole {
			return nil, Malformed(fmt.Errorf("the page ends in the middle of line %d", n))
		}
		wanted, err := r.line(n, bytes.Trim(line, " \t\r"))
		if err != nil {
			return nil, Malformed(fmt.Errorf("line %d: %w", n, err))
		}
		if wanted {
			take(&r.sample)
		}
	}
	if r.open && !r.ended {
		return nil, Malformed(errors.New("the page ends before # EOF"))
	}
	return r.doubts, nil
}

func (r *Reader) begin(open bool) {
	r.open, r.ended, r.doubts = open, false, nil
	if r.typed == nil {
		r.seed = maphash.MakeSeed()
		r.typed, r.seen, r.texts = map[uint64]family{}, map[uint64]struct{}{}, map[string]string{}
	}
	clear(r.typed)
	clear(r.seen)
	if len(r.texts) > mostTexts {
		clear(r.texts)
	}
}

// line reads a line; wanted if it was a sample that is.
func (r *Reader) line(n int, line []byte) (wanted bool, err error) {
	switch {
	case len(line) == 0:
	case r.ended:
		return false, errors.New("there is more after # EOF")
	case len(line) > maxLine:
		r.doubt(LongLine, "line", n, "bytes", len(line))
	case !utf8.Valid(line):
		r.doubt(NotText, "line", n)
	case line[0] == '#':
		r.ended = r.open && string(line) == "# EOF"
		r.comment(line)
	default:
		return r.series(line)
	}
	return false, nil
}

// doubt adds a doubt, if there is none of its code.
func (r *Reader) doubt(code plan.Code, args ...any) {
	if !slices.ContainsFunc(r.doubts, func(had plan.Message) bool { return had.Code == code }) {
		r.doubts = append(r.doubts, plan.Msg(code, args...))
	}
}

// comment keeps the first type of a family.
func (r *Reader) comment(line []byte) {
	keyword, rest := word(skip(line[1:]))
	name, rest := word(rest)
	kind, rest := word(rest)
	if string(keyword) != "TYPE" || len(rest) > 0 {
		return
	}
	if is := families[string(bytes.ToLower(kind))]; is != 0 {
		if key := maphash.Bytes(r.seed, r.spelt(name)); r.typed[key] == 0 {
			r.typed[key] = is
		}
	}
}

// word cuts the first word off a text.
func word(text []byte) (first, rest []byte) {
	end := bytes.IndexAny(text, " \t")
	if end < 0 {
		return text, nil
	}
	return text[:end], bytes.TrimLeft(text[end:], " \t")
}

// spelt is the name of a family as its samples have it. Python's client has no colons in those
// of OpenMetrics, but in the types (prometheus_client 0.26).
func (r *Reader) spelt(name []byte) []byte {
	if !r.open || !bytes.Contains(name, []byte(":")) {
		return name
	}
	rest := r.rest
	for bytes.HasPrefix(rest, []byte("#")) {
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	bare := bytes.ReplaceAll(name, []byte(":"), []byte("_"))
	if bytes.HasPrefix(rest, bare) {
		return bare
	}
	return name
}

// kind is the type of the family that a sample belongs to, and part what of it the sample is:
// _sum, _count or _bucket, or _created of OpenMetrics.
func (r *Reader) kind(name []byte) (of family, part string) {
	if of = r.typed[maphash.Bytes(r.seed, name)]; of != 0 {
		return of, ""
	}
	for _, suffix := range []string{"_sum", "_count", "_bucket", "_created"} {
		if base := len(name) - len(suffix); base > 0 && string(name[base:]) == suffix {
			return r.typed[maphash.Bytes(r.seed, name[:base])], suffix
		}
	}
	return 0, ""
}

// series reads a sample, and reports whether the caller wants it. Most of an engine's page are buckets of
// histograms, summaries and creation times, which are skipped.
func (r *Reader) series(line []byte) (wanted bool, err error) {
	name, rest := cutName(line)
	if len(name) == 0 {
		return false, fmt.Errorf("%.40q begins with no name of a metric", line)
	}
	of, part := r.kind(name)
	switch {
	case of == histogram && (part == "" || part == "_bucket"),
		of == summary && (part == "" || part == "_sum" || part == "_count"):
		return false, nil
	case r.open && part == "_created" && (of == counter || of == histogram || of == summary):
		return false, nil
	}
	wanted = r.Wanted == nil || r.Wanted(name)
	if rest, err = r.readLabels(rest, wanted); err != nil {
		return false, err
	}
	value, stamp, err := r.numbers(rest)
	if err != nil || !wanted {
		return false, err
	}
	r.sample.Name, r.sample.Value, r.sample.Stamp = r.text(name), value, stamp
	whole := part == "" && of == counter && !r.open // in OpenMetrics they end in _total
	r.sample.Counter = grows(r.sample.Name, whole || of == histogram && part != "_created")
	return r.take(name)
}

// take makes the labels of the sample; false if the series was there before.
func (r *Reader) take(name []byte) (first bool, err error) {
	slices.SortFunc(r.labels, func(a, b rawLabel) int { return bytes.Compare(a.name, b.name) })
	var h maphash.Hash
	h.SetSeed(r.seed)
	_, _ = h.Write(name) // it never fails
	r.sample.Labels = r.sample.Labels[:0]
	for i, l := range r.labels {
		if i > 0 && bytes.Equal(r.labels[i-1].name, l.name) {
			return false, fmt.Errorf("label %.40q is there twice", l.name)
		}
		label := Label{r.text(l.name), r.text(r.unescaped(l.value))}
		r.sample.Labels = append(r.sample.Labels, label)
		_ = h.WriteByte(0)
		_, _ = h.WriteString(label.Name)
		_ = h.WriteByte(0)
		_, _ = h.WriteString(label.Value)
	}
	key := h.Sum64()
	if _, had := r.seen[key]; had {
		r.doubt(Duplicate, "series", r.sample.Name)
		return false, nil
	}
	r.seen[key] = struct{}{}
	return true, nil
}

// text is a string, the same one for the same text.
func (r *Reader) text(b []byte) string {
	if s, ok := r.texts[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(r.texts) <= mostTexts {
		r.texts[s] = s
	}
	return s
}

// grows reports whether a metric only ever grows, by its type or by its name. llama.cpp
// calls a ratio and a maximum counters too.
func grows(name string, counter bool) bool {
	switch name {
	case "llamacpp:n_busy_slots_per_decode", "llamacpp:n_tokens_max":
		return false
	}
	return counter || strings.HasSuffix(name, "_total")
}
