package inputs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// A notRead error is that of something that the controller did not read.
type notRead string

func (e notRead) Error() string {
	return string(e) + " is not among what the controller prepared the run from"
}

// Is makes it match fs.ErrNotExist.
func (notRead) Is(target error) bool { return target == fs.ErrNotExist }

var errNotTaken = errors.New("has not come from the controller yet")

// Deps are those of this machine, but for files: there are those of the controller, and no others.
// Take comes first.
func (s *Supply) Deps() run.Deps {
	d := s.SupplyOptions.Deps
	d.Temp, d.Open, d.Read, d.Folder, d.Env = temp, s.open, s.read, s.folder, s.env
	d.Hub = func(bool) run.Hub { return supplyHub{s} }
	return d
}

// openHere opens the file of this machine with the name of an Input, as a run would.
func (s *Supply) openHere(ctx context.Context, in fleet.Input) (io.ReadCloser, error) {
	d := s.SupplyOptions.Deps
	switch {
	case in.Kind == fleet.FileInput && in.Path == "":
		return openFile(d.Folder, inTemp(in.Name, d.Temp))
	case in.Kind == fleet.FileInput:
		return inside(d.Folder, in.Name, in.Path)
	case d.Hub == nil:
		return nil, notRead(in.Name)
	case in.Kind == fleet.FetchedInput:
		if name, ok := strings.CutPrefix(in.Name, "file://"); ok {
			return openFile(d.Folder, name)
		}
		return d.Hub(false).Fetch(ctx, in.Name)
	case in.Kind == fleet.DatasetInput:
		repository, _, err := d.Hub(false).Dataset(ctx, in.Name)
		if err != nil {
			return nil, err
		}
		return openIn(repository, in.Path)
	case in.Kind == fleet.TokenizerInput:
		root, err := d.Hub(false).Tokenizer(ctx, in.Name)
		if err != nil {
			return nil, err
		}
		if in.Path == "" {
			return inside(d.Folder, filepath.Dir(root), filepath.Base(root))
		}
		return inside(d.Folder, root, in.Path)
	}
	return nil, fmt.Errorf("%q is no kind of input", in.Kind)
}

func (s *Supply) content(ctx context.Context, i int) (io.ReadCloser, error) {
	switch one := &s.all[i]; one.from {
	case here:
		return s.openHere(ctx, one.Input)
	case inFolder:
		return files.Open(s.file(one.Input))
	default:
		return nil, fmt.Errorf("%s %w", Title(one.Input), errNotTaken)
	}
}

// open is run.Deps.Open.
func (s *Supply) open(name string) (workload.Reader, error) {
	i, ok := s.at[key{fleet.FileInput, name, ""}]
	if !ok {
		return nil, notRead(name)
	}
	r, err := s.content(context.Background(), i)
	if err != nil {
		return nil, err
	}
	file, ok := r.(workload.Reader)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%s cannot be read in parts", name), r.Close())
	}
	return file, nil
}

// read is run.Deps.Read. The file of a secret is the controller's: one of this machine would go to
// whatever server the Spec names.
func (s *Supply) read(name string) ([]byte, error) {
	if slices.Contains(s.secretFiles, name) {
		if given, ok := s.Files[name]; ok {
			return []byte(given), nil
		}
		return nil, notRead(name)
	}
	r, err := s.open(name)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// env is run.Deps.Env: a variable of this machine, else the controller's if it is that of a secret.
func (s *Supply) env(name string) (value string, ok bool) {
	if look := s.SupplyOptions.Deps.Env; look != nil {
		value, ok = look(name)
	}
	if given, is := s.Env[name]; is && !ok && slices.Contains(s.secretVars, name) {
		return given, true
	}
	return value, ok
}

// folder is run.Deps.Folder: the files of folders and tokenizers that lie in it on the controller.
func (s *Supply) folder(name string) fs.FS {
	t := &tree{s, map[string]int{}}
	for i, one := range s.all {
		if one.Kind == fleet.TokenizerInput || one.Kind == fleet.FileInput && one.Path != "" {
			t.add(name, i, one.Input)
		}
	}
	if len(t.at) == 0 {
		return nil
	}
	return t
}

func (t *tree) add(folder string, i int, in fleet.Input) {
	within, err := filepath.Rel(folder, place(in))
	within = filepath.ToSlash(within)
	if err != nil || !fs.ValidPath(within) || within == "." && !isList(in) {
		return
	}
	if isList(in) {
		within += "/"
	}
	t.at[within] = i
}

// A supplyHub has the tokenizers, datasets and addresses of the controller.
type supplyHub struct{ supply *Supply }

// Tokenizer is where the controller has it: the folder there is a tree.
func (h supplyHub) Tokenizer(_ context.Context, name string) (string, error) {
	for _, one := range h.supply.all {
		if one.Kind == fleet.TokenizerInput && one.Name == name {
			return one.Root, nil
		}
	}
	return "", notRead("tokenizer " + name)
}

// Dataset is the files of a dataset that the controller opened.
func (h supplyHub) Dataset(_ context.Context, name string) (fs.FS, string, error) {
	t, root := &tree{h.supply, map[string]int{}}, ""
	for i, one := range h.supply.all {
		if one.Kind == fleet.DatasetInput && one.Name == name {
			t.at[one.Path], root = i, one.Root
		}
	}
	if len(t.at) == 0 {
		return nil, "", notRead("dataset " + name)
	}
	return t, root, nil
}

func (h supplyHub) Fetch(ctx context.Context, address string) (io.ReadCloser, error) {
	i, ok := h.supply.at[key{fleet.FetchedInput, address, ""}]
	if !ok {
		return nil, notRead(address)
	}
	return h.supply.content(ctx, i)
}

// A tree is a folder of the controller: the files in it that were opened, and the lists of folders
// that were asked for.
type tree struct {
	supply *Supply
	at     map[string]int // Inputs by path, with a slash at the end of a list's
}

func (t *tree) Open(p string) (fs.File, error) {
	if !fs.ValidPath(p) {
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrInvalid}
	}
	if i, ok := t.at[p]; ok {
		r, err := t.supply.content(context.Background(), i)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: p, Err: err}
		}
		if file, ok := r.(fs.File); ok {
			return file, nil
		}
		return nil, errors.Join(&fs.PathError{Op: "open", Path: p, Err: errNoFile}, r.Close())
	}
	for within := range t.at {
		if p == "." || strings.HasPrefix(within, p+"/") {
			return files.OpenFolder(p, t.list), nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: p, Err: notRead(p)}
}

// list is the list of a folder as the controller saw it.
func (t *tree) list(dir string) (out []fs.DirEntry, err error) {
	i, ok := t.at[dir+"/"]
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: dir, Err: notRead("the list of " + dir)}
	}
	r, err := t.supply.content(context.Background(), i)
	if err != nil {
		return nil, err
	}
	var all []entry
	err = json.NewDecoder(r).Decode(&all)
	for _, e := range all {
		out = append(out, files.NewEntry(e.Name, e.Folder))
	}
	return out, errors.Join(err, r.Close())
}
