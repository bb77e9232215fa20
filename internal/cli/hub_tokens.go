package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// locateTokens is the file or the folder of a tokenizer: as named, or of a model in the
// cache of Hugging Face or ModelScope, or downloaded. The error says in one line where
// it was looked for.
func (p *Process) locateTokens(ctx context.Context, where string) (string, error) {
	if holdsTokenizer(where) {
		return where, nil
	}
	h := p.hub()
	for _, folder := range append(h.snapshots(where, hubModel), p.modelScope(where)...) {
		if hasTokenizer(folder) {
			return folder, nil
		}
	}
	if h.closed != "" || !isRepo(where) {
		return "", usageError{missingTokenizer{where, h.closed, isRegular(where)}}
	}
	folder, err := h.downloadTokenizer(ctx, where)
	if err != nil {
		return "", fmt.Errorf("no tokenizer %q on this machine: %w", where, err)
	}
	return folder, nil
}

// A missingTokenizer is one that is neither here nor to be downloaded.
type missingTokenizer struct {
	name, closed string
	file         bool // there is a file of that name, of another kind
}

func (m missingTokenizer) Error() string {
	if m.file {
		return fmt.Sprintf("tokenizer %q is a file, but none of a tokenizer by its name: those are .json, .tiktoken and tokenizer.model; and no model in a cache of this machine is called so", m.name)
	}
	text := fmt.Sprintf("tokenizer %q is neither a file nor in the Hugging Face cache or ModelScope's of this machine", m.name)
	if !isRepo(m.name) {
		return text
	}
	return text + "; " + m.closed
}

// Is makes it fs.ErrNotExist.
func (m missingTokenizer) Is(target error) bool { return target == fs.ErrNotExist }

// inShort is why a tokenizer was not had, for the line of a report.
func inShort(err error) string {
	var m missingTokenizer
	if errors.As(err, &m) {
		return fmt.Sprintf("no tokenizer %q on this machine; %s", m.name, m.closed)
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// holdsTokenizer tells folders and tokenizer files from other files that happen to have
// the name of a model.
func holdsTokenizer(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (info.IsDir() || strings.HasSuffix(path, ".json") || isTokenizerFile(filepath.Base(path)))
}

// isTokenizerFile tells the files that a tokenizer can be read from by their names.
func isTokenizerFile(name string) bool {
	return name == "tokenizer.json" || name == "tiktoken.model" || name == "tokenizer.model" || path.Ext(name) == ".tiktoken"
}

func hasTokenizer(folder string) bool {
	entries, err := os.ReadDir(folder)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isTokenizerFile(e.Name()) })
}

// modelScope are the folders where ModelScope's library would keep a model: it puts
// three underscores for the dots of a name.
func (p *Process) modelScope(name string) []string {
	if !isRepo(name) {
		return nil
	}
	root := cmp.Or(p.getenv("MODELSCOPE_CACHE"), filepath.Join(p.getenv("HOME"), ".cache", "modelscope", "hub"))
	var folders []string
	for _, kept := range []string{name, strings.ReplaceAll(name, ".", "___")} {
		for _, within := range []string{"models", "", filepath.Join("hub", "models"), "hub"} {
			folders = append(folders, filepath.Join(root, within, filepath.FromSlash(kept)))
		}
	}
	return folders
}

// downloadTokenizer brings what a tokenizer and its chat template are read from, and
// gives the folder. Without tokenizer.json it is the file of another form. That file
// comes last: a folder that has it has all.
func (h hub) downloadTokenizer(ctx context.Context, repo string) (string, error) {
	paths, err := h.list(ctx, repo, hubModel)
	if err != nil {
		return "", err
	}
	wanted := slices.DeleteFunc(paths, func(file string) bool { return !aboutTokenizer(file) })
	if slices.Contains(wanted, "tokenizer.json") {
		wanted = slices.DeleteFunc(wanted, func(file string) bool { return file != "tokenizer.json" && isTokenizerFile(file) })
	}
	if !slices.ContainsFunc(wanted, isTokenizerFile) {
		return "", notThere(repo + " has none in a form that is known: tokenizer.json or a tiktoken file")
	}
	slices.SortStableFunc(wanted, func(a, b string) int {
		switch {
		case isTokenizerFile(a) == isTokenizerFile(b):
			return 0
		case isTokenizerFile(a):
			return 1
		}
		return -1
	})
	folder := ""
	for _, file := range wanted {
		kept, err := h.download(ctx, repo, hubModel, file)
		if err != nil {
			return "", err
		}
		if isTokenizerFile(file) {
			folder = filepath.Dir(kept)
		}
	}
	return folder, nil
}

// aboutTokenizer tells what a tokenizer and its chat template are read from.
func aboutTokenizer(file string) bool {
	template, _ := path.Match("additional_chat_templates/*.jinja", file)
	return template || isTokenizerFile(file) || slices.Contains([]string{"tokenizer_config.json", "chat_template.jinja", "chat_template.json"}, file)
}

// isRegular tells whether there is a file of that name.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
