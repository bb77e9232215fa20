package hub

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/sys/files"
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

// folder is the cache folder of the repository.
func (r Repository) folder() string {
	return filepath.Join(r.hub.cache, r.kind+"s--"+strings.ReplaceAll(r.name, "/", "--"))
}

// isRepository distinguishes names of repositories from paths and patterns.
func isRepository(name string) bool { return repositoryName.MatchString(name) }

// repositoryName is a name, or an owner and a name, each of at most 96 characters.
var repositoryName = regexp.MustCompile(`^\w[\w.-]{0,95}(/\w[\w.-]{0,95})?$`)

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
	kept := r.folder()
	if ref, err := files.ReadSmall(filepath.Join(kept, "refs", "main")); err == nil {
		folder := filepath.Join(kept, "snapshots", strings.TrimSpace(string(ref)))
		if _, err := os.Stat(folder); err == nil {
			return []string{folder}
		}
	}
	found, _ := filepath.Glob(filepath.Join(kept, "snapshots", "*"))
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
