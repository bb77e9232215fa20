package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/pitot-bench/pitot/internal/load/tokenizer"
)

// A fakeHub is a hub with one repository, and another host for large files.
type fakeHub struct {
	files   map[string]string
	large   map[string]bool // stored at the other host
	token   string          // required, empty for none
	cut     bool            // bodies end early
	changed bool            // bodies differ from the announcement

	hub, other *httptest.Server
	asked      []string
	leaked     bool // the token was sent to the other host
}

const hubCommit = "0123456789abcdef0123456789abcdef01234567"

func newFakeHub(t *testing.T, files map[string]string) *fakeHub {
	f := &fakeHub{files: files, large: map[string]bool{}}
	f.other = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.leaked = f.leaked || r.Header.Get("Authorization") != ""
		f.body(w, strings.TrimPrefix(r.URL.Path, "/"))
	}))
	f.hub = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.hub.Close)
	t.Cleanup(f.other.Close)
	return f
}

func (f *fakeHub) serve(w http.ResponseWriter, r *http.Request) {
	f.asked = append(f.asked, r.Method+" "+r.URL.Path)
	if f.token != "" && r.Header.Get("Authorization") != "Bearer "+f.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/api/") {
		var list struct {
			Siblings []map[string]string `json:"siblings"`
		}
		for name := range f.files {
			list.Siblings = append(list.Siblings, map[string]string{"rfilename": name})
		}
		_ = json.NewEncoder(w).Encode(list)
		return
	}
	_, name, _ := strings.Cut(r.URL.Path, "/resolve/main/")
	data, ok := f.files[name]
	if !ok || !strings.Contains(r.URL.Path, "org/name/") {
		w.Header().Set("X-Error-Code", "EntryNotFound")
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("X-Repo-Commit", hubCommit)
	if f.large[name] {
		sum := sha256.Sum256([]byte(data))
		w.Header().Set("X-Linked-Etag", `"`+hex.EncodeToString(sum[:])+`"`)
		w.Header().Set("X-Linked-Size", fmt.Sprint(len(data)))
		http.Redirect(w, r, f.other.URL+"/"+name, http.StatusFound)
		return
	}
	sum := sha1.Sum([]byte(fmt.Sprintf("blob %d\x00%s", len(data), data)))
	w.Header().Set("Etag", `W/"`+hex.EncodeToString(sum[:])+`"`)
	f.body(w, name)
}

func (f *fakeHub) body(w http.ResponseWriter, name string) {
	data := f.files[name]
	w.Header().Set("Content-Length", fmt.Sprint(len(data)))
	if f.cut {
		data = data[:len(data)/2]
	}
	if f.changed {
		data = strings.Repeat("x", len(data))
	}
	_, _ = io.WriteString(w, data)
}

// config has its cache in its own folder.
func (f *fakeHub) config(t *testing.T, env map[string]string) (c Config, cache string) {
	home := t.TempDir()
	return Config{
		Getenv: func(name string) string {
			if set, is := env[name]; is {
				return set
			}
			return map[string]string{"HF_ENDPOINT": f.hub.URL, "HF_HOME": home, "HOME": home, DownloadVariable: "1"}[name]
		},
		Dial:    new(net.Dialer).DialContext,
		Version: "test",
	}, filepath.Join(home, "hub")
}

func (f *fakeHub) open(t *testing.T, env map[string]string) (h *Hub, cache string) {
	c, cache := f.config(t, env)
	return New(c), cache
}

