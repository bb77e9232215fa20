package rows

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Compression is the suffix of a compressed file.
type Compression string

// The compressions.
const (
	Plain Compression = ""
	Gzip  Compression = ".gz"
	Zstd  Compression = ".zst"
)

// Open reads a file of any format called name. The caller keeps r open while rows
// are read.
func Open(name string, r io.ReaderAt, size int64) (*Table, error) {
	format, _, err := FormatOf(name)
	switch {
	case err != nil:
		return nil, err
	case format == Parquet:
		return openParquet(r, size)
	}
	return Read(name, io.NewSectionReader(r, 0, size))
}

// OpenFile is Open of a file, which is read as a stream if it has to be.
func OpenFile(name string, f fs.File) (*Table, error) {
	at, ok := f.(io.ReaderAt)
	if !ok {
		return Read(name, f)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return Open(name, at, info.Size())
}

// Read reads the file called name from a stream, in any format except Parquet.
func Read(name string, r io.Reader) (*Table, error) {
	format, packed, err := FormatOf(name)
	if err != nil {
		return nil, err
	}
	if r, err = unpack(r, packed); err != nil {
		return nil, err
	}
	return ReadAs(format, r)
}

// ReadAs reads an uncompressed stream in the given format.
func ReadAs(format Format, r io.Reader) (*Table, error) {
	limit := newRowLimit(r, format)
	text, err := SkipMark(limit)
	if err != nil {
		return nil, err
	}
	var t *Table
	switch format {
	case JSONLines:
		t = &Table{all: jsonLines(text)}
	case JSON:
		t = &Table{all: jsonValues(text)}
	case CSV:
		if t, err = openCSV(text); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("a %s file cannot be read from a stream", format)
	}
	t.all = limit.each(t.all)
	return t, nil
}

// Unpack reads the file called name, decompressing it according to the extension.
func Unpack(name string, r io.Reader) (io.Reader, error) {
	for _, c := range []Compression{Gzip, Zstd} {
		if strings.HasSuffix(strings.ToLower(name), string(c)) {
			return unpack(r, c)
		}
	}
	return r, nil
}

func unpack(r io.Reader, c Compression) (io.Reader, error) {
	switch c {
	case Gzip:
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		return z, nil
	case Zstd:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		return z, nil
	}
	return r, nil
}

// SkipMark skips the byte order mark that some editors write.
func SkipMark(r io.Reader) (*bufio.Reader, error) {
	text := bufio.NewReaderSize(r, 64<<10)
	mark := []byte("\ufeff")
	b, err := text.Peek(len(mark))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.Equal(b, mark) {
		_, err = text.Discard(len(mark))
		return text, err
	}
	return text, nil
}
