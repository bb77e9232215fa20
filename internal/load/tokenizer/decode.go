package tokenizer

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

type piece struct {
	text    string // need not be valid UTF-8 by itself
	first   string // replaces text at the start of a text
	known   bool
	special bool
}

// Decode returns the text of ids; with skipSpecial, without the special tokens.
// Unknown ids are left out. Invalid UTF-8 becomes U+FFFD.
func (t *Tokenizer) Decode(ids []int32, skipSpecial bool) string {
	text := ""
	if t.decoders == nil {
		text = t.join(ids, skipSpecial)
	} else {
		text = t.runDecoders(ids, skipSpecial)
	}
	if t.cleansUp {
		text = cleanUp(text, cleanings)
	}
	return text
}

func (t *Tokenizer) runDecoders(ids []int32, skipSpecial bool) (text string) {
	defer t.slow()
	texts := make([]string, 0, len(ids))
	for _, id := range ids {
		if p := t.piece(id, skipSpecial); p != nil && len(texts) == 0 {
			texts = append(texts, p.first)
		} else if p != nil {
			texts = append(texts, p.text)
		}
	}
	most := most(length(texts))
	for _, d := range t.decoders {
		if texts = d.decode(texts); length(texts) > most {
			t.fail(ErrTooLong)
			return ""
		}
	}
	return strings.Join(texts, "")
}

func length(texts []string) (n int) {
	for _, text := range texts {
		n += len(text)
	}
	return n
}

// join decodes ids that have the same bytes everywhere.
func (t *Tokenizer) join(ids []int32, skipSpecial bool) string {
	n := 0
	for _, id := range ids {
		if p := t.piece(id, skipSpecial); p != nil {
			n += len(p.text)
		}
	}
	var b strings.Builder
	b.Grow(n)
	for _, id := range ids {
		if p := t.piece(id, skipSpecial); p != nil {
			b.WriteString(p.text)
		}
	}
	return validUTF8(b.String())
}

// piece returns the piece of id, or nil if it is left out.
func (t *Tokenizer) piece(id int32, skipSpecial bool) *piece {
	if id < 0 || int(id) >= len(t.pieces) {
		return nil
	}
	p := &t.pieces[id]
	if !p.known || p.special && skipSpecial {
		return nil
	}
	return p
}

// A decoder is a stage from the texts of tokens to their concatenated text.
type decoder interface {
	decode(texts []string) []string
}

// A tokenDecoder decodes each token individually, given whether it is the first.
// Leading tokenDecoders are applied once to each piece.
type tokenDecoder func(text string, first bool) string

func (d tokenDecoder) decode(texts []string) []string {
	for i, text := range texts {
		texts[i] = d(text, i == 0)
	}
	return texts
}

var decoderKinds = parsers[decoder]{
	"BPEDecoder":   settings(suffixJSON{}, suffixJSON.decoder),
	"ByteFallback": plain[decoder](byteFallback{}),
	"ByteLevel": settings(byteLevelJSON{},
		func(byteLevelJSON, string) (decoder, error) { return byteLevelDecoder{}, nil }),
	"CTC":       settings(ctc{}, ctc.decoder),
	"Fuse":      plain[decoder](joined("")),
	"Metaspace": parseMetaspaceDecoder,
	"Replace":   settings(replaceJSON{}, replaceJSON.decoder),
	"Strip":     settings(stripTokenJSON{}, stripTokenJSON.decoder),
	"WordPiece": settings(wordPieceDecoderJSON{}, wordPieceDecoderJSON.decoder),
}

func parseMetaspaceDecoder(raw json.RawMessage, field string) (decoder, error) {
	m, err := parseMetaspace(raw, field)
	return tokenDecoder(m.token), err
}

// joined puts this text between tokens: a space is the default without a decoder.
type joined string

func (by joined) decode(texts []string) []string { return []string{strings.Join(texts, string(by))} }

// byteLevelDecoder decodes all tokens from the byte alphabet.
type byteLevelDecoder struct{}

func (byteLevelDecoder) decode(texts []string) []string {
	var b strings.Builder
	for _, text := range texts {
		b.WriteString(byteLevelText(text))
	}
	return []string{validUTF8(b.String())}
}

// byteLevelText is the text of a token, unchanged if it is not in the alphabet.
func byteLevelText(token string) string {
	if text, ok := tokenBytes(token); ok {
		return text
	}
	return token
}

// byteFallback joins tokens such as <0xE2>. In a run that is not UTF-8 each becomes
// a U+FFFD.
type byteFallback struct{}

