package trace

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Labels are what people wrote about a run after it was made.
type Labels struct {
	Tags   []string `json:"tags,omitempty"` // in alphabetical order, each once
	Remark string   `json:"remark,omitempty"`
}

// Bounds of labels, in characters.
const (
	MaxTag    = 64
	MaxTags   = 50 // of a run
	MaxRemark = 10_000
)

// CleanTag is a tag as it is stored: without surrounding blanks, and with single ones inside.
func CleanTag(tag string) (string, error) {
	clean := strings.Join(strings.FieldsFunc(tag, func(r rune) bool { return r == ' ' }), " ")
	switch {
	case clean == "":
		return "", errors.New("a tag must not be empty")
	case utf8.RuneCountInString(clean) > MaxTag:
		return "", fmt.Errorf("a tag has at most %d characters", MaxTag)
	case !printable(clean, ""):
		return "", fmt.Errorf("tag %q: must not have control characters", clean)
	case strings.HasPrefix(clean, "+"), strings.HasPrefix(clean, "-"):
		return "", fmt.Errorf("tag %q: must not begin with + or -", clean)
	case strings.Contains(clean, ","):
		return "", fmt.Errorf("tag %q: must not have commas, which separate tags in tables", clean)
	}
	return clean, nil
}

// CleanRemark is a remark as it is stored: without surrounding blank lines.
func CleanRemark(remark string) (string, error) {
	clean := strings.TrimSpace(strings.ReplaceAll(remark, "\r\n", "\n"))
	switch {
	case utf8.RuneCountInString(clean) > MaxRemark:
		return "", fmt.Errorf("a remark has at most %d characters", MaxRemark)
	case !printable(clean, "\n\t"):
		return "", errors.New("a remark must not have control characters other than line breaks and tabs")
	}
	return clean, nil
}

// printable reports whether a text is UTF-8 without control characters, but for some.
func printable(text, but string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune(but, r) && (unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control))
	})
}

// Clean are labels as they are stored.
func (l Labels) Clean() (clean Labels, err error) {
	for _, tag := range l.Tags {
		if tag, err = CleanTag(tag); err != nil {
			return clean, err
		}
		clean.Tags = append(clean.Tags, tag)
	}
	slices.Sort(clean.Tags)
	if clean.Tags = slices.Compact(clean.Tags); len(clean.Tags) > MaxTags {
		return clean, fmt.Errorf("a run has at most %d tags", MaxTags)
	}
	clean.Remark, err = CleanRemark(l.Remark)
	return clean, err
}

// IsZero reports whether nothing was written.
func (l Labels) IsZero() bool { return len(l.Tags) == 0 && l.Remark == "" }

// Acceptable are labels of another store, without what this one does not keep.
func (l Labels) Acceptable() (out Labels) {
	for _, tag := range l.Tags {
		if tag, err := CleanTag(tag); err == nil && len(out.Tags) < MaxTags {
			out.Tags = append(out.Tags, tag)
		}
	}
	out.Remark, _ = CleanRemark(l.Remark)
	out, _ = out.Clean()
	return out
}
