package ingest

import (
	"bytes"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/pitot-bench/pitot/internal/tool/result"
)

// sampleSize is as much of a file as tells its characters.
const sampleSize = 1 << 20

// decoded is a source in UTF-8: one with a mark of its byte order by that mark, one
// without by what its beginning looks like.
func decoded(s result.Source) io.Reader {
	sample := make([]byte, min(sampleSize, max(0, s.Size)))
	n, _ := s.Data.ReadAt(sample, 0)
	return transform.NewReader(io.NewSectionReader(s.Data, 0, s.Size), unicode.BOMOverride(charset(sample[:n]).NewDecoder()))
}

func charset(sample []byte) encoding.Encoding {
	zeros := [2]int{} // at even and at odd places
	for i, c := range sample {
		if c == 0 {
			zeros[i%2]++
		}
	}
	const few = 8
	switch {
	case zeros[1] > len(sample)/few && zeros[0] <= zeros[1]/few:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case zeros[0] > len(sample)/few && zeros[1] <= zeros[0]/few:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case isGB18030(sample):
		return simplifiedchinese.GB18030
	}
	return encoding.Nop
}

// isGB18030 reports whether a text is Chinese as Windows writes it: it is not UTF-8,
// of which it would have more whole characters than broken ones, it decodes, and most
// of its characters are those in use.
func isGB18030(sample []byte) bool {
	whole, broken := 0, 0
	for rest := sample; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && n == 1:
			broken++
		case n > 1:
			whole++
		}
		rest = rest[n:]
	}
	if broken <= whole {
		return false
	}
	if i := bytes.LastIndexByte(sample, '\n'); i >= 0 && len(sample) == sampleSize {
		sample = sample[:i] // a character may be cut at the end
	}
	text, err := simplifiedchinese.GB18030.NewDecoder().Bytes(sample)
	return err == nil && !bytes.ContainsRune(text, utf8.RuneError) && inUse(sample)
}

// inUse reports whether most characters of two bytes are of the first set, that of
// 1980.
func inUse(text []byte) bool {
	known, rare := 0, 0
	for i := 0; i+1 < len(text); i++ {
		if text[i] < 0x80 {
			continue
		}
		if i++; text[i] >= 0xa1 {
			known++
		} else {
			rare++
		}
	}
	return known > rare
}
