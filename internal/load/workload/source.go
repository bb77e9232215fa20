package workload

import (
	"context"
	"io"
	"io/fs"
)

// A Source has everything that a dataset needs to make requests, except its own settings.
// It is the run's, and the same for all of its datasets except for the seed.
type Source struct {
	Requests int // wanted; 0 leaves the number to the dataset
	// Arrivals counts conversations, not their requests, as Requests.
	Arrivals bool
	Seed     uint64 // of all draws
	IDPrefix string // of the ids of requests, their numbers follow
	// Tokens counts and makes prompts; nil: there is none, and prompts are token ids if a
	// dataset supports that. Local: it is in this process.
	Tokens Tokenizer
	Local  bool
	Vocab  Vocabulary
	// Model is the name by which the tokenizer was found: its own or the model's.
	Model string
	// Server is the tokenizer of the server under test, nil where there is none.
	Server Tokenizer
	Spool  *Spool
	// Window is the number of requests beyond which they are made as they are due, 0 for none. InOrder: they are asked
	// for in order, so that each may be made from where the one before it ended.
	Window   int
	InOrder  bool
	Files    Files
	NeedTime bool // every request must have a timestamp
	Ask      Ask
}

// WindowOf is the Window of requests that are made without a tokenizer, or by one in this process; chained, each from
// where the one before it ended.
func (s *Source) WindowOf(chained bool) int {
	if s.Tokens != nil && (!s.Local || chained && !s.InOrder) {
		return 0
	}
	return s.Window
}

// Count is the number of tokens of a text, with those that the model expects around it; 0
// where nothing counts them.
func (s *Source) Count(ctx context.Context, text string) (int, error) {
	if s.Tokens == nil {
		return 0, nil
	}
	ids, err := s.Tokens.Encode(ctx, text, true)
	return len(ids), err
}

// Ask has the requirements of a run's protocol on its requests.
type Ask struct {
	Protocol string // by its name in package endpoint
	Text     bool   // prompts must be text, not token ids
	Messages bool   // they can be chats
	Silent   bool   // answers have no text
	Media    bool   // images can go along
	Full     bool   // answers go on to their full length
}

// Files is where datasets find their files. A nil function means that there are none of
// that sort: using it is an error.
type Files struct {
	// Open opens a file, which a folder is not.
	Open func(name string) (Reader, error)
	// Folder is a folder, nil if there is none of that name.
	Folder func(name string) fs.FS
	// Repository is a dataset of the Hugging Face hub: its copy on this machine, from
	// which files are missing until they are opened where downloads are allowed. Root is
	// where the copy lies. The error is fs.ErrNotExist's where there is none.
	Repository func(ctx context.Context, name string) (files fs.FS, root string, err error)
	// Fetch opens an image, audio or video at a file:// or http address.
	Fetch func(ctx context.Context, address string) (io.ReadCloser, error)
	// Temp is the folder for temporary files, where other tools keep their downloads.
	Temp string
}

// A Reader is an open file.
type Reader interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}
