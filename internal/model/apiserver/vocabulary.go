package apiserver

import (
	"strings"
	"sync"
)

// A vocabulary is a toy tokenizer of some 22 000 tokens, made by rule:
//
//	 256  the bytes
//	 676  pairs of lower-case letters              th
//	 676  a capital and a letter                   Th
//	9576  triples with a vowel or y                ing
//	      the same three after a space, and        ␣of ␣Th ␣the
//	  52  a letter or capital after a space        ␣a ␣I
//	  16  2 to 16 spaces, and two line ends
//	 136  frequent words after a space            ␣which
//
// Encode takes the longest token at each place, except that a frequent word
// must be a complete word and that the last space of several goes with the word
// behind it. Text of any kind comes back exactly from its tokens, and English
// prose runs to about three bytes a token.
//
// The other way, from tokens to text and back, ids change where neighbours
// would have made another token, such as a byte, a pair, or a space before a
// token that starts with a letter. Triples with and without a space, 86 % of
// the vocabulary, always come back as they were.
type vocabulary struct {
	text  []string // by id
	bytes []uint8  // the length of each, closer together
	words map[string]int32
	long  [longestWord + 2]bool // lengths that words have

	pair, capital, triple uint16Table // by the letters; id of the plain token
	one, oneCapital       int32       // first id of a letter, of a capital after a space
	pairs, triples        int32       // how many there are of each: from a plain token to its spaced one
	runs, lines           int32       // first id of the runs of spaces; two line ends

	starts []string // ␣CVC: how a word of an answer starts
	tails  []string // VCV: how a longer one goes on
}

// A uint16Table gives the id of a group of letters, or 0.
type uint16Table []uint16

const (
	alphabet = "abcdefghijklmnopqrstuvwxyz"
	maxRun   = 16
)

// toy is the vocabulary of all servers and intakes: nothing changes it once it is made.
var toy = sync.OnceValue(newVocabulary)

func newVocabulary() *vocabulary {
	v := &vocabulary{
		words:   make(map[string]int32),
		pair:    make(uint16Table, 26*26),
		capital: make(uint16Table, 26*26),
		triple:  make(uint16Table, 26*26*26),
	}
	for b := range 256 {
		v.text = append(v.text, string([]byte{byte(b)}))
	}
	v.letters()
	v.runs = v.next()
	for n := 2; n <= maxRun; n++ {
		v.text = append(v.text, strings.Repeat(" ", n))
	}
	v.lines = v.next()
	v.text = append(v.text, "\n\n")
	for _, w := range strings.Fields(frequentWords) {
		v.words[w], v.long[len(w)] = v.next(), true
		v.text = append(v.text, " "+w)
	}
	v.bytes = make([]uint8, len(v.text))
	for id, text := range v.text {
		v.bytes[id] = uint8(len(text))
	}
	v.syllables()
	return v
}

// next is the id the next token will have.
func (v *vocabulary) next() int32 { return int32(len(v.text)) }

// letters makes the tokens of one to three letters.
func (v *vocabulary) letters() {
	v.one = v.next()
	for _, a := range alphabet {
		v.text = append(v.text, " "+string(a))
	}
	v.oneCapital = v.next()
	for _, a := range alphabet {
		v.text = append(v.text, " "+strings.ToUpper(string(a)))
	}
	var pairs, capitals, triples []string
	for _, a := range alphabet {
		for _, b := range alphabet {
			pair := string(a) + string(b)
			pairs = append(pairs, pair)
			capitals = append(capitals, strings.ToUpper(string(a))+string(b))
			for _, c := range alphabet {
				if isVowel(a) || isVowel(b) || isVowel(c) {
					triples = append(triples, pair+string(c))
				}
			}
		}
	}
	v.pairs, v.triples = int32(len(pairs)), int32(len(triples))
	v.twice(v.pair, pairs)
	v.twice(v.capital, capitals)
	v.twice(v.triple, triples)
}

// twice adds groups of letters plain, and again after a space.
func (v *vocabulary) twice(table uint16Table, groups []string) {
	for _, g := range groups {
		table[index(strings.ToLower(g))] = uint16(v.next())
		v.text = append(v.text, g)
	}
	for _, g := range groups {
		v.text = append(v.text, " "+g)
	}
}

// index numbers the groups of as many lower-case letters.
func index(letters string) int {
	n := 0
	for i := range len(letters) {
		n = n*26 + int(letters[i]-'a')
	}
	return n
}

