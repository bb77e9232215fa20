package inputs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/run"
)

// Watch is d with the Ledger noting files from Open, Read, Folder and Hub.
func (l *Ledger) Watch(d run.Deps) run.Deps {
	open, read, folder, hub, tempFolder := d.Open, d.Read, d.Folder, d.Hub, d.Temp
	d.Temp = temp
	if open != nil {
		d.Open = func(name string) (workload.Reader, error) {
			actual := inTemp(name, tempFolder)
			r, err := open(actual)
			if err == nil {
				l.note(&noted{Input: fleet.Input{Kind: fleet.FileInput, Name: name}, open: func(context.Context) (io.ReadCloser, error) { return openFile(folder, actual) }})
			}
			return r, err
		}
	}
	if read != nil {
		d.Read = func(name string) ([]byte, error) {
			b, err := read(name)
			if err == nil {
				l.note(&noted{Input: fleet.Input{Kind: fleet.FileInput, Name: name}, read: true, open: func(context.Context) (io.ReadCloser, error) { return opened(read(name)) }})
			}
			return b, err
		}
	}
	if folder != nil {
		d.Folder = func(name string) fs.FS {
			files := folder(name)
			if files == nil {
				return nil
			}
			return watchedFiles{files, l, func(p string) fleet.Input { return l.inFolder(name, p) }}
		}
	}
	if hub != nil {
		d.Hub = func(download bool) run.Hub { return watchedHub{hub(download), l} }
	}
	return d
}

// inTemp is the name of a file where the folder of temporary files is folder.
func inTemp(name, folder string) string {
	if rest, ok := strings.CutPrefix(name, temp+"/"); ok {
		return filepath.Join(folder, rest)
	}
	return name
}

// A watchedHub notes the files from a hub.
type watchedHub struct {
	run.Hub
	ledger *Ledger
}

// Tokenizer notes where it is: its files are read through run.Deps.Folder.
func (h watchedHub) Tokenizer(ctx context.Context, name string) (string, error) {
	root, err := h.Hub.Tokenizer(ctx, name)
	if err == nil {
		h.ledger.found(name, root)
	}
	return root, err
}

// Dataset notes the files of a dataset that are opened.
func (h watchedHub) Dataset(ctx context.Context, name string) (fs.FS, string, error) {
	files, root, err := h.Hub.Dataset(ctx, name)
	if err != nil {
		return nil, "", err
	}
	return watchedFiles{files, h.ledger, func(p string) fleet.Input {
		return fleet.Input{Kind: fleet.DatasetInput, Name: name, Root: root, Path: p}
	}}, root, nil
}

// Fetch hashes the content of an address while it is read, because it may be another next time.
func (h watchedHub) Fetch(ctx context.Context, address string) (io.ReadCloser, error) {
	r, err := h.Hub.Fetch(ctx, address)
	if err != nil {
		return nil, err
	}
	return &fetching{r, h, address, sha256.New(), 0}, nil
}

// A fetching is a content of an address while it is read.
type fetching struct {
	io.ReadCloser
	hub     watchedHub
	address string
	sum     hash.Hash
	size    int64
}

func (f *fetching) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	_, _ = f.sum.Write(p[:n]) // never fails
	f.size += int64(n)
	return n, err
}

// Close reads the rest. A content that does not come to its end is not noted.
func (f *fetching) Close() error {
	l := f.hub.ledger
	if _, err := io.Copy(io.Discard, io.LimitReader(f, max(0, l.limit()-f.size)+1)); err == nil && f.size <= l.limit() {
		l.note(&noted{
			Input: fleet.Input{Kind: fleet.FetchedInput, Name: f.address, Digest: hex.EncodeToString(f.sum.Sum(nil)), Size: f.size}, fetched: true,
			open: func(ctx context.Context) (io.ReadCloser, error) { return f.hub.Hub.Fetch(ctx, f.address) },
		})
	}
	return f.ReadCloser.Close()
}

// watchedFiles is a folder that notes its files when they are opened, and its folders when they are listed.
type watchedFiles struct {
	files  fs.FS
	ledger *Ledger
	as     func(p string) fleet.Input
}

func (w watchedFiles) Open(p string) (fs.File, error) {
	file, err := w.files.Open(p)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return file, nil // its reader will see
	}
	if !info.IsDir() {
		w.note(w.as(p), p)
		return file, nil
	}
	if dir, ok := file.(fs.ReadDirFile); ok {
		return watchedFolder{dir, w, p}, nil
	}
	return file, nil
}

// note keeps an Input that lies at p.
func (w watchedFiles) note(in fleet.Input, p string) {
	if in.Path == "." { // the tokenizer itself is the file
		in.Path = ""
	}
	w.ledger.note(&noted{Input: in, open: func(context.Context) (io.ReadCloser, error) { return openIn(w.files, p) }})
}

// A watchedFolder notes that it is listed.
type watchedFolder struct {
	fs.ReadDirFile
	files watchedFiles
	path  string
}

func (f watchedFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	in := f.files.as(f.path)
	in.Path += "/"
	f.files.note(in, f.path+"/")
	return f.ReadDirFile.ReadDir(n)
}
