package hub

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// A Repository is a model or a dataset of the Hugging Face hub.
type Repository struct {
	hub        *Hub
	kind, name string
}

// Model returns the model with that name.
func (h *Hub) Model(name string) Repository { return Repository{h, "model", name} }

// Dataset returns the dataset with that name.
func (h *Hub) Dataset(name string) Repository { return Repository{h, "dataset", name} }

// File returns the local path of a file of the repository, downloading it if needed
// and allowed. The error is an fs.ErrNotExist if there is no such file.
func (r Repository) File(ctx context.Context, file string) (string, error) {
	for _, folder := range r.snapshots() {
		here := filepath.Join(folder, filepath.FromSlash(file))
		if info, err := os.Stat(here); err == nil && !info.IsDir() {
			return here, nil
		}
	}
	if r.hub.closed != "" {
		return "", r.missing("file", r.name+"/"+file)
	}
	return r.download(ctx, file)
}

// List returns the paths of the files of the repository: from the hub if allowed,
// else those on this machine.
func (r Repository) List(ctx context.Context) ([]string, error) {
	if r.hub.closed == "" {
		return r.list(ctx)
	}
	folder, ok := r.snapshot()
	if !ok {
		return nil, r.missing(r.kind, r.name)
	}
	var paths []string
	err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		within, err := filepath.Rel(folder, file)
		paths = append(paths, filepath.ToSlash(within))
		return err
	})
	return paths, err
}

func (r Repository) missing(what, name string) error {
	return &Missing{What: what, Name: name, Cache: r.hub.cache, Variable: r.hub.closed}
}

func (r Repository) folder() string {
	return filepath.Join(r.hub.cache, r.kind+"s--"+strings.ReplaceAll(r.name, "/", "--"))
}

// isRepository distinguishes names of repositories from paths and patterns.
func isRepository(name string) bool { return repositoryName.MatchString(name) }

// repositoryName is a name, or an owner and a name, each of at most 96 characters.
var repositoryName = lazy.Regexp(`^\w[\w.-]{0,95}(/\w[\w.-]{0,95})?$`)

// snapshot is the folder of the files of the repository: those of main if known,
// else the latest.
func (r Repository) snapshot() (string, bool) {
	all := r.snapshots()
	if len(all) == 0 {
		return "", false
	}
	return all[0], true
}

func (r Repository) snapshots() []string {
	if !isRepository(r.name) {
		return nil
	}
	cached := r.folder()
	if ref, err := files.ReadSmall(filepath.Join(cached, "refs", "main")); err == nil {
		folder := filepath.Join(cached, "snapshots", strings.TrimSpace(string(ref)))
		if _, err := os.Stat(folder); err == nil {
			return []string{folder}
		}
	}
	found, _ := filepath.Glob(filepath.Join(cached, "snapshots", "*"))
	age := func(folder string) time.Time {
		info, err := os.Stat(folder)
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	slices.SortStableFunc(found, func(a, b string) int { return age(b).Compare(age(a)) })
	return found
}

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

func (f *fileSystem) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	folders, err := f.folders()
	if entries, ok := folders[name]; ok && err == nil {
		return files.OpenFolder(name, func(string) ([]fs.DirEntry, error) { return entries, nil }), nil
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

func (f *fileSystem) tree(paths []string) map[string][]fs.DirEntry {
	folders := map[string][]fs.DirEntry{".": nil}
	var add func(name string, folder bool)
	add = func(name string, folder bool) {
		parent := path.Dir(name)
		if _, known := folders[parent]; !known {
			folders[parent] = nil
			add(parent, true)
		}
		folders[parent] = append(folders[parent], node{files.NewEntry(name, folder), f, name})
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
	fs.DirEntry
	in   *fileSystem
	path string
}

func (n node) Info() (fs.FileInfo, error) { return fs.Stat(n.in, n.path) }
