package files

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"time"
)

// NewEntry is a file or a folder of a list of paths: nothing else is known of it.
func NewEntry(path string, folder bool) fs.DirEntry { return entry{path, folder} }

// An entry is an fs.DirEntry and an fs.FileInfo.
type entry struct {
	path   string
	folder bool
}

func (e entry) Name() string               { return path.Base(e.path) }
func (e entry) IsDir() bool                { return e.folder }
func (e entry) Type() fs.FileMode          { return e.Mode().Type() }
func (e entry) Info() (fs.FileInfo, error) { return e, nil }
func (entry) Size() int64                  { return 0 }
func (entry) ModTime() time.Time           { return time.Time{} }
func (entry) Sys() any                     { return nil }

// Mode is read-only.
func (e entry) Mode() fs.FileMode {
	if e.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// OpenFolder is an open folder. list gives its entries, when they are first read.
func OpenFolder(path string, list func(path string) ([]fs.DirEntry, error)) fs.ReadDirFile {
	return &openFolder{path: path, list: list}
}

type openFolder struct {
	path   string
	list   func(path string) ([]fs.DirEntry, error)
	rest   []fs.DirEntry
	listed bool
}

func (d *openFolder) Stat() (fs.FileInfo, error) { return entry{d.path, true}, nil }
func (d *openFolder) Close() error               { return nil }

func (d *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.path, Err: errors.New("is a folder")}
}

// ReadDir gives up to n entries, or all.
func (d *openFolder) ReadDir(n int) (some []fs.DirEntry, err error) {
	if !d.listed {
		if d.rest, err = d.list(d.path); err != nil {
			return nil, err
		}
		d.listed = true
	}
	if n > 0 && len(d.rest) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.rest) {
		n = len(d.rest)
	}
	some, d.rest = d.rest[:n:n], d.rest[n:]
	return some, nil
}
