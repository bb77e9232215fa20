package workload

import (
	"context"
	"io"
	"io/fs"
)

// A Source is what a dataset makes requests of, beside its own settings. What it holds is
// the run's, and the same for all of its datasets but for the seed.
type Source struct {
	Requests int // how many are wanted; 0 leaves it to the dataset
	// Arrivals counts conversations, not their requests, as Requests.
	Arrivals bool
	Seed     uint64 // of all that is drawn
	IDPrefix string // of the ids of requests, their numbers follow
	// Tokens counts and makes prompts; nil: there is none, and prompts are token ids where
	// a dataset can do with that. Local says that it is in this process.
	Tokens Tokenizer
	Local  bool
	Vocab  Vocabulary
	// Model is what the tokenizer was asked for by, its own name or the model's.
	Model string
	// Server is the tokenizer of the server under test, nil where there is none.
	Server   Tokenizer
	Spool    *Spool
	Files    Files
	NeedTime bool // every request must say when it is sent
	Ask      Ask
}

// Ask is what the protocol of a run wants of its requests.
type Ask struct {
	Protocol string // by its name in package endpoint
	Text     bool   // prompts must be text, not token ids
	Messages bool   // they can be chats
	Silent   bool   // answers have no text
	Media    bool   // images can go along
}

// Files is where datasets find what they name. A nil function is for a process that has
// no such thing: what would need it is an error.
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
	// Temp is the folder for temporary files, where other tools keep what they download.
	Temp string
}

// A Reader is an open file.
type Reader interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}
