package files

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"time"
)

// An Entry is a file or a folder of a list of paths, as fs.DirEntry and as fs.FileInfo: nothing else is known of it.
type Entry struct {
	Path   string
	Folder bool
}

func (e Entry) Name() string               { return path.Base(e.Path) }
func (e Entry) IsDir() bool                { return e.Folder }
func (e Entry) Type() fs.FileMode          { return e.Mode().Type() }
func (e Entry) Info() (fs.FileInfo, error) { return e, nil }
func (Entry) Size() int64                  { return 0 }
func (Entry) ModTime() time.Time           { return time.Time{} }
func (Entry) Sys() any                     { return nil }

// Mode is read-only.
func (e Entry) Mode() fs.FileMode {
	if e.Folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// An OpenFolder is a folder that is read in parts. List gives its entries, when they are first read.
type OpenFolder struct {
	Path string
	List func(path string) ([]fs.DirEntry, error)

	rest   []fs.DirEntry
	listed bool
}

func (d *OpenFolder) Stat() (fs.FileInfo, error) { return Entry{d.Path, true}, nil }
func (d *OpenFolder) Close() error               { return nil }

func (d *OpenFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.Path, Err: errors.New("is a folder")}
}

// ReadDir gives up to n entries, or all.
func (d *OpenFolder) ReadDir(n int) (some []fs.DirEntry, err error) {
	if !d.listed {
		if d.rest, err = d.List(d.Path); err != nil {
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