// kept returns the files of a cache, with the targets of links.
func kept(t *testing.T, cache string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(cache, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(cache, path)
		if to, err := os.Readlink(path); err == nil {
			name += " -> " + to
		}
		files = append(files, name)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return files
}

func TestDownloadsAreKeptAsPythonKeepsThem(t *testing.T) {
	f := newFakeHub(t, map[string]string{"data/a b.parquet": "some rows", "README.md": "words"})
	f.large["data/a b.parquet"] = true
	f.token = "hf_secret"
	h, cache := f.open(t, map[string]string{"HF_TOKEN": "hf_secret\n"})
	for range 2 {
		file, err := h.Dataset("org/name").File(t.Context(), "data/a b.parquet")
		if err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(file); err != nil || string(data) != "some rows" {
			t.Errorf("%q, %v", data, err)
		}
	}
	if want := []string{
		"HEAD /datasets/org/name/resolve/main/data/a b.parquet", "GET /datasets/org/name/resolve/main/data/a b.parquet",
	}; !slices.Equal(f.asked, want) || f.leaked {
		t.Errorf("asked %q, the token came to the other host: %v", f.asked, f.leaked)
	}
	if _, err := h.Model("org/name").File(t.Context(), "README.md"); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("some rows"))
	blob := hex.EncodeToString(sum[:])
	want := []string{
		"datasets--org--name/blobs/" + blob,
		"datasets--org--name/refs/main",
		"datasets--org--name/snapshots/" + hubCommit + "/data/a b.parquet -> ../../../blobs/" + blob,
		"models--org--name/blobs/" + gitBlob("words"),
		"models--org--name/refs/main",
		"models--org--name/snapshots/" + hubCommit + "/README.md -> ../../blobs/" + gitBlob("words"),
	}
	if got := kept(t, cache); !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	paths, err := h.Dataset("org/name").List(t.Context())
	slices.Sort(paths)
	if err != nil || !slices.Equal(paths, []string{"README.md", "data/a b.parquet"}) {
		t.Errorf("%q, %v", paths, err)
	}
}

func gitBlob(data string) string {
	sum := sha1.Sum([]byte(fmt.Sprintf("blob %d\x00%s", len(data), data)))
	return hex.EncodeToString(sum[:])
}

func TestDownloadsThatFailLeaveNothing(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(f *fakeHub)
		env   map[string]string
		file  string
		want  string
		gone  bool // the error is an fs.ErrNotExist
	}{
		"cut": {func(f *fakeHub) { f.cut = true }, nil, "x", "unexpected EOF", false},
		"changed": {
			func(f *fakeHub) { f.changed = true }, nil, "x", "the content does not have the hash that the hub announced", false,
		},
		"large, too": {
			func(f *fakeHub) { f.changed, f.large["x"] = true, true }, nil, "x",
			"the content does not have the hash that the hub announced", false,
		},
		"gated":   {func(f *fakeHub) { f.token = "t" }, nil, "x", "set HF_TOKEN", false},
		"no file": {func(*fakeHub) {}, nil, "y", "the repository has no such file", true},
		"a path":  {func(*fakeHub) {}, nil, "../x", "not the name of a file", true},
		"offline": {func(*fakeHub) {}, map[string]string{"HF_HUB_OFFLINE": "1"}, "x", "HF_HUB_OFFLINE is set", true},
		"offline as transformers says": {
			func(*fakeHub) {}, map[string]string{"TRANSFORMERS_OFFLINE": "true"}, "x", "TRANSFORMERS_OFFLINE is set", true,
		},
		"not asked": {
			func(*fakeHub) {}, map[string]string{DownloadVariable: ""}, "x", "set PITOT_HF_DOWNLOAD=1 to download it", true,
		},
		"no hub": {func(f *fakeHub) { f.hub.Close() }, nil, "x", "connection refused", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeHub(t, map[string]string{"x": strings.Repeat("content ", 9999)})
			c.spoil(f)
			h, cache := f.open(t, c.env)
			file, err := h.Model("org/name").File(t.Context(), c.file)
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, fs.ErrNotExist) != c.gone {
				t.Errorf("%q, %v", file, err)
			}
			if left := kept(t, cache); len(left) > 0 {
				t.Errorf("there is %q", left)
			}
		})
	}
}

