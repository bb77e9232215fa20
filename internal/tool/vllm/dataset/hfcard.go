package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// A dataset's README.md may say at its head, in YAML, which files are of which subset
// and split:
//
//	configs:
//	- config_name: main
//	  data_files:
//	  - split: train
//	    path: main/train-*

type card struct {
	Configs []cardConfig `yaml:"configs"`
}

type cardConfig struct {
	Name    string `yaml:"config_name"`
	Default bool   `yaml:"default"`
	Files   any    `yaml:"data_files"`
}

// card is the card of the copy; without one it is empty.
func (c snapshot) card() (card, error) {
	b, err := fs.ReadFile(c.fs, "README.md")
	if errors.Is(err, fs.ErrNotExist) {
		return card{}, nil
	}
	if err != nil {
		return card{}, fmt.Errorf("README.md: %w", err)
	}
	head, ok := bytes.CutPrefix(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("---\n"))
	if !ok {
		return card{}, nil
	}
	head, _, _ = bytes.Cut(head, []byte("\n---"))
	var out card
	if err := yaml.Unmarshal(head, &out); err != nil {
		return card{}, fmt.Errorf("README.md: its head is not YAML: %w", err)
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
		return nil, true, fmt.Errorf("README.md has no files of the split %q for the subset %q that are here; there are %s", split, config.Name, some(all))
	}
	return out, true, nil
}

// config is that of a name; without a name the default, or the only one.
func (c card) config(name string) *cardConfig {
	for i, config := range c.Configs {
		if config.Files != nil && (config.Name == name || name == "" && (config.Default || config.Name == "default" || len(c.Configs) == 1)) {
			return &c.Configs[i]
		}
	}
	return nil
}

// patterns are those of each split. Files without a split are of train.
func (c cardConfig) patterns() map[string][]string {
	out := map[string][]string{}
	add := func(split string, v any) {
		switch v := v.(type) {
		case string:
			out[split] = append(out[split], v)
		case []any:
			for _, p := range v {
				out[split] = append(out[split], fmt.Sprint(p))
			}
		}
	}
	list, ok := c.Files.([]any)
	if !ok {
		add("train", c.Files)
		return out
	}
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			add(fmt.Sprint(m["split"]), m["path"])
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
