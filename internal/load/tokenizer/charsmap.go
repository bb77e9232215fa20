package tokenizer

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// A charsmap is the normalizer included in a SentencePiece model: a double-array
// trie (Darts-clone) from short texts to offsets in a list of NUL-terminated
// replacements.
type charsmap struct {
	units        []uint32
	replacements string
	ascii        [utf8.RuneSelf]bool // characters with a replacement
}

// A precompiledJSON has a charsmap in Base64: the size of the trie in bytes, its
// units, the replacements.
type precompiledJSON struct {
	Type string  `json:"type"`
	Map  *string `json:"precompiled_charsmap"`
}

func (v precompiledJSON) step(field string) (step, error) {
	field += ".precompiled_charsmap"
	if v.Map == nil {
		return step{}, refuse(field, nil, "")
	}
	data, err := base64.StdEncoding.DecodeString(*v.Map)
	if err != nil {
		return step{}, refuse(field, shortened(*v.Map), err.Error())
	}
	m, ok := newCharsmap(data)
	if !ok {
		return step{}, refuse(field, shortened(*v.Map), "it is not a trie with replacements")
	}
	return step{m.rewrite, m.head}, nil
}

func shortened(text string) string {
	if len(text) > 20 {
		return text[:20] + "…"
	}
	return text
}

func newCharsmap(data []byte) (*charsmap, bool) {
	if len(data) < 4 {
		return nil, false
	}
	size := int64(binary.LittleEndian.Uint32(data)) / 4 * 4
	data = data[4:]
	if size == 0 || size > int64(len(data)) || !utf8.Valid(data[size:]) {
		return nil, false
	}
	m := &charsmap{units: make([]uint32, size/4), replacements: string(data[size:])}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	for c := range m.ascii {
		_, m.ascii[c] = m.lookup(string(rune(c)))
	}
	return m, true
}

// lookup returns the replacement of the shortest prefix of text in the map. It
// replaces all of text: the rest is dropped.
func (m *charsmap) lookup(text string) (string, bool) {
	at := unitOffset(m.units[0])
	for i := range len(text) {
		label := uint32(text[i])
		if label == 0 {
			break
		}
		at ^= label
		if int64(at) >= int64(len(m.units)) || m.units[at]&(1<<31|0xff) != label {
			break
		}
		unit := m.units[at]
		at ^= unitOffset(unit)
		if unit>>8&1 == 1 && int64(at) < int64(len(m.units)) {
			return m.replacement(m.units[at] & (1<<31 - 1))
		}
	}
	return "", false
}

// unitOffset is the distance from a unit to those of its children.
func unitOffset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }

func (m *charsmap) replacement(at uint32) (string, bool) {
	if int64(at) > int64(len(m.replacements)) {
		return "", false
	}
	text, _, _ := strings.Cut(m.replacements[at:], "\x00")
	return text, true
}

// maxCluster is the length from which a grapheme cluster is only looked up
// character by character.
const maxCluster = 6

// rewrite replaces each grapheme cluster, or else each of its characters.
func (m *charsmap) rewrite(text string, most int) string {
	var b strings.Builder
	done := 0 // text before it is in b
	for at := 0; at < len(text) && b.Len() <= most; {
		if m.isPlain(text[at:]) {
			at++
			continue
		}
		stop := at + clusterLen(text[at:])
		if stop-at < maxCluster {
			if r, ok := m.lookup(text[at:stop]); ok {
				b.WriteString(text[done:at])
				b.WriteString(r)
				done, at = stop, stop
				continue
			}
		}
		for at < stop && b.Len() <= most {
			_, n := utf8.DecodeRuneInString(text[at:])
			if r, ok := m.lookup(text[at : at+n]); ok {
				b.WriteString(text[done:at])
				b.WriteString(r)
				done = at + n
			}
			at += n
		}
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// isPlain reports whether text starts with a character that is a cluster by itself
// and has no replacement.
func (m *charsmap) isPlain(text string) bool {
	return text[0] < utf8.RuneSelf && !m.ascii[text[0]] && text[0] != '\r' &&
		(len(text) == 1 || text[1] < utf8.RuneSelf)
}

// head: the first output replaces the text removed before it.
func (m *charsmap) head(text string, h int) int {
	most := most(len(text))
	if n := len(m.rewrite(text[:h], most)); n > 0 {
		return n
	}
	_, n := utf8.DecodeRuneInString(m.rewrite(text, most))
	return n
}
