package hub

import (
	"context"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/sys/files"
)

func (r Repository) download(ctx context.Context, file string) (string, error) {
	if !isRepository(r.name) || !fs.ValidPath(file) || strings.Contains(file, `\`) {
		return "", notFound(fmt.Sprintf("%s of %s: not the name of a file in a repository", file, r.name))
	}
	address := r.address(file)
	e, err := r.hub.entry(ctx, address)
	if err != nil {
		return "", fmt.Errorf("download %s of %s: %w", file, r.name, err)
	}
	blob := filepath.Join(r.folder(), "blobs", e.etag)
	if info, err := os.Stat(blob); err != nil || e.size >= 0 && info.Size() != e.size {
		if err := r.hub.fetchBlob(ctx, address, blob, e); err != nil {
			return "", fmt.Errorf("download %s of %s: %w", file, r.name, err)
		}
	}
	link := filepath.Join(r.folder(), "snapshots", e.commit, filepath.FromSlash(file))
	if err := errors.Join(linkTo(blob, link), writeText(filepath.Join(r.folder(), "refs", "main"), e.commit)); err != nil {
		return "", fmt.Errorf("keep %s of %s: %w", file, r.name, err)
	}
	return link, nil
}

// stall is the longest time without data in a download.
const stall = time.Minute

// fetchBlob downloads the content of a file and compares it with the announced size
// and hash.
func (h *Hub) fetchBlob(ctx context.Context, address, blob string, e entry) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	res, err := h.ask(ctx, http.MethodGet, address, true)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	watch := time.AfterFunc(stall, func() { cancel(fmt.Errorf("no data for %v", stall)) })
	defer watch.Stop()
	return writeFile(blob, func(w io.Writer) error {
		sum, checked := etagHash(e)
		n, err := io.Copy(io.MultiWriter(w, sum), stallReader{res.Body, watch})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return h.redacted(err)
		case e.size >= 0 && n != e.size:
			return fmt.Errorf("got %d of %d bytes", n, e.size)
		case checked && hex.EncodeToString(sum.Sum(nil)) != e.etag:
			return fmt.Errorf("the content does not have the hash that the hub announced (ETag %s)", e.etag)
		}
		return nil
	})
}

// A stallReader resets a timer with every read.
type stallReader struct {
	io.Reader
	watch *time.Timer
}

func (r stallReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.watch.Reset(stall)
	return n, err
}

// etagHash is the hash to compare with an ETag: the SHA-256 of a large file, or
// git's hash of a small one, distinguished by their length. The ETags of a mirror
// may be neither.
func etagHash(e entry) (h hash.Hash, checked bool) {
	if _, err := hex.DecodeString(e.etag); err != nil || strings.ToLower(e.etag) != e.etag {
		return sha1.New(), false
	}
	switch {
	case len(e.etag) == 2*sha256.Size:
		return sha256.New(), true
	case len(e.etag) == 2*sha1.Size && e.size >= 0:
		git := sha1.New()
		fmt.Fprintf(git, "blob %d\x00", e.size)
		return git, true
	}
	return sha1.New(), false
}

// writeFile creates a file, and its folder.
func writeFile(name string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return files.Write(name, write)
}

func writeText(name, text string) error {
	return writeFile(name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// linkTo makes link point at blob, replacing an existing one.
func linkTo(blob, link string) error {
	folder := filepath.Dir(link)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	to, err := filepath.Rel(folder, blob)
	if err != nil {
		return err
	}
	if there, err := os.Readlink(link); err == nil && there == to {
		return nil
	}
	fresh := link + "." + rand.Text() + ".incomplete" // another process may do the same
	if err := os.Symlink(to, fresh); err != nil {
		return err
	}
	return os.Rename(fresh, link)
}
