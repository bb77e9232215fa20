package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/files"
)

// maxListing is the maximum size of a file list, in bytes.
const maxListing = 64 << 20

// list asks the hub for the paths of the repository's files.
func (r Repository) list(ctx context.Context) ([]string, error) {
	res, err := r.hub.ask(ctx, http.MethodGet, r.hub.endpoint+"/api/"+r.kind+"s/"+r.name+"/revision/main", true)
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", r.name, err)
	}
	defer res.Body.Close()
	var listed struct {
		Siblings []struct {
			Path string `json:"rfilename"`
		} `json:"siblings"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxListing)).Decode(&listed); err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", r.name, err)
	}
	var paths []string
	for _, f := range listed.Siblings {
		paths = append(paths, f.Path)
	}
	return paths, nil
}

func (r Repository) address(file string) string {
	parts := strings.Split(file, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	kind := map[string]string{"dataset": "datasets/"}[r.kind]
	return r.hub.endpoint + "/" + kind + r.name + "/resolve/main/" + path.Join(parts...)
}

// An entry is the hub's description of a file before its download.
type entry struct {
	commit, etag string
	size         int64 // -1 if unknown
}

// entry asks the hub about a file. The hub's own response describes the file even
// if the bytes are elsewhere.
func (h *Hub) entry(ctx context.Context, address string) (entry, error) {
	res, err := h.ask(ctx, http.MethodHead, address, false)
	if err != nil {
		return entry{}, err
	}
	res.Body.Close()
	etag := cmp.Or(res.Header.Get("X-Linked-Etag"), res.Header.Get("Etag"))
	e := entry{
		commit: res.Header.Get("X-Repo-Commit"), etag: strings.Trim(strings.TrimPrefix(etag, "W/"), `"`),
		size: res.ContentLength,
	}
	if linked := res.Header.Get("X-Linked-Size"); linked != "" {
		if e.size, err = strconv.ParseInt(linked, 10, 64); err != nil {
			return entry{}, fmt.Errorf("X-Linked-Size: %w", err)
		}
	} else if res.StatusCode/100 == 3 {
		e.size = -1
	}
	if !isFileName(e.commit) || !isFileName(e.etag) {
		return entry{}, fmt.Errorf("%s is not a Hugging Face hub: X-Repo-Commit %q, ETag %q", res.Request.URL.Host,
			e.commit, e.etag)
	}
	return e, nil
}

// isFileName distinguishes names of files from paths.
func isFileName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, `/\`+"\x00")
}

// ask makes a request. A status that is not 2xx is an error, except a redirect to
// another host if follow is false. The token is sent only to the hub.
func (h *Hub) ask(ctx context.Context, method, address string, follow bool) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", h.agent)
	req.Header.Set("Accept-Encoding", "identity") // sizes and hashes refer to the file itself
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
				return http.ErrUseLastResponse
			}
		}
		return nil
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, h.redacted(err)
	}
	if res.StatusCode/100 == 2 || !follow && res.StatusCode/100 == 3 {
		return res, nil
	}
	defer res.Body.Close()
	return nil, refusal(res)
}

// redacted removes the token from an error.
func (h *Hub) redacted(err error) error {
	if h.token == "" || !strings.Contains(err.Error(), h.token) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), h.token, "***"))
}

func refusal(res *http.Response) error {
	code := res.Header.Get("X-Error-Code")
	switch {
	case res.StatusCode == http.StatusNotFound && code == "EntryNotFound":
		return notFound("the repository has no such file")
	case res.StatusCode == http.StatusNotFound:
		return notFound(res.Request.URL.Host + " has no such repository or file")
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden:
		return fmt.Errorf("HTTP %d: it does not exist or needs a token with access: set HF_TOKEN", res.StatusCode)
	}
	return fmt.Errorf("%s answered HTTP %d %s", res.Request.URL.Host, res.StatusCode, code)
}

// Fetch opens an image, audio or video at a file:// or http URL, independent of the
// hub. The caller closes it.
func (h *Hub) Fetch(ctx context.Context, address string) (io.ReadCloser, error) {
	if path, ok := strings.CutPrefix(address, "file://"); ok {
		return files.OpenRegular(path)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", address, err)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("fetch %s: %s", address, resp.Status), resp.Body.Close())
	}
	return resp.Body, nil
}