// syllables picks the tokens answers are written with.
func (v *vocabulary) syllables() {
	const vowels, consonants = "aeiou", "bdfgklmnprstv"
	for _, a := range vowels {
		for _, b := range consonants {
			for _, c := range consonants {
				v.starts = append(v.starts, " "+string(b)+string(a)+string(c))
			}
			for _, c := range vowels {
				v.tails = append(v.tails, string(a)+string(b)+string(c))
			}
		}
	}
}

func isVowel(r rune) bool { return strings.ContainsRune("aeiouy", r) }

func isLetter(b byte) bool  { return 'a' <= b && b <= 'z' }
func isCapital(b byte) bool { return 'A' <= b && b <= 'Z' }

// size is the number of tokens; ids are below it.
func (v *vocabulary) size() int { return len(v.text) }

// encode appends the tokens of s to dst.
func (v *vocabulary) encode(dst []int32, s string) []int32 {
	for len(s) > 0 {
		id := v.first(s)
		dst = append(dst, id)
		s = s[v.bytes[id]:]
	}
	return dst
}

// first is the token that s, not empty, starts with.
func (v *vocabulary) first(s string) int32 {
	switch c := s[0]; {
	case c == ' ':
		return v.space(s)
	case c == '\n' && len(s) > 1 && s[1] == '\n':
		return v.lines
	case isCapital(c) && len(s) > 1 && isLetter(s[1]):
		return int32(v.capital[capitalIndex(s)])
	case isLetter(c):
		switch id, n := v.group(s); n {
		case 2, 3:
			return id
		}
	}
	return int32(s[0])
}

// space is the token of s, which starts with a space.
func (v *vocabulary) space(s string) int32 {
	run := 1
	for run <= maxRun && run < len(s) && s[run] == ' ' {
		run++
	}
	if run > 1 && run < len(s) && (isLetter(s[run]) || isCapital(s[run])) {
		run-- // the last one goes with the word
	}
	switch word := s[1:]; {
	case run > 1:
		return v.runs + int32(min(run, maxRun)-2)
	case word == "":
		return ' '
	case isCapital(word[0]) && len(word) > 1 && isLetter(word[1]):
		return int32(v.capital[capitalIndex(word)]) + v.pairs
	case isCapital(word[0]):
		return v.oneCapital + int32(word[0]-'A')
	case isLetter(word[0]):
		return v.word(word)
	}
	return ' '
}

// word is the token of a space and word, which starts with a letter.
func (v *vocabulary) word(word string) int32 {
	n := 1
	for n < len(word) && n <= longestWord && isLetter(word[n]) {
		n++
	}
	if v.long[n] { // most have another length, and need no look-up
		if id, ok := v.words[word[:n]]; ok {
			return id
		}
	}
	switch id, n := v.group(word); n {
	case 3:
		return id + v.triples
	case 2:
		return id + v.pairs
	}
	return v.one + int32(word[0]-'a')
}

// group is the triple or pair of letters that s starts with, and its length. s starts with a
// letter; by itself it is no group.
func (v *vocabulary) group(s string) (id int32, n int) {
	if len(s) < 2 || !isLetter(s[1]) {
		return 0, 1
	}
	pair := int(s[0]-'a')*26 + int(s[1]-'a') // as index has it
	if len(s) > 2 && isLetter(s[2]) {
		if id := v.triple[pair*26+int(s[2]-'a')]; id != 0 {
			return int32(id), 3
		}
	}
	return int32(v.pair[pair]), 2
}

func capitalIndex(s string) int { return int(s[0]-'A')*26 + int(s[1]-'a') }

// decode is the text of ids, all of which are in the vocabulary. Bytes that are
// no UTF-8 together stay as they are.
func (v *vocabulary) decode(ids []int32) string {
	var b strings.Builder
	b.Grow(4 * len(ids))
	for _, id := range ids {
		b.WriteString(v.text[id])
	}
	return b.String()
}

// frequentWords have four or more letters, and not a multiple of three: two
// triples must not make one of them.
const frequentWords = `
	that with this from have which their would there about other after these could where your they been
	will when what more some than them then into only over such also most even made many must much well
	back time year work very just like know take because through those same both being world still life
	state great small never house another however against without place right again water think point
	group high part every given used come make does good here long down says upon since case fact until
	children together example using request requests token model value name file line data code list
	type results license software form terms conditions each between want need less full next last left
	side text test call open read write user users names size shall under first able`

const longestWord = 12
