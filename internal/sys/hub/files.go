package hub

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/pitot-bench/pitot/internal/sys/files"
)

// FS returns the repository as a file system: a file that is not in the cache is
// downloaded when it is opened, if that is allowed. Root is the folder of the
// cached files, empty if there are none. The error is a *Missing if there are none
// and downloads are not allowed.
//
// The file system uses ctx as long as it is used itself.
func (r Repository) FS(ctx context.Context) (files fs.FS, root string, err error) {
	root, here := r.snapshot()
	if !here && r.hub.closed != "" {
		return nil, "", r.missing(r.kind, r.name)
	}
	f := &fileSystem{file: func(name string) (string, error) { return r.File(ctx, name) }}
	f.folders = sync.OnceValues(func() (map[string][]fs.DirEntry, error) {
		paths, err := r.List(ctx)
		return f.tree(paths), err
	})
	return f, root, nil
}

// A fileSystem gets its files by path, and its folders from a file list that is
// requested once.
type fileSystem struct {
	file    func(name string) (string, error)
	folders func() (map[string][]fs.DirEntry, error)
}

// Open opens a file or a folder.
func (f *fileSystem) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	folders, err := f.folders()
	if entries, ok := folders[name]; ok && err == nil {
		return &files.OpenFolder{Path: name, List: func(string) ([]fs.DirEntry, error) { return entries, nil }}, nil
	}
	file := ""
	if name != "." { // a file may be cached although the hub cannot be asked for a list
		file, err = f.file(name)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return files.OpenRegular(file)
}

// tree groups the paths into folders.
func (f *fileSystem) tree(paths []string) map[string][]fs.DirEntry {
	folders := map[string][]fs.DirEntry{".": nil}
	var add func(name string, folder bool)
	add = func(name string, folder bool) {
		parent := path.Dir(name)
		if _, known := folders[parent]; !known {
			folders[parent] = nil
			add(parent, true)
		}
		folders[parent] = append(folders[parent], node{files.Entry{Path: name, Folder: folder}, f})
	}
	for _, file := range paths {
		if fs.ValidPath(file) {
			add(file, false)
		}
	}
	for _, entries := range folders {
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return folders
}

// A node is an entry of a list. Info opens the file: nothing is known of it before.
type node struct {
	files.Entry
	in *fileSystem
}

func (n node) Info() (fs.FileInfo, error) { return fs.Stat(n.in, n.Path) }
