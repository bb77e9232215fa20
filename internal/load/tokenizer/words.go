package tokenizer

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A wordPattern splits text like a family of regular expressions used by most
// byte-level vocabularies, without a regular expression. It takes the first match,
// in this order:
//
//	contraction  's 't 're 've 'm 'll 'd
//	letters      after a space, or after any one character that is not a letter,
//	             a number or a line break
//	numbers      after a space, or a limited number of them
//	other        anything else except white space, after a space, with the line
//	             breaks that follow
//	lines        white space up to its last line break
//	spaces       white space, without its last character before a word
//
// There is nothing between matches. A fuzz target checks that it equals the
// expression.
type wordPattern struct {
	contraction contraction
	leadAny     bool // letters: after any one character; else after a space
	letters     letters
	numbers     int    // at most; 0: any number of them, after a space
	tail        string // characters that may follow other
	lines       bool
	endFirst    bool // white space at the end of the text is one word, including line breaks
}

// A contraction defines the case of its letters, and its position.
type contraction int

const (
	lowerContraction  contraction = iota // a separate word, in lower case
	anyContraction                       // a separate word
	suffixContraction                    // the end of a word
)

// letters defines the letters of a word.
type letters int

const (
	anyLetters   letters = iota
	casedLetters         // upper case, then lower case, with their marks
	hanLetters           // any, and separate Han characters
)

