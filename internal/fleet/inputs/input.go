package inputs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/plan/secret"
)

// MaxSize is the size of the largest Input, in bytes.
const MaxSize = 64 << 30

// MaxInputs is how many Inputs a run can have: more do not fit into an Order.
const MaxInputs = 2000

// maxOrder is the limit of a list of Inputs in JSON, in bytes: a message of NATS has 1 MiB.
const maxOrder = 768 << 10

// temp stands for the folder of temporary files, which is another one on each machine.
const temp = "$TMPDIR"

type key struct {
	kind       fleet.InputKind
	name, path string
}

func keyOf(in fleet.Input) key { return key{in.Kind, in.Name, in.Path} }

// isList reports whether an Input is the list of a folder.
func isList(in fleet.Input) bool { return strings.HasSuffix(in.Path, "/") }

// Title names an Input for people: "tokenizer Qwen/Qwen3-8B (tokenizer.json)".
func Title(in fleet.Input) string {
	name := secret.Mask(in.Name)
	switch {
	case in.Kind == fleet.FetchedInput:
		return name
	case in.Path == "./":
		return fmt.Sprintf("%s %s (the list of its files)", in.Kind, name)
	case in.Path == "":
		return fmt.Sprintf("%s %s", in.Kind, name)
	}
	return fmt.Sprintf("%s %s (%s)", in.Kind, name, in.Path)
}

// short is enough of a digest to distinguish two.
func short(digest string) string { return digest[:min(12, len(digest))] }

// sum is the digest of a content, and its size: at most so many bytes.
func sum(ctx context.Context, r io.Reader, most int64) (digest string, size int64, err error) {
	h := sha256.New()
	size, err = io.CopyBuffer(h, io.LimitReader(bounded{ctx, r}, most+1), make([]byte, 256<<10))
	if err == nil && size > most {
		err = tooLarge(most)
	}
	return hex.EncodeToString(h.Sum(nil)), size, err
}

func tooLarge(most int64) error {
	if most < 1<<30 {
		return fmt.Errorf("larger than %d bytes", most)
	}
	return fmt.Errorf("larger than %d GiB", most>>30)
}

type bounded struct {
	ctx context.Context
	io.Reader
}

func (b bounded) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	return b.Reader.Read(p)
}

// An entry is a file or a folder in the list of a folder.
type entry struct {
	Name   string `json:"name"`
	Folder bool   `json:"folder,omitempty"`
}

// list is the content of the Input that a folder's list is.
func list(files fs.FS, dir string) ([]byte, error) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, err
	}
	all := make([]entry, len(entries))
	for i, e := range entries {
		all[i] = entry{e.Name(), e.IsDir()}
	}
	return json.Marshal(all)
}

// openFile opens a file by its name: in its folder, where it is looked at before.
func openFile(folder func(string) fs.FS, name string) (io.ReadCloser, error) {
	return inside(folder, filepath.Dir(name), filepath.Base(name))
}

func inside(folder func(string) fs.FS, name, p string) (io.ReadCloser, error) {
	if folder == nil {
		return nil, notRead(name)
	}
	within := folder(name)
	if within == nil {
		return nil, notRead(name)
	}
	return openIn(within, p)
}

// openIn opens a file or the list of a folder, and nothing else: to open a pipe waits for its other end, and to open a
// device can do something.
func openIn(files fs.FS, p string) (io.ReadCloser, error) {
	p, isList := strings.CutSuffix(p, "/")
	info, err := fs.Stat(files, p)
	switch {
	case err != nil:
		return nil, err
	case isList && info.IsDir():
		b, err := list(files, p)
		return opened(b, err)
	case isList || !info.Mode().IsRegular():
		return nil, errNoFile
	}
	file, err := files.Open(p)
	if err != nil {
		return nil, err
	}
	if err := regular(file); err != nil { // it was replaced
		_ = file.Close() // only looked at
		return nil, err
	}
	return file, nil
}

var errNoFile = errors.New("is no file that can be read twice")

// regular refuses a device or a pipe, which may have no end and not be read again.
func regular(r io.Reader) error {
	file, ok := r.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return nil
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return cmp.Or(err, errNoFile)
	}
	return nil
}

type lineError struct{ error }

func (e lineError) Error() string { return strings.ReplaceAll(e.error.Error(), "\n", "; ") }

// Unwrap is the error.
func (e lineError) Unwrap() error { return e.error }

func inLine(err error) error { return lineError{err} }

// place is where an Input of a folder or a tokenizer lies, as the controller names it.
func place(in fleet.Input) string {
	return filepath.Join(cmp.Or(in.Root, in.Name), filepath.FromSlash(in.Path))
}

// check refuses an Input that this package does not make.
func check(in fleet.Input, most int64) error {
	p := strings.TrimSuffix(in.Path, "/")
	b, err := hex.DecodeString(in.Digest)
	switch {
	case err != nil || len(b) != sha256.Size || strings.ToLower(in.Digest) != in.Digest:
		return fmt.Errorf("%s: %.80q is not a SHA-256 in hexadecimal", Title(in), in.Digest)
	case in.Size < 0 || in.Size > most:
		return fmt.Errorf("%s has %d bytes: %w", Title(in), in.Size, tooLarge(most))
	case in.Path != "" && (!fs.ValidPath(p) || path.Clean(p) != p):
		return fmt.Errorf("%s %s: %.80q is no path of a file in it", in.Kind, secret.Mask(in.Name), in.Path)
	case in.Object == "":
		return fmt.Errorf("%s has no name in the object store", Title(in))
	}
	return nil
}