func (byteFallback) decode(texts []string) []string {
	out := texts[:0]
	var row []byte
	flush := func() {
		if utf8.Valid(row) {
			out = append(out, string(row))
		} else {
			out = append(out, strings.Repeat("\ufffd", len(row)))
		}
		row = row[:0]
	}
	for _, text := range texts {
		if b, ok := fallbackByte(text); ok {
			row = append(row, b)
			continue
		}
		if len(row) > 0 {
			flush()
		}
		out = append(out, text)
	}
	if len(row) > 0 {
		flush()
	}
	return out
}

func fallbackByte(token string) (byte, bool) {
	if len(token) != 6 || token[:3] != "<0x" || token[5] != '>' {
		return 0, false
	}
	b, err := strconv.ParseUint(strings.TrimPrefix(token[3:5], "+"), 16, 8)
	return byte(b), err == nil
}

// A stripTokenJSON removes a character from each token, up to a number of times.
type stripTokenJSON struct {
	Type    string `json:"type"`
	Content string `json:"content"`
	Start   int    `json:"start"`
	Stop    int    `json:"stop"`
}

func (v stripTokenJSON) decoder(field string) (decoder, error) {
	if utf8.RuneCountInString(v.Content) != 1 {
		return nil, refuse(field+".content", v.Content, "only one character is")
	}
	return tokenDecoder(func(text string, _ bool) string {
		for i := 0; i < v.Start && strings.HasPrefix(text, v.Content); i++ {
			text = text[len(v.Content):]
		}
		for i := 0; i < v.Stop && strings.HasSuffix(text, v.Content); i++ {
			text = text[:len(text)-len(v.Content)]
		}
		return text
	}), nil
}

type wordPieceDecoderJSON struct {
	Type    string `json:"type"`
	Prefix  string `json:"prefix"`
	Cleanup bool   `json:"cleanup"`
}

func (v wordPieceDecoderJSON) decoder(string) (decoder, error) {
	return tokenDecoder(func(text string, first bool) string {
		if rest, ok := strings.CutPrefix(text, v.Prefix); ok && !first {
			text = rest
		} else if !first {
			text = " " + text
		}
		if v.Cleanup {
			text = cleanUp(text, tokenCleanings)
		}
		return text
	}), nil
}

// cleanUp reverts the splitting of English text at punctuation. It scans the text
// once per pair.
func cleanUp(text string, cleanings [][2]string) string {
	for _, p := range cleanings {
		text = strings.ReplaceAll(text, p[0], p[1])
	}
	return text
}

// cleanings are those of transformers; decoders, which clean up each token, have
// one more.
var (
	cleanings = [][2]string{
		{" .", "."},
		{" ?", "?"},
		{" !", "!"},
		{" ,", ","},
		{" ' ", "'"},
		{" n't", "n't"},
		{" 'm", "'m"},
		{" 's", "'s"},
		{" 've", "'ve"},
		{" 're", "'re"},
	}
	tokenCleanings = slices.Insert(slices.Clone(cleanings), 7, [2]string{" do not", " don't"})
)

// A suffixDecoder turns the end-of-word mark into a space, or removes it in the
// last token.
type suffixDecoder string

type suffixJSON struct {
	Type   string `json:"type"`
	Suffix string `json:"suffix"`
}

func (v suffixJSON) decoder(field string) (decoder, error) {
	if v.Suffix == "" {
		return nil, refuse(field+".suffix", v.Suffix, "")
	}
	return suffixDecoder(v.Suffix), nil
}

func (d suffixDecoder) decode(texts []string) []string {
	for i, text := range texts {
		by := " "
		if i == len(texts)-1 {
			by = ""
		}
		texts[i] = strings.ReplaceAll(text, string(d), by)
	}
	return texts
}

// A ctc is the decoder of speech models, with repeated tokens.
type ctc struct {
	Type      string `json:"type"`
	Pad       string `json:"pad_token"`
	Delimiter string `json:"word_delimiter_token"`
	Cleanup   bool   `json:"cleanup"`
}

func (c ctc) decoder(field string) (decoder, error) {
	if c.Pad == "" || c.Delimiter == "" {
		return nil, refuse(field, "CTC", "without pad_token or word_delimiter_token")
	}
	return c, nil
}

func (c ctc) decode(texts []string) []string {
	texts = slices.Compact(texts)
	for i, text := range texts {
		text = strings.ReplaceAll(text, c.Pad, "")
		if c.Cleanup {
			text = strings.ReplaceAll(cleanUp(text, tokenCleanings), c.Delimiter, " ")
		}
		texts[i] = text
	}
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}
