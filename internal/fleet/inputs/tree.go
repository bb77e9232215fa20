package inputs

import (
	"io"
	"io/fs"
	"path"
	"time"
)

// A folderEntry is an entry as fs.DirEntry and as fs.FileInfo. Of a file only the name is known.
type folderEntry struct{ entry }

func (e folderEntry) Name() string               { return path.Base(e.entry.Name) }
func (e folderEntry) IsDir() bool                { return e.Folder }
func (e folderEntry) Type() fs.FileMode          { return e.Mode().Type() }
func (e folderEntry) Info() (fs.FileInfo, error) { return e, nil }
func (folderEntry) Size() int64                  { return 0 }
func (folderEntry) ModTime() time.Time           { return time.Time{} }
func (folderEntry) Sys() any                     { return nil }

// Mode tells files from folders.
func (e folderEntry) Mode() fs.FileMode {
	if e.Folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// An openTree is a folder of a tree, open.
type openTree struct {
	folderEntry
	tree   *tree
	rest   []fs.DirEntry
	listed bool
}

func (d *openTree) Stat() (fs.FileInfo, error) { return d.folderEntry, nil }
func (d *openTree) Close() error               { return nil }

// Read is an error.
func (d *openTree) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.entry.Name, Err: errNoFile}
}

// ReadDir gives up to n entries, or all.
func (d *openTree) ReadDir(n int) (some []fs.DirEntry, err error) {
	if !d.listed {
		if d.rest, err = d.tree.list(d.entry.Name); err != nil {
			return nil, err
		}
		d.listed = true
	}
	if n > 0 && len(d.rest) == 0 {
		return nil, io.EOF
	}
	if n <= 0 {
		n = len(d.rest)
	}
	n = min(n, len(d.rest))
	some, d.rest = d.rest[:n:n], d.rest[n:]
	return some, nil
}
