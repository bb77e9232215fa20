package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// maxListing bounds what the hub may say of a repository.
const maxListing = 64 << 20

// list asks the hub for the paths of a repository's files.
func (h hub) list(ctx context.Context, repo, kind string) ([]string, error) {
	if h.closed != "" {
		return nil, h.absent(repo)
	}
	res, err := h.ask(ctx, http.MethodGet, h.endpoint+"/api/"+kind+"s/"+repo+"/revision/main", true)
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", repo, err)
	}
	defer res.Body.Close()
	var listed struct {
		Siblings []struct {
			Path string `json:"rfilename"`
		} `json:"siblings"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxListing)).Decode(&listed); err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", repo, err)
	}
	var paths []string
	for _, f := range listed.Siblings {
		paths = append(paths, f.Path)
	}
	return paths, nil
}

// ask makes a request; what is not 2xx, or a redirect that is not to be followed,
// is an error.
func (h hub) ask(ctx context.Context, method, address string, follow bool) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "pitot/"+Version())
	req.Header.Set("Accept-Encoding", "identity") // sizes and hashes are of the file itself
	if h.token != "" {
		req.Header.Set("Authorization", "Bearer "+h.token)
	}
	client := *h.client
	client.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if len(via) > 10 {
			return errors.New("the hub redirects in circles")
		}
		if first := via[0].URL; next.URL.Host != first.Host || next.URL.Scheme != first.Scheme {
			next.Header.Del("Authorization")
			if !follow {
				return http.ErrUseLastResponse // the answer of the hub itself names the file
			}
		}
		return nil
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, h.unsaid(err)
	}
	if res.StatusCode/100 == 2 || !follow && res.StatusCode/100 == 3 {
		return res, nil
	}
	defer res.Body.Close()
	return nil, refusal(res)
}

// unsaid keeps the token out of an error.
func (h hub) unsaid(err error) error {
	if h.token == "" || !strings.Contains(err.Error(), h.token) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), h.token, "***"))
}

// refusal says why the hub does not give something.
func refusal(res *http.Response) error {
	code := res.Header.Get("X-Error-Code")
	switch {
	case res.StatusCode == http.StatusNotFound && code == "EntryNotFound":
		return notThere("the repository has no such file")
	case res.StatusCode == http.StatusNotFound:
		return notThere(res.Request.URL.Host + " has no such repository or file")
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden:
		return fmt.Errorf("HTTP %d: %w", res.StatusCode, errGated)
	}
	return fmt.Errorf("%s answered HTTP %d %s", res.Request.URL.Host, res.StatusCode, code)
}

// A hubEntry is what the hub says of a file before it is fetched.
type hubEntry struct {
	commit, etag string
	size         int64 // -1 if not said
}

// download brings a file into the cache.
func (h hub) download(ctx context.Context, repo, kind, file string) (string, error) {
	if h.closed != "" {
		return "", h.absent(repo + "/" + file)
	}
	if !isRepo(repo) || !fs.ValidPath(file) || strings.Contains(file, `\`) {
		return "", notThere(fmt.Sprintf("%s of %s: not the name of a file in a repository", file, repo))
	}
	address := h.endpoint + "/" + map[string]string{hubDataset: "datasets/"}[kind] + repo + "/resolve/main/" + escapePath(file)
	entry, err := h.entry(ctx, address)
	if err != nil {
		return "", fmt.Errorf("download %s of %s: %w", file, repo, err)
	}
	kept := h.folder(repo, kind)
	blob := filepath.Join(kept, "blobs", entry.etag)
	if info, err := os.Stat(blob); err != nil || entry.size >= 0 && info.Size() != entry.size {
		if err := h.fetch(ctx, address, blob, entry); err != nil {
			return "", fmt.Errorf("download %s of %s: %w", file, repo, err)
		}
	}
	link := filepath.Join(kept, "snapshots", entry.commit, filepath.FromSlash(file))
	if err := errors.Join(linkTo(blob, link), writeWhole(filepath.Join(kept, "refs", "main"), entry.commit)); err != nil {
		return "", fmt.Errorf("keep %s of %s: %w", file, repo, err)
	}
	return link, nil
}

func escapePath(file string) string {
	parts := strings.Split(file, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return path.Join(parts...)
}

// entry asks the hub about a file. Its own answer says so even where the bytes are
// elsewhere.
func (h hub) entry(ctx context.Context, address string) (hubEntry, error) {
	res, err := h.ask(ctx, http.MethodHead, address, false)
	if err != nil {
		return hubEntry{}, err
	}
	res.Body.Close()
	etag := cmp.Or(res.Header.Get("X-Linked-Etag"), res.Header.Get("Etag"))
	e := hubEntry{commit: res.Header.Get("X-Repo-Commit"), etag: strings.Trim(strings.TrimPrefix(etag, "W/"), `"`), size: res.ContentLength}
	if linked := res.Header.Get("X-Linked-Size"); linked != "" {
		if e.size, err = strconv.ParseInt(linked, 10, 64); err != nil {
			return hubEntry{}, fmt.Errorf("X-Linked-Size: %w", err)
		}
	} else if res.StatusCode/100 == 3 {
		e.size = -1
	}
	if !plainName(e.commit) || !plainName(e.etag) {
		return hubEntry{}, fmt.Errorf("%s does not answer like a hub: X-Repo-Commit %q, ETag %q", res.Request.URL.Host, e.commit, e.etag)
	}
	return e, nil
}