func TestManyMayLinkAtOnce(t *testing.T) {
	folder := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 50 {
				if err := linkTo(filepath.Join(folder, "blob"), filepath.Join(folder, "snapshots", strconv.Itoa(i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := kept(t, folder); len(got) != 50 {
		t.Errorf("%d links: %q", len(got), got)
	}
}

func TestHubTildeIsTheHomeFolder(t *testing.T) {
	f := newFakeHub(t, map[string]string{"x": "y"})
	for _, env := range []map[string]string{{"HF_HOME": "~/kept"}, {"HF_HUB_CACHE": "~/kept/hub"}} {
		c, _ := f.config(t, env)
		want := filepath.Join(c.Getenv("HOME"), "kept", "hub") + "/"
		if file, err := New(c).Model("org/name").File(t.Context(), "x"); err != nil || !strings.HasPrefix(file, want) {
			t.Errorf("%v: %q, %v, want it in %q", env, file, err, want)
		}
	}
}

func TestADownloadIsGivenUpWithTheRun(t *testing.T) {
	f := newFakeHub(t, map[string]string{"x": "y"})
	h, cache := f.open(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Model("org/name").File(ctx, "x"); !errors.Is(err, context.Canceled) || len(kept(t, cache)) > 0 {
		t.Errorf("%v, %q", err, kept(t, cache))
	}
}

// byteRanks is a tiktoken file with single bytes only.
func byteRanks() string {
	var b strings.Builder
	for i := range 256 {
		fmt.Fprintf(&b, "%s %d\n", base64.StdEncoding.EncodeToString([]byte{byte(i)}), i)
	}
	return b.String()
}

const tinyTokenizer = `{"version": "1.0", "pre_tokenizer": {"type": "ByteLevel"}, ` +
	`"decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}}`

func TestTokenizersAreDownloadedWithTheirTemplates(t *testing.T) {
	f := newFakeHub(t, map[string]string{
		"tokenizer.json": tinyTokenizer, "tokenizer_config.json": `{"bos_token": "<s>"}`, "model.safetensors": "weights",
		"tokenizer.model":     "\x0a\x0e",
		"chat_template.jinja": "{{ bos_token }}{{ messages[0].content }}{{ '>' if add_generation_prompt }}",
	})
	h, cache := f.open(t, nil)
	folder, err := h.Tokenizer(t.Context(), "org/name")
	if want := filepath.Join(cache, "models--org--name", "snapshots", hubCommit); err != nil || folder != want {
		t.Fatalf("%q, %v", folder, err)
	}
	for _, name := range []string{"tokenizer.json", "tokenizer_config.json", "chat_template.jinja"} {
		if data, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(data) != f.files[name] {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if got := len(kept(t, cache)); got != 2*3+1 {
		t.Errorf("%d files: %q", got, kept(t, cache))
	}
	asked := len(f.asked)
	if last := f.asked[asked-1]; last != "GET /org/name/resolve/main/tokenizer.json" {
		t.Errorf("the file by which the others are found came before them: %q", f.asked)
	}
	if again, err := h.Tokenizer(t.Context(), "org/name"); err != nil || again != folder || len(f.asked) != asked {
		t.Errorf("the second time the hub is asked for %q, %v", f.asked[asked:], err)
	}
}

func TestWhereTokenizersAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		file string // below the home folder
		data string
		env  map[string]string
		ask  string
	}{
		"the Hugging Face cache": {"hub/models--org--m/snapshots/1/tokenizer.json", tinyTokenizer, nil, "org/m"},
		"of tiktoken":            {"hub/models--org--m/snapshots/1/tiktoken.model", byteRanks(), nil, "org/m"},
		"ModelScope's cache": {
			".cache/modelscope/hub/models/Qwen/Qwen2___5/tokenizer.json", tinyTokenizer, nil, "Qwen/Qwen2.5",
		},
		"ModelScope's older cache": {
			".cache/modelscope/hub/Qwen/Qwen2___5/tokenizer.json", tinyTokenizer, nil, "Qwen/Qwen2.5",
		},
		"ModelScope's, of that name": {
			"ms/models/o/n/tokenizer.json", tinyTokenizer, map[string]string{"MODELSCOPE_CACHE": "ms"}, "o/n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeHub(t, nil)
			if c.env == nil {
				c.env = map[string]string{}
			}
			c.env[DownloadVariable] = ""
			config, cache := f.config(t, c.env)
			home := filepath.Dir(cache)
			if _, set := c.env["MODELSCOPE_CACHE"]; set {
				c.env["MODELSCOPE_CACHE"] = filepath.Join(home, "ms")
			}
			file := filepath.Join(home, filepath.FromSlash(c.file))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			for path, data := range map[string]string{
				file: c.data, filepath.Join(filepath.Dir(file),
					"tokenizer_config.json"): `{"tokenizer_class": "TikTokenTokenizer"}`,
			} {
				if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			found, err := New(config).Tokenizer(t.Context(), c.ask)
			if err != nil || found != filepath.Dir(file) {
				t.Errorf("%q, %v", found, err)
			}
			if _, err := tokenizer.Load(os.DirFS(filepath.Dir(found)), filepath.Base(found)); err != nil {
				t.Error(err)
			}
			if len(f.asked) > 0 {
				t.Errorf("the hub was asked for %q", f.asked)
			}
		})
	}
}

func TestTokenizersThatAreNotFound(t *testing.T) {
	f := newFakeHub(t, map[string]string{"README.md": "x"})
	for name, c := range map[string]struct {
		env       map[string]string
		ask, want string
	}{
		"closed": {
			map[string]string{DownloadVariable: ""},
			"org/name",
			`tokenizer "org/name" is neither a file nor in the Hugging Face cache or the ModelScope cache of this machine; ` +
				`set PITOT_HF_DOWNLOAD=1 to download it`,
		},
		"offline": {
			map[string]string{"HF_HUB_OFFLINE": "1"},
			"org/name",
			`tokenizer "org/name" is neither a file nor in the Hugging Face cache or the ModelScope cache of this machine; ` +
				`HF_HUB_OFFLINE is set`,
		},
		"another file": {
			map[string]string{DownloadVariable: ""},
			"hub_test.go",
			`tokenizer "hub_test.go" is a file, but not of a tokenizer (those are named *.json, *.tiktoken`,
		},
		"a path": {nil, "./none", `tokenizer "./none" is neither a file nor in the Hugging Face cache`},
		"no tokenizer": {
			nil, "org/name",
			`no tokenizer "org/name" on this machine: org/name has no tokenizer of a known form: tokenizer.json or a ` +
				`tiktoken file`,
		},
	} {
		h, _ := f.open(t, c.env)
		if _, err := h.Tokenizer(t.Context(), c.ask); err == nil || !strings.HasPrefix(err.Error(), c.want) ||
			!errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The permission to download belongs to a Hub and does not affect the next one.
func TestOneHubMayDownloadAndTheNextMayNot(t *testing.T) {
	f := newFakeHub(t, map[string]string{"x": "y"})
	c, _ := f.config(t, map[string]string{DownloadVariable: ""})
	c.Download = true
	may := New(c)
	c.Download = false
	mayNot := New(c)
	var missing *Missing
	if _, err := mayNot.Dataset("org/name").File(t.Context(), "x"); !errors.As(err, &missing) ||
		missing.Variable != DownloadVariable {
		t.Error(err)
	}
	if _, err := may.Dataset("org/name").File(t.Context(), "x"); err != nil {
		t.Error(err)
	}
	if _, err := mayNot.Dataset("org/name").File(t.Context(), "x"); err != nil {
		t.Errorf("it is in the cache: %v", err)
	}
}

func TestARepositoryIsAFileSystem(t *testing.T) {
	f := newFakeHub(t, map[string]string{"README.md": "words", "data/a.jsonl": "rows", "data/b/c.jsonl": "more rows"})
	h, cache := f.open(t, nil)
	files, root, err := h.Dataset("org/name").FS(t.Context())
	if err != nil || root != "" {
		t.Fatalf("%q, %v", root, err)
	}
	listed, err := fs.Glob(files, "data/*")
	if err != nil || !slices.Equal(listed, []string{"data/a.jsonl", "data/b"}) || len(kept(t, cache)) > 0 {
		t.Errorf("%q, %v, and in the cache %q", listed, err, kept(t, cache))
	}
	if data, err := fs.ReadFile(files, "data/a.jsonl"); err != nil || string(data) != "rows" || len(kept(t, cache)) != 3 {
		t.Errorf("%q, %v, and in the cache %q", data, err, kept(t, cache))
	}
	if _, err := fs.ReadFile(files, "data/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := fstest.TestFS(files, "README.md", "data/a.jsonl", "data/b/c.jsonl"); err != nil {
		t.Error(err)
	}
	f.hub.Close()
	files, _, err = h.Dataset("org/name").FS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if data, err := fs.ReadFile(files, "data/a.jsonl"); err != nil || string(data) != "rows" {
		t.Errorf("what is in the cache needs no hub: %q, %v", data, err)
	}
	if _, err := fs.ReadDir(files, "."); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a list needs the hub: %v", err)
	}
	offline, _ := f.config(t, map[string]string{"HF_HUB_CACHE": cache, DownloadVariable: ""})
	files, root, err = New(offline).Dataset("org/name").FS(t.Context())
	if want := filepath.Join(cache, "datasets--org--name", "snapshots", hubCommit); err != nil || root != want {
		t.Fatalf("%q, %v", root, err)
	}
	if err := fstest.TestFS(files, "README.md", "data/a.jsonl", "data/b/c.jsonl"); err != nil {
		t.Error(err)
	}
}

func TestRepositoriesThatAreMissing(t *testing.T) {
	f := newFakeHub(t, nil)
	h, cache := f.open(t, map[string]string{DownloadVariable: ""})
	_, _, err := h.Dataset("org/name").FS(t.Context())
	if want := "dataset org/name is not in the Hugging Face cache of this machine (" + cache +
		"); set PITOT_HF_DOWNLOAD=1 to download it"; err == nil || err.Error() != want || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if len(f.asked) > 0 {
		t.Errorf("the hub was asked for %q", f.asked)
	}
}

func TestMediaIsFetched(t *testing.T) {
	f := newFakeHub(t, map[string]string{"image.png": "pixels"})
	h, _ := f.open(t, map[string]string{"HF_TOKEN": "hf_secret"})
	file := filepath.Join(t.TempDir(), "image.png")
	if err := os.WriteFile(file, []byte("pixels"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"file://" + file, f.other.URL + "/image.png"} {
		body, err := h.Fetch(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := io.ReadAll(body); err != nil || string(data) != "pixels" {
			t.Errorf("%s: %q, %v", address, data, err)
		}
		if err := body.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := h.Fetch(t.Context(), f.hub.URL+"/none"); err == nil ||
		!strings.HasSuffix(err.Error(), "/none: 404 Not Found") {
		t.Error(err)
	}
	if f.leaked {
		t.Error("the token went to a host that is not the hub")
	}
}

// A name that is no path is looked up in the caches alone, and is neither a pattern nor a way out
// of them.
func TestNamesThatAreNoPaths(t *testing.T) {
	f := newFakeHub(t, nil)
	c, cache := f.config(t, map[string]string{DownloadVariable: ""})
	snapshot := filepath.Join(cache, "models--org--m", "snapshots", "1")
	folder := t.TempDir()
	t.Chdir(folder)
	for _, name := range []string{snapshot, "org/m", "org/here", "models--x/snapshots/1"} {
		if err := errors.Join(os.MkdirAll(name, 0o755),
			os.WriteFile(filepath.Join(name, "tokenizer.json"), []byte(tinyTokenizer), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	h := New(c)
	if got, err := h.Tokenizer(t.Context(), NameOnly+"org/m"); err != nil || got != snapshot {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := h.Tokenizer(t.Context(), "org/m"); err != nil || got != "org/m" {
		t.Errorf("a path: %q, %v", got, err)
	}
	for _, name := range []string{
		"org/here", "/", ".", "..", "", "~", "*", "org/*", "[o]rg/m", "org/m/", "org/m/..", "../org/m", "org\\m",
		"org/m\x00", "org/m\n", folder, filepath.Join(folder, "org/here/tokenizer.json"),
		NameOnly + "org/here", strings.Repeat("m", 200), strings.Repeat("org/", 1000),
	} {
		if got, err := h.Tokenizer(t.Context(), NameOnly+name); !errors.Is(err, fs.ErrNotExist) || len(f.asked) > 0 {
			t.Errorf("%.50q: %q, %v, asked %q", name, got, err, f.asked)
		} else if len(err.Error()) > 300 {
			t.Errorf("%.50q: %.400s", name, err)
		}
	}
}