// The expressions of these patterns in files.
const (
	cl100kWords = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|` +
		` ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	qwenWords = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|` +
		` ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	o200kWords = `[^\r\n\p{L}\p{N}]?` +
		`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	kimiWords = `[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*` +
		`[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+` +
		`[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	// tiktoken has another form of cl100k, and takes white space at the end as one
	// word.
	cl100kOpenAI = `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+|` +
		` ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`
)

var wordPatterns = map[string]*wordPattern{
	gpt2Pattern:  {},
	cl100kWords:  {contraction: anyContraction, leadAny: true, numbers: 3, tail: "\r\n", lines: true},
	cl100kOpenAI: {contraction: anyContraction, leadAny: true, numbers: 3, tail: "\r\n", lines: true, endFirst: true},
	qwenWords:    {contraction: anyContraction, leadAny: true, numbers: 1, tail: "\r\n", lines: true},
	o200kWords: {
		contraction: suffixContraction, leadAny: true, letters: casedLetters, numbers: 3, tail: "\r\n/", lines: true,
	},
	kimiWords: {contraction: suffixContraction, leadAny: true, letters: hanLetters, numbers: 3, tail: "\r\n", lines: true},
}

// A charClass is a set of character properties, in bits.
type charClass uint8

const (
	letterClass charClass = 1 << iota
	numberClass
	spaceClass // white space
	largeClass // of the letters at the beginning of a word: Lu, Lt, Lm, Lo and marks
	smallClass // of the letters at its end: Ll, Lm, Lo and marks
	hanClass
	otherClass // neither letter nor number nor white space
)

var (
	fillClasses  sync.Once
	basicClasses [1 << 16]charClass
)

func classOf(r rune) charClass {
	if uint32(r) < 1<<16 {
		return basicClasses[r]
	}
	return findClass(r)
}

func findClass(r rune) charClass {
	var c charClass
	set := func(bit charClass, is bool) {
		if is {
			c |= bit
		}
	}
	both := Is("Lm", r) || Is("Lo", r) || Is("M", r)
	set(letterClass, Is("L", r))
	set(numberClass, Is("N", r))
	set(spaceClass, unicode.IsSpace(r))
	set(otherClass, c == 0)
	set(largeClass, both || Is("Lu", r) || Is("Lt", r))
	set(smallClass, both || Is("Ll", r))
	set(hanClass, Is("Han", r))
	return c
}

// at is the class of the character at an offset, and its length; 0 at the end.
func at(text string, i int) (charClass, int) {
	if i >= len(text) {
		return 0, 0
	}
	if b := text[i]; b < utf8.RuneSelf {
		return basicClasses[b], 1
	}
	r, n := utf8.DecodeRuneInString(text[i:])
	return classOf(r), n
}

// run is the end of the characters of a class that begin at i.
func run(text string, i int, of charClass) int {
	for {
		c, n := at(text, i)
		if c&of == 0 {
			return i
		}
		i += n
	}
}

func (p *wordPattern) spans(dst []span, text string, _ *scratch) []span {
	for i := 0; i < len(text); {
		stop := p.word(text, i)
		dst = append(dst, span{i, stop, true})
		i = stop
	}
	return dst
}

// split cuts a text into words, which cover all of it.
func (p *wordPattern) split(dst []string, text string, _ *scratch) []string {
	for i := 0; i < len(text); {
		stop := p.word(text, i)
		dst = append(dst, text[i:stop])
		i = stop
	}
	return dst
}

func (p *wordPattern) ready() *wordPattern {
	fillClasses.Do(func() {
		for r := range basicClasses {
			basicClasses[r] = findClass(rune(r))
		}
	})
	return p
}

// word is the end of the word that begins at i.
func (p *wordPattern) word(text string, i int) int {
	c, n := at(text, i)
	if text[i] == '\'' && p.contraction != suffixContraction {
		if stop := contracted(text, i, p.contraction == anyContraction); stop > i {
			return stop
		}
	}
	if p.letters == hanLetters && c&hanClass != 0 {
		return run(text, i, hanClass)
	}
	if stop := p.lettered(text, i, c, n); stop > i {
		return stop
	}
	next, _ := at(text, i+n)
	isSpace := text[i] == ' '
	switch {
	case c&numberClass != 0:
		return p.numbered(text, i)
	case p.numbers == 0 && isSpace && next&numberClass != 0:
		return run(text, i+1, numberClass)
	case c&otherClass != 0:
		return p.others(text, i)
	case isSpace && next&otherClass != 0:
		return p.others(text, i+1)
	}
	return p.blank(text, i)
}

// contracted is the end of a contraction that begins at i, or i.
func contracted(text string, i int, anyCase bool) int {
	rest := text[i+1:]
	has := func(letters string) bool {
		return len(rest) >= len(letters) && (rest[:len(letters)] == letters ||
			anyCase && lowerASCII(rest[:len(letters)]) == letters)
	}
	for _, one := range []string{"s", "t", "re", "ve", "m", "ll", "d"} {
		if has(one) {
			return i + 1 + len(one)
		}
	}
	if anyCase && strings.HasPrefix(rest, "ſ") { // ignoring case it is an s
		return i + 1 + len("ſ")
	}
	return i
}

func lowerASCII(s string) string {
	var b [2]byte
	for i := range len(s) {
		b[i] = s[i]
		if 'A' <= s[i] && s[i] <= 'Z' {
			b[i] += 'a' - 'A'
		}
	}
	return string(b[:len(s)])
}

// lettered is the end of a word of letters that begins at i with a character of
// class c and n bytes, or i.
func (p *wordPattern) lettered(text string, i int, c charClass, n int) int {
	start := i
	switch b := text[i]; {
	case p.leadAny && c&(letterClass|numberClass) == 0 && b != '\r' && b != '\n', b == ' ' && !p.leadAny:
		start += n
	}
	if p.letters == anyLetters {
		if stop := run(text, start, letterClass); stop > start {
			return stop
		}
		return i
	}
	stop, small := p.cased(text, start)
	switch {
	case !small && start > i && c&smallClass != 0:
		stop = start // a mark also ends a word, which is tried before words of upper case letters only
	case stop == start:
		return i
	}
	if stop < len(text) && text[stop] == '\'' {
		return contracted(text, stop, true)
	}
	return stop
}

// cased is the end of a word of upper case and then lower case letters: as many of
// both as possible. If no lower case letter follows, a character that is both ends
// it; otherwise it is a word of upper case letters only.
func (p *wordPattern) cased(text string, start int) (stop int, small bool) {
	stop = start
	both := start // after the last that is both
	for {
		c, n := at(text, stop)
		if c&largeClass == 0 || p.letters == hanLetters && c&hanClass != 0 {
			break
		}
		stop += n
		if c&smallClass != 0 {
			both = stop
		}
	}
	end := stop
	for {
		c, n := at(text, end)
		if c&smallClass == 0 || p.letters == hanLetters && c&hanClass != 0 {
			break
		}
		end += n
	}
	switch {
	case end > stop:
		return end, true
	case both > start:
		return both, true
	}
	return stop, false
}

func (p *wordPattern) numbered(text string, i int) int {
	if p.numbers == 0 {
		return run(text, i, numberClass)
	}
	for range p.numbers {
		c, n := at(text, i)
		if c&numberClass == 0 {
			break
		}
		i += n
	}
	return i
}

func (p *wordPattern) others(text string, i int) int {
	i = run(text, i, otherClass)
	for i < len(text) && strings.IndexByte(p.tail, text[i]) >= 0 {
		i++
	}
	return i
}

// blank is the end of the white space that begins at i.
func (p *wordPattern) blank(text string, i int) int {
	stop := run(text, i, spaceClass)
	if stop == len(text) && p.endFirst {
		return stop
	}
	if p.lines {
		if line := strings.LastIndexAny(text[i:stop], "\r\n"); line >= 0 {
			return i + line + 1
		}
	}
	if stop == len(text) {
		return stop
	}
	_, n := utf8.DecodeLastRuneInString(text[i:stop])
	if i+n == stop {
		return stop
	}
	return stop - n
}
