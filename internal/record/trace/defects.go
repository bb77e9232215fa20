package trace

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Defects are what is wrong with an answer, whatever it should have been.
type Defects uint8

// The defects. An answer without Inspected was not looked at, so that nothing is known of it.
const (
	Inspected     Defects = 1 << iota
	DefectEmpty           // it ended without a visible character and without a call
	DefectLoop            // its last 512 bytes have a period of at most 128
	DefectGarbage         // over 1 % of its characters are U+FFFD or control characters
	DefectLeaked          // it has a special token of a template, or half of a pair of tags
	DefectCut             // it ended at a limit, although its length was left to the model
)

// noDefects is the name of none.
const noDefects = "none"

var defectNames = []string{"empty", "loop", "garbage", "leaked", "cut"}

// Names are the defects in words; nil if there is none.
func (d Defects) Names() (names []string) {
	for i, name := range defectNames {
		if d&(DefectEmpty<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// String has the names, or none; empty: the answer was not inspected.
func (d Defects) String() string {
	if d == 0 {
		return ""
	}
	return cmp.Or(strings.Join(d.Names(), " "), noDefects)
}

// MarshalText writes the text form.
func (d Defects) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the output of MarshalText, of answers that were inspected.
func (d *Defects) UnmarshalText(b []byte) error {
	if *d = 0; len(b) > 0 {
		*d = Inspected
	}
	for _, name := range strings.Fields(string(b)) {
		i := slices.Index(defectNames, name)
		switch {
		case i >= 0:
			*d |= DefectEmpty << i
		case name != noDefects:
			return fmt.Errorf("defect %.40q: must be one of %v, or %s", name, defectNames, noDefects)
		}
	}
	return nil
}

// Bounds of what is looked for, in bytes.
const (
	loopWindow = 512
	loopPeriod = 128
	lookahead  = 40 // of a tag
)

// signs are what an answer has had so far that may make it defective.
type signs struct {
	characters int
	odd        int  // of them, U+FFFD and control characters
	visible    bool // one that is no blank was visible
	thought    bool
	called     bool
	leaked     bool
	thinking   int // think tags that were opened and not closed
	struck     int // likewise, <s>
}

// note looks at some bytes of a part.
func (s *signs) note(part Part, some []byte) {
	switch {
	case part == ReasoningPart:
		s.thought = true
	case part != VisiblePart:
		s.called = true
	case !s.visible:
		s.visible = bytes.ContainsFunc(some, func(r rune) bool { return r > ' ' })
	}
}

const (
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
)

// inspect looks at the bytes of the window up to a place, eight at a time as long as they are plain.
func (p *passage) inspect(to int) {
	w, s, i := p.window, &p.signs, p.inspected
	for i < to {
		if i+8 <= to {
			word := binary.LittleEndian.Uint64(w[i:])
			special := ((word-' '*everyByte)&^word | equal(word, '<')) & highBits
			if word&highBits != 0 {
				special |= (equal(word, replacementEnd) | equal(word&(partBits*everyByte), partBits)) & highBits
			}
			n := bits.TrailingZeros64(special) / 8
			within := word & highBits &^ (word << 1) & (1<<(8*n) - 1) // bytes within a character
			s.characters += n - bits.OnesCount64(within)
			if i += n; n == 8 {
				continue
			}
		}
		s.look(w, i)
		i++
	}
	p.inspected = i
}

const (
	replacementEnd = 0xBD // the last byte of U+FFFD
	partBits       = 0xF8 // of all parts
)

// equal has the high bit of the lowest byte of a word that is c, and of none below it.
func equal(word uint64, c byte) uint64 {
	other := word ^ uint64(c)*everyByte
	return (other - everyByte) &^ other
}

// look looks at one byte of w.
func (s *signs) look(w []byte, i int) {
	switch b := w[i]; {
	case b >= byte(VisiblePart): // where another part begins
		return
	case b&0xC0 == 0x80: // within a character
		if i > 1 && string(w[i-2:i+1]) == "\uFFFD" {
			s.odd++
		}
		return
	case b < ' ' && b != '\n' && b != '\t' && b != '\r':
		s.odd++
	case b == '<':
		s.tag(w[i:min(len(w), i+lookahead)])
	}
	s.characters++
}

// tag looks at what begins with <.
func (s *signs) tag(text []byte) {
	is := func(tag string) bool { return bytes.HasPrefix(text, []byte(tag)) }
	switch {
	case is("<think>"):
		s.thinking++
	case is("</think>"):
		s.shut(&s.thinking)
	case is("<s>"):
		s.struck++
	case is("</s>"):
		s.shut(&s.struck)
	case is("<|"), is("<｜"): // the bars of DeepSeek's tokens are wide
		name, _, found := bytes.Cut(text[2:], []byte("|>"))
		if wide, _, ok := bytes.Cut(text[2:], []byte("｜>")); ok {
			name, found = wide, true
		}
		s.leaked = s.leaked || found && len(name) > 0 && !bytes.ContainsAny(name, " \t\n<")
	}
}

// shut closes a tag that was opened; one that was not is stray.
func (s *signs) shut(open *int) {
	s.leaked = s.leaked || *open == 0
	*open = max(0, *open-1)
}

// defects are those of an answer that has ended.
func (p *passage) defects(cut, open bool) Defects {
	s, w := &p.signs, p.window
	d := Inspected
	add := func(defect Defects, is bool) {
		if is {
			d |= defect
		}
	}
	add(DefectEmpty, !s.visible && !s.called && (!cut || !s.thought))
	add(DefectLoop, len(w) >= loopWindow && repeats(w[len(w)-loopWindow:]))
	odd := s.odd
	for cut && odd > 0 && bytes.HasSuffix(w, []byte("\uFFFD")) { // of a character that was cut
		w = w[:len(w)-3]
		odd--
	}
	add(DefectGarbage, 100*odd > s.characters)
	add(DefectLeaked, s.leaked || s.thinking > 0 && !cut)
	add(DefectCut, cut && open)
	return d
}

// repeats reports whether w has a period of at most loopPeriod.
func repeats(w []byte) bool {
	end := len(w) - 8
	last := binary.LittleEndian.Uint64(w[end:])
	for period := 1; period <= loopPeriod; period++ {
		if last == binary.LittleEndian.Uint64(w[end-period:]) && bytes.Equal(w[period:], w[:len(w)-period]) {
			return true
		}
	}
	return false
}