// plainName tells what can be the name of a file from what is a path.
func plainName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, `/\`+"\x00")
}

// stall is how long a download may go without a byte.
const stall = time.Minute

// fetch writes a blob, first under another name, so that what is there is whole.
func (h hub) fetch(ctx context.Context, address, blob string, e hubEntry) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	res, err := h.ask(ctx, http.MethodGet, address, true)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	watch := time.AfterFunc(stall, func() { cancel(fmt.Errorf("no byte came for %v", stall)) })
	defer watch.Stop()
	return writeBlob(blob, func(w io.Writer) error {
		sum := blobHash(e)
		n, err := io.Copy(io.MultiWriter(w, sum), awake{res.Body, watch})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return h.unsaid(err)
		case e.size >= 0 && n != e.size:
			return fmt.Errorf("%d bytes came, not %d", n, e.size)
		case sum.size > 0 && hex.EncodeToString(sum.Sum(nil)) != e.etag:
			return fmt.Errorf("what came is not what the hub announced (ETag %s)", e.etag)
		}
		return nil
	})
}

// awake puts off a timer with every read.
type awake struct {
	io.Reader
	watch *time.Timer
}

func (a awake) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	a.watch.Reset(stall)
	return n, err
}

// etagHash is the hash that an ETag is, if it is one.
type etagHash struct {
	hash.Hash
	size int
}

// blobHash is the SHA-256 of a large file, or git's name of a small one, told apart
// by their length. A mirror may have other ETags, which say nothing.
func blobHash(e hubEntry) etagHash {
	if _, err := hex.DecodeString(e.etag); err != nil || strings.ToLower(e.etag) != e.etag {
		return etagHash{sha1.New(), 0}
	}
	switch {
	case len(e.etag) == 2*sha256.Size:
		return etagHash{sha256.New(), sha256.Size}
	case len(e.etag) == 2*sha1.Size && e.size >= 0:
		git := sha1.New()
		fmt.Fprintf(git, "blob %d\x00", e.size)
		return etagHash{git, sha1.Size}
	}
	return etagHash{sha1.New(), 0}
}

// writeBlob makes a file that is there whole or not at all.
func writeBlob(name string, write func(io.Writer) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.incomplete")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

func writeWhole(name, text string) error {
	return writeBlob(name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// linkTo makes link point at blob, in place of what was there.
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
	fresh := link + "." + rand.Text() + ".incomplete" // another process may be at the same
	if err := os.Symlink(to, fresh); err != nil {
		return err
	}
	return os.Rename(fresh, link)
}
