// Package hub finds tokenizers and datasets by name: in the local caches of Hugging
// Face's and ModelScope's Python libraries, and on the Hugging Face hub if
// downloads are allowed.
//
// A download goes into the cache in the layout of Hugging Face's library, so that
// both programs find each other's files:
//
//	models--ORG--NAME/refs/main             the commit of main
//	models--ORG--NAME/blobs/ETAG            a file
//	models--ORG--NAME/snapshots/COMMIT/PATH a link to it
//
// A Hub reads its environment variables once, when it is created. The permission to
// download is part of its value: two runs in one process each have their own.
package hub

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/sys/files"
)

// DownloadVariable allows downloads if it is true.
const DownloadVariable = "PITOT_HF_DOWNLOAD"

// A Config says where a Hub looks for files, and whether it may download them.
type Config struct {
	Getenv   func(name string) string
	Dial     func(ctx context.Context, network, address string) (net.Conn, error) // nil: net's
	Proxy    func(*url.URL) (*url.URL, error)                                     // nil: none
	Version  string                                                               // of the User-Agent pitot/VERSION
	Download bool                                                                 // like DownloadVariable
}

// A Hub is the caches of this machine and the site behind them. It is safe for
// concurrent use.
type Hub struct {
	cache      string // of Hugging Face
	modelScope string
	endpoint   string
	token      string
	agent      string
	closed     string // the variable that forbids downloads; empty: allowed
	client     *http.Client
}

// New returns a Hub configured by the variables that the Python libraries read.
func New(c Config) *Hub {
	home := c.folder(cmp.Or(c.Getenv("XDG_CACHE_HOME"), "~/.cache"))
	hugging := c.folder(cmp.Or(c.Getenv("HF_HOME"), filepath.Join(home, "huggingface")))
	transport := &http.Transport{
		DialContext: c.Dial, ResponseHeaderTimeout: 30 * time.Second, TLSHandshakeTimeout: 30 * time.Second,
		IdleConnTimeout: 30 * time.Second,
	}
	if c.Proxy != nil {
		transport.Proxy = func(r *http.Request) (*url.URL, error) { return c.Proxy(r.URL) }
	}
	return &Hub{
		cache: c.folder(cmp.Or(c.Getenv("HF_HUB_CACHE"), c.Getenv("HUGGINGFACE_HUB_CACHE"),
			filepath.Join(hugging, "hub"))),
		modelScope: c.folder(cmp.Or(c.Getenv("MODELSCOPE_CACHE"), "~/.cache/modelscope/hub")),
		endpoint:   strings.TrimRight(cmp.Or(c.Getenv("HF_ENDPOINT"), "https://huggingface.co"), "/"),
		token:      c.token(hugging),
		agent:      "pitot/" + c.Version,
		closed:     c.closed(),
		client:     &http.Client{Transport: transport},
	}
}

// folder expands a ~ that no shell has expanded.
func (c Config) folder(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(c.Getenv("HOME"), rest)
	}
	return name
}

// token is the user's, from a variable or from the file written by `hf auth login`.
func (c Config) token(home string) string {
	if token := cmp.Or(c.Getenv("HF_TOKEN"), c.Getenv("HUGGING_FACE_HUB_TOKEN")); token != "" {
		return strings.TrimSpace(token) // a secret's file ends with a newline
	}
	if truthy(c.Getenv("HF_HUB_DISABLE_IMPLICIT_TOKEN")) {
		return ""
	}
	stored, _ := files.ReadSmall(c.folder(cmp.Or(c.Getenv("HF_TOKEN_PATH"), filepath.Join(home, "token"))))
	return strings.TrimSpace(string(stored))
}

// closed returns the variable that forbids downloads, if any.
func (c Config) closed() string {
	switch {
	case truthy(c.Getenv("HF_HUB_OFFLINE")):
		return "HF_HUB_OFFLINE"
	case c.Getenv("HF_HUB_OFFLINE") == "" && truthy(c.Getenv("TRANSFORMERS_OFFLINE")):
		return "TRANSFORMERS_OFFLINE"
	case !c.Download && !truthy(c.Getenv(DownloadVariable)):
		return DownloadVariable
	}
	return ""
}

// truthy parses a variable like Hugging Face's library.
func truthy(v string) bool {
	return slices.Contains([]string{"1", "ON", "YES", "TRUE"}, strings.ToUpper(v))
}

// Missing means that something is not on this machine, and may not be downloaded.
// It is an fs.ErrNotExist.
type Missing struct {
	What  string // tokenizer, model, dataset or file
	Name  string
	Cache string // the folder of Hugging Face's cache
	File  bool   // a file has that name, but is not a tokenizer file
	// Variable is DownloadVariable, which would allow the download, or one that forbids it; empty: Name is not that
	// of a repository.
	Variable string
}

func (m *Missing) Error() string {
	text := fmt.Sprintf("%s %s is not in the Hugging Face cache of this machine (%s)", m.What, m.Name, m.Cache)
	switch {
	case m.File:
		text = fmt.Sprintf("tokenizer %q is a file, but not of a tokenizer (those are named *.json, *.tiktoken or "+
			"tokenizer.model), and no cache of this machine has a model of that name", m.Name)
	case m.What == "tokenizer":
		text = fmt.Sprintf("tokenizer %q is neither a file nor in the Hugging Face cache or the ModelScope cache of this "+
			"machine", m.Name)
	}
	if m.Variable == "" {
		return text
	}
	return text + "; " + m.Why()
}

// Why says why it cannot be downloaded.
func (m *Missing) Why() string {
	switch m.Variable {
	case "":
		return "it is not the name of a model"
	case DownloadVariable:
		return "set " + DownloadVariable + "=1 to download it"
	}
	return m.Variable + " is set"
}

// Is makes it match fs.ErrNotExist.
func (*Missing) Is(target error) bool { return target == fs.ErrNotExist }

// notFound means that the hub does not have something; it is an fs.ErrNotExist.
type notFound string

func (n notFound) Error() string { return string(n) }

// Is makes it match fs.ErrNotExist.
func (notFound) Is(target error) bool { return target == fs.ErrNotExist }
