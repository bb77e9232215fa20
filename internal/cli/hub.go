package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What a repository of the Hugging Face hub holds.
const (
	hubModel   = "model"
	hubDataset = "dataset"
)

// A hub is the cache of Hugging Face's Python library on this machine and, where it
// may be asked, the site behind it. What it downloads goes into the cache in that
// library's layout, so that each finds what the other left:
//
//	models--ORG--NAME/refs/main             the commit that main was
//	models--ORG--NAME/blobs/ETAG            a file
//	models--ORG--NAME/snapshots/COMMIT/PATH a link to it
type hub struct {
	cache    string
	endpoint string
	token    string
	closed   string // why nothing is downloaded, empty if it may be
	client   *http.Client
}

// downloadVariable allows downloads where the command line is another tool's.
const downloadVariable = "PITOT_HF_DOWNLOAD"

// hub is the hub by the variables that its Python library reads.
func (p *Process) hub() hub {
	h := hub{
		cache:    p.hubCache(),
		endpoint: strings.TrimRight(cmp.Or(p.getenv("HF_ENDPOINT"), "https://huggingface.co"), "/"),
		token:    p.hubToken(),
	}
	switch {
	case truthy(p.getenv("HF_HUB_OFFLINE")):
		h.closed = "HF_HUB_OFFLINE is set"
	case p.getenv("HF_HUB_OFFLINE") == "" && truthy(p.getenv("TRANSFORMERS_OFFLINE")):
		h.closed = "TRANSFORMERS_OFFLINE is set"
	case !p.download && !truthy(p.getenv(downloadVariable)):
		h.closed = downloadVariable + "=1 would allow to download it, or --hf-download of pitot bench"
	}
	transport := &http.Transport{DialContext: p.Dial, ResponseHeaderTimeout: 30 * time.Second, TLSHandshakeTimeout: 30 * time.Second}
	if proxy := p.proxy(); proxy != nil {
		transport.Proxy = func(r *http.Request) (*url.URL, error) { return proxy(r.URL) }
	}
	h.client = &http.Client{Transport: transport}
	return h
}

func truthy(v string) bool {
	return slices.Contains([]string{"1", "ON", "YES", "TRUE"}, strings.ToUpper(v))
}

func (p *Process) hubHome() string {
	cache := cmp.Or(p.getenv("XDG_CACHE_HOME"), filepath.Join(p.getenv("HOME"), ".cache"))
	return p.atHome(cmp.Or(p.getenv("HF_HOME"), filepath.Join(cache, "huggingface")))
}

// atHome resolves the ~ of a variable that no shell has read.
func (p *Process) atHome(folder string) string {
	if rest, ok := strings.CutPrefix(folder, "~/"); ok {
		return filepath.Join(p.getenv("HOME"), rest)
	}
	return folder
}

func (p *Process) hubCache() string {
	return p.atHome(cmp.Or(p.getenv("HF_HUB_CACHE"), p.getenv("HUGGINGFACE_HUB_CACHE"), filepath.Join(p.hubHome(), "hub")))
}

// hubToken is the user's, from a variable or from where `hf auth login` puts it.
func (p *Process) hubToken() string {
	if token := cmp.Or(p.getenv("HF_TOKEN"), p.getenv("HUGGING_FACE_HUB_TOKEN")); token != "" {
		return strings.TrimSpace(token) // of a secret's file, with the end of its line
	}
	if truthy(p.getenv("HF_HUB_DISABLE_IMPLICIT_TOKEN")) {
		return ""
	}
	kept, _ := os.ReadFile(p.atHome(cmp.Or(p.getenv("HF_TOKEN_PATH"), filepath.Join(p.hubHome(), "token"))))
	return strings.TrimSpace(string(kept))
}

// hubFile is where a file of a repository lies on this machine, downloaded if it
// must and may be. The kind is hubModel or hubDataset, the path that within the
// repository. The error is fs.ErrNotExist's where there is no such file.
func (p *Process) hubFile(ctx context.Context, repo, kind, path string) (string, error) {
	h := p.hub()
	if file, ok := h.find(repo, kind, path); ok {
		return file, nil
	}
	return h.download(ctx, repo, kind, path)
}

// hubFiles are the paths of the files of a repository: as the hub lists them where
// it may be asked, else those on this machine.
func (p *Process) hubFiles(ctx context.Context, repo, kind string) ([]string, error) {
	h := p.hub()
	if h.closed == "" {
		return h.list(ctx, repo, kind)
	}
	folder, ok := h.snapshot(repo, kind)
	if !ok {
		return nil, h.absent(repo)
	}
	var paths []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		within, err := filepath.Rel(folder, path)
		paths = append(paths, filepath.ToSlash(within))
		return err
	})
	return paths, err
}

// absent says that something is neither here nor to be downloaded.
func (h hub) absent(what string) error {
	return notThere(fmt.Sprintf("%s is not in the Hugging Face cache of this machine (%s); %s", what, h.cache, h.closed))
}

// A notThere says that something is not there, as fs.ErrNotExist does.
type notThere string

func (n notThere) Error() string { return string(n) }

// Is makes it fs.ErrNotExist.
func (n notThere) Is(target error) bool { return target == fs.ErrNotExist }

// folder is where a repository is kept.
func (h hub) folder(repo, kind string) string {
	return filepath.Join(h.cache, kind+"s--"+strings.ReplaceAll(repo, "/", "--"))
}

// isRepo tells names of repositories from paths.
func isRepo(name string) bool {
	owner, model, two := strings.Cut(name, "/")
	plain := func(s string) bool { return s != "" && !strings.HasPrefix(s, ".") && !strings.ContainsAny(s, `/\`) }
	return plain(owner) && (!two || plain(model))
}

// snapshot is the folder of the files of a repository: those of main if it is known,
// else the latest.
func (h hub) snapshot(repo, kind string) (string, bool) {
	all := h.snapshots(repo, kind)
	if len(all) == 0 {
		return "", false
	}
	return all[0], true
}

func (h hub) snapshots(repo, kind string) []string {
	if !isRepo(repo) {
		return nil
	}
	kept := h.folder(repo, kind)
	if ref, err := os.ReadFile(filepath.Join(kept, "refs", "main")); err == nil {
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

// find looks for a file on this machine.
func (h hub) find(repo, kind, path string) (string, bool) {
	for _, folder := range h.snapshots(repo, kind) {
		file := filepath.Join(folder, filepath.FromSlash(path))
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			return file, true
		}
	}
	return "", false
}

// errGated says that a repository is shown only to those who were let in.
var errGated = errors.New("it is not there, or needs a token with access to it: set HF_TOKEN")
