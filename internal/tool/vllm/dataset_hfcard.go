package vllm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A dataset's README.md may say at its head, in YAML, which files are of which subset
// and split:
//
//	configs:
//	- config_name: main
//	  data_files:
//	  - split: train
//	    path: main/train-*

// maxCard is more than the head of any has, in bytes.
const maxCard = 4 << 20

type card []cardConfig

type cardConfig struct {
	name  string
	usual bool
	files *plan.Node // data_files
}

// card is the card of the copy; without one it is empty.
func (c snapshot) card() (card, error) {
	f, err := c.fs.Open("README.md")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxCard))
	if err != nil {
		return nil, fmt.Errorf("README.md: %w", err)
	}
	head, ok := bytes.CutPrefix(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("---\n"))
	if !ok {
		return nil, nil
	}
	head, _, _ = bytes.Cut(head, []byte("\n---"))
	doc, err := plan.Parse("README.md", head)
	if err != nil {
		return nil, fmt.Errorf("the head is not YAML: %w", err)
	}
	var out card
	for _, n := range doc.Root.Member("configs").All() {
		out = append(out, cardConfig{name: n.Member("config_name").String(), usual: n.Member("default").String() == "true", files: n.Member("data_files")})
	}
	return out, nil
}

// files are those that the card has for a subset and a split; ok is false if it says
// nothing of files.
func (c card) files(all []string, subset, split string) (out []string, ok bool, err error) {
	config := c.config(subset)
	if config == nil {
		return nil, false, nil
	}
	patterns := config.patterns()
	for _, p := range patterns[split] {
		for _, file := range all {
			if globbed(p, file) && !slices.Contains(out, file) {
				out = append(out, file)
			}
		}
	}
	if len(out) == 0 {
		return nil, true, fmt.Errorf("README.md has no files of the split %q for the subset %q that are here; there are %s", split, config.name, listFirst(all))
	}
	return out, true, nil
}

// config is that of a name; without a name the default, or the only one.
func (c card) config(name string) *cardConfig {
	for i, config := range c {
		if config.files != nil && (config.name == name || name == "" && (config.usual || config.name == "default" || len(c) == 1)) {
			return &c[i]
		}
	}
	return nil
}

// patterns are those of each split. Files without a split are of train.
func (c cardConfig) patterns() map[string][]string {
	out := map[string][]string{}
	add := func(split string, n *plan.Node) {
		for _, p := range append(n.All(), n) {
			if p.String() != "" {
				out[split] = append(out[split], p.Text)
			}
		}
	}
	if len(c.files.Items) == 0 {
		add("train", c.files)
	}
	for _, item := range c.files.Items {
		if item.Kind == plan.Map {
			add(item.Member("split").String(), item.Member("path"))
		} else {
			add("train", item)
		}
	}
	return out
}

// globbed matches a path with *, ** and ?.
func globbed(pattern, path string) bool {
	quoted := regexp.QuoteMeta(strings.TrimPrefix(pattern, "./"))
	quoted = strings.NewReplacer(`\*\*/`, `(.*/)?`, `\*\*`, `.*`, `\*`, `[^/]*`, `\?`, `[^/]`).Replace(quoted)
	return regexp.MustCompile("^" + quoted + "$").MatchString(path)
}
