package workload

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// A Spool keeps prompts in a file once they are too many for memory: 100 000 prompts
// of 8192 tokens are 3.6 GB of text. They come back one by one, when their requests
// are written. A nil Spool keeps nothing.
type Spool struct {
	file  File
	limit int64 // bytes of prompts that may stay in memory

	mu   sync.Mutex
	here int64 // bytes in memory
	end  int64 // of the file
}

// A File is where a Spool writes: a temporary file of the process.
type File interface {
	io.ReaderAt
	io.WriterAt
}

// NewSpool keeps up to limit bytes of prompts in memory and the rest in file.
func NewSpool(file File, limit int64) *Spool { return &Spool{file: file, limit: limit} }

// Spill takes the prompt of a request out of memory, unless there is room.
func (s *Spool) Spill(r *Request) error {
	if s == nil || r.Later != nil {
		return nil
	}
	size := int64(len(r.Text) + len(r.Messages) + 4*len(r.Tokens))
	for _, text := range r.Batch {
		size += int64(len(text))
	}
	for _, m := range r.Media {
		size += int64(len(m.Data))
	}
	s.mu.Lock()
	at, fits := s.end, s.here+size <= s.limit
	if fits {
		s.here += size
	} else {
		s.end += size
	}
	s.mu.Unlock()
	if fits {
		return nil
	}
	return s.write(r, at, size)
}

// append puts b behind all that is in the file, and returns where.
func (s *Spool) append(b []byte) (at int64, err error) {
	s.mu.Lock()
	at = s.end
	s.end += int64(len(b))
	s.mu.Unlock()
	return at, s.writeAt(b, at)
}

func (s *Spool) writeAt(b []byte, at int64) error {
	if _, err := s.file.WriteAt(b, at); err != nil {
		return fmt.Errorf("keep prompts that are too many for memory in a file: %w", err)
	}
	return nil
}

func (s *Spool) read(at int64, size int) ([]byte, error) {
	b := make([]byte, size)
	if _, err := s.file.ReadAt(b, at); err != nil {
		return nil, fmt.Errorf("read a prompt back from the file it was kept in: %w", err)
	}
	return b, nil
}

// write puts the text, the messages, the ids, the texts of a batch and the media behind each other.
func (s *Spool) write(r *Request, at, size int64) error {
	b := append(append(make([]byte, 0, size), r.Text...), r.Messages...)
	for _, id := range r.Tokens {
		b = binary.LittleEndian.AppendUint32(b, uint32(id))
	}
	text, messages, ids := len(r.Text), len(r.Messages), len(r.Tokens)
	texts := make([]int, len(r.Batch))
	for i, one := range r.Batch {
		b = append(b, one...)
		texts[i] = len(one)
	}
	media := make([]Media, len(r.Media))
	lengths := make([]int, len(r.Media))
	for i, m := range r.Media {
		b = append(b, m.Data...)
		lengths[i] = len(m.Data)
		media[i] = Media{MIME: m.MIME, URL: m.URL, Seconds: m.Seconds}
	}
	if err := s.writeAt(b, at); err != nil {
		return err
	}
	r.Text, r.Media = "", media
	if r.Batch != nil {
		r.Batch = make([]string, len(texts))
	}
	if r.Messages != nil {
		r.Messages = json.RawMessage{}
	}
	if r.Tokens != nil {
		r.Tokens = []int32{}
	}
	r.Later = func(r *Request) error {
		b, err := s.read(at, int(size))
		if err != nil {
			return err
		}
		r.Text, b = string(b[:text]), b[text:]
		if messages > 0 {
			r.Messages, b = b[:messages:messages], b[messages:]
		}
		for range ids {
			r.Tokens = append(r.Tokens, int32(binary.LittleEndian.Uint32(b)))
			b = b[4:]
		}
		if len(texts) > 0 {
			r.Batch = make([]string, len(texts))
			for i, n := range texts {
				r.Batch[i], b = string(b[:n]), b[n:]
			}
		}
		r.Media = append([]Media(nil), media...)
		for i, n := range lengths {
			if n > 0 {
				r.Media[i].Data, b = b[:n:n], b[n:]
			}
		}
		return nil
	}
	return nil
}
