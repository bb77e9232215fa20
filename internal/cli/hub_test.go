package cli

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

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// A fakeHub is a hub with one repository, and with another host for large files.
type fakeHub struct {
	files   map[string]string
	large   map[string]bool // kept at the other host
	token   string          // wanted, empty for none
	cut     bool            // bodies end early
	changed bool            // bodies are others than announced

	hub, other *httptest.Server
	asked      []string
	leaked     bool // the token came to the other host
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

// process has its cache in a folder of its own.
func (f *fakeHub) process(t *testing.T, env map[string]string) (*Process, string) {
	home := t.TempDir()
	return &Process{
		Env: func(name string) (string, bool) {
			v, ok := map[string]string{"HF_ENDPOINT": f.hub.URL, "HF_HOME": home, "HOME": home, downloadVariable: "1"}[name]
			if set, is := env[name]; is {
				v, ok = set, true
			}
			return v, ok
		},
		Dial: new(net.Dialer).DialContext,
	}, filepath.Join(home, "hub")
}

// kept are the files of a cache, with what links point to.
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
	p, cache := f.process(t, map[string]string{"HF_TOKEN": "hf_secret\n"})
	for range 2 {
		file, err := p.hubFile(t.Context(), "org/name", hubDataset, "data/a b.parquet")
		if err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(file); err != nil || string(data) != "some rows" {
			t.Errorf("%q, %v", data, err)
		}
	}
	if want := []string{"HEAD /datasets/org/name/resolve/main/data/a b.parquet", "GET /datasets/org/name/resolve/main/data/a b.parquet"}; !slices.Equal(f.asked, want) || f.leaked {
		t.Errorf("asked %q, the token came to the other host: %v", f.asked, f.leaked)
	}
	if _, err := p.hubFile(t.Context(), "org/name", hubModel, "README.md"); err != nil {
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
	paths, err := p.hubFiles(t.Context(), "org/name", hubDataset)
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
		gone  bool // the error is fs.ErrNotExist's
	}{
		"cut":        {func(f *fakeHub) { f.cut = true }, nil, "x", "unexpected EOF", false},
		"changed":    {func(f *fakeHub) { f.changed = true }, nil, "x", "what came is not what the hub announced", false},
		"large, too": {func(f *fakeHub) { f.changed, f.large["x"] = true, true }, nil, "x", "what came is not what the hub announced", false},
		"gated":      {func(f *fakeHub) { f.token = "t" }, nil, "x", "set HF_TOKEN", false},
		"no file":    {func(*fakeHub) {}, nil, "y", "the repository has no such file", true},
		"a path":     {func(*fakeHub) {}, nil, "../x", "not the name of a file", true},
		"offline":    {func(*fakeHub) {}, map[string]string{"HF_HUB_OFFLINE": "1"}, "x", "HF_HUB_OFFLINE is set", true},
		"offline as transformers says": {
			func(*fakeHub) {}, map[string]string{"TRANSFORMERS_OFFLINE": "true"}, "x", "TRANSFORMERS_OFFLINE is set", true,
		},
		"not asked": {func(*fakeHub) {}, map[string]string{downloadVariable: ""}, "x", "PITOT_HF_DOWNLOAD=1 would allow to download it, or --hf-download of pitot bench", true},
		"no hub":    {func(f *fakeHub) { f.hub.Close() }, nil, "x", "connection refused", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeHub(t, map[string]string{"x": strings.Repeat("content ", 9999)})
			c.spoil(f)
			p, cache := f.process(t, c.env)
			file, err := p.hubFile(t.Context(), "org/name", hubModel, c.file)
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
		p, _ := f.process(t, env)
		want := filepath.Join(p.getenv("HOME"), "kept", "hub") + "/"
		if file, err := p.hubFile(t.Context(), "org/name", hubModel, "x"); err != nil || !strings.HasPrefix(file, want) {
			t.Errorf("%v: %q, %v, want it in %q", env, file, err, want)
		}
	}
}

func TestADownloadIsGivenUpWithTheRun(t *testing.T) {
	f := newFakeHub(t, map[string]string{"x": "y"})
	p, cache := f.process(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.hubFile(ctx, "org/name", hubModel, "x"); !errors.Is(err, context.Canceled) || len(kept(t, cache)) > 0 {
		t.Errorf("%v, %q", err, kept(t, cache))
	}
}

// byteRanks is a tiktoken file of bytes alone.
func byteRanks() string {
	var b strings.Builder
	for i := range 256 {
		fmt.Fprintf(&b, "%s %d\n", base64.StdEncoding.EncodeToString([]byte{byte(i)}), i)
	}
	return b.String()
}

const tinyTokenizer = `{"version": "1.0", "pre_tokenizer": {"type": "ByteLevel"}, "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}}`

func TestTokenizersAreDownloadedWithTheirTemplates(t *testing.T) {
	f := newFakeHub(t, map[string]string{
		"tokenizer.json": tinyTokenizer, "tokenizer_config.json": `{"bos_token": "<s>"}`, "model.safetensors": "weights", "tokenizer.model": "\x0a\x0e",
		"chat_template.jinja": "{{ bos_token }}{{ messages[0].content }}{{ '>' if add_generation_prompt }}",
	})
	p, cache := f.process(t, nil)
	tok, err := p.loadTokens(t.Context(), "org/name")
	if err != nil {
		t.Fatal(err)
	}
	text, err := tok.vocab.Template.Render(json.RawMessage(`[{"role": "user", "content": "ab"}]`), workload.TemplateOptions{GenerationPrompt: true})
	if err != nil || text != "<s>ab>" || tok.vocab.BOS != "<s>" || tok.vocab.Size != 2 {
		t.Errorf("%q, BOS %q, %d tokens, %v", text, tok.vocab.BOS, tok.vocab.Size, err)
	}
	if got := len(kept(t, cache)); got != 2*3+1 {
		t.Errorf("%d files: %q", got, kept(t, cache))
	}
	asked := len(f.asked)
	if last := f.asked[asked-1]; last != "GET /org/name/resolve/main/tokenizer.json" {
		t.Errorf("the file by which the others are found came before them: %q", f.asked)
	}
	if _, err := p.loadTokens(t.Context(), "org/name"); err != nil || len(f.asked) != asked {
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
		"the Hugging Face cache":     {"hub/models--org--m/snapshots/1/tokenizer.json", tinyTokenizer, nil, "org/m"},
		"of tiktoken":                {"hub/models--org--m/snapshots/1/tiktoken.model", byteRanks(), nil, "org/m"},
		"ModelScope's cache":         {".cache/modelscope/hub/models/Qwen/Qwen2___5/tokenizer.json", tinyTokenizer, nil, "Qwen/Qwen2.5"},
		"ModelScope's older cache":   {".cache/modelscope/hub/Qwen/Qwen2___5/tokenizer.json", tinyTokenizer, nil, "Qwen/Qwen2.5"},
		"ModelScope's, of that name": {"ms/models/o/n/tokenizer.json", tinyTokenizer, map[string]string{"MODELSCOPE_CACHE": "ms"}, "o/n"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeHub(t, nil)
			if c.env == nil {
				c.env = map[string]string{}
			}
			c.env[downloadVariable] = ""
			p, cache := f.process(t, c.env)
			home := filepath.Dir(cache)
			if _, set := c.env["MODELSCOPE_CACHE"]; set {
				c.env["MODELSCOPE_CACHE"] = filepath.Join(home, "ms")
			}
			file := filepath.Join(home, filepath.FromSlash(c.file))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			for path, data := range map[string]string{file: c.data, filepath.Join(filepath.Dir(file), "tokenizer_config.json"): `{"tokenizer_class": "TikTokenTokenizer"}`} {
				if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			tok, err := p.loadTokens(t.Context(), c.ask)
			if err != nil || english.Say(tok.name) != filepath.Dir(file) {
				t.Errorf("%q, %v", english.Say(tok.name), err)
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
		"closed":       {map[string]string{downloadVariable: ""}, "org/name", `tokenizer "org/name" is neither a file nor in the Hugging Face cache or ModelScope's of this machine; PITOT_HF_DOWNLOAD=1 would allow to download it, or --hf-download of pitot bench`},
		"another file": {map[string]string{downloadVariable: ""}, "hub_test.go", `tokenizer "hub_test.go" is a file, but none of a tokenizer by its name: those are .json, .tiktoken`},
		"a path":       {nil, "./none", `tokenizer "./none" is neither a file nor in the Hugging Face cache`},
		"no tokenizer": {nil, "org/name", `no tokenizer "org/name" on this machine: org/name has none in a form that is known: tokenizer.json or a tiktoken file`},
	} {
		p, _ := f.process(t, c.env)
		if _, err := p.loadTokens(t.Context(), c.ask); err == nil || !strings.HasPrefix(err.Error(), c.want) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A template that cannot be read stands in the way of nothing but its use.
func TestTemplatesThatAreRefused(t *testing.T) {
	folder := t.TempDir()
	for name, data := range map[string]string{"tokenizer.json": tinyTokenizer, "chat_template.jinja": "a\n{{ x|nosuch }}"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tok, err := readTokens(folder, folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tok.vocab.Template.Render(nil, workload.TemplateOptions{}); err == nil || !strings.Contains(err.Error(), "line 2: the filter |nosuch is not supported") {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(folder, "chat_template.jinja")); err != nil {
		t.Fatal(err)
	}
	if tok, err = readTokens(folder, folder); err != nil || tok.vocab.Template != nil {
		t.Errorf("%v, %v", tok.vocab.Template, err)
	}
}
