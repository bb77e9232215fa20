package hub

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// NameOnly begins the name of a tokenizer that is never a path.
const NameOnly = "hf://"

// Tokenizer returns the file or folder of a tokenizer: as named, unless the name begins with
// NameOnly, or of a model in the cache of Hugging Face or ModelScope, or downloaded with its
// chat template. The error is a *Missing if it may not be downloaded.
func (h *Hub) Tokenizer(ctx context.Context, name string) (string, error) {
	name, only := strings.CutPrefix(name, NameOnly)
	regular := false
	if !only {
		info, err := os.Stat(name)
		if err == nil && (info.IsDir() || strings.HasSuffix(name, ".json") || isTokenizerFile(filepath.Base(name))) {
			return name, nil // otherwise a file that happens to have the name of a model
		}
		regular = err == nil && info.Mode().IsRegular()
	}
	r := h.Model(name)
	for _, folder := range append(r.snapshots(), h.modelScopeFolders(name)...) {
		if hasTokenizer(folder) {
			return folder, nil
		}
	}
	switch {
	case only && !isRepository(name):
		return "", notFound("what the server calls its model is not a name of the hub, and is not opened as a path")
	case h.closed != "" || !isRepository(name):
		m := Missing{What: "tokenizer", Name: name, Cache: h.cache, File: regular}
		if isRepository(name) {
			m.Variable = h.closed
		}
		return "", &m
	}
	folder, err := r.downloadTokenizer(ctx)
	if err != nil {
		return "", fmt.Errorf("no tokenizer %q on this machine: %w", name, err)
	}
	return folder, nil
}

func isTokenizerFile(name string) bool {
	return name == "tokenizer.json" || name == "tiktoken.model" || name == "tokenizer.model" ||
		path.Ext(name) == ".tiktoken"
}

func hasTokenizer(folder string) bool {
	entries, err := os.ReadDir(folder)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isTokenizerFile(e.Name()) })
}

// modelScopeFolders are the folders where ModelScope's library would store a model:
// it replaces the dots of a name with three underscores.
func (h *Hub) modelScopeFolders(name string) (folders []string) {
	if !isRepository(name) {
		return nil
	}
	for _, kept := range []string{name, strings.ReplaceAll(name, ".", "___")} {
		for _, within := range []string{"models", "", filepath.Join("hub", "models"), "hub"} {
			folders = append(folders, filepath.Join(h.modelScope, within, filepath.FromSlash(kept)))
		}
	}
	return folders
}

// downloadTokenizer downloads the files of a tokenizer and its chat template, and
// returns the folder, or without tokenizer.json the file of another form. That file
// comes last: a folder that has it is complete.
func (r Repository) downloadTokenizer(ctx context.Context) (string, error) {
	paths, err := r.list(ctx)
	if err != nil {
		return "", err
	}
	vocabularies := slices.DeleteFunc(slices.Clone(paths), func(file string) bool { return !isTokenizerFile(file) })
	if slices.Contains(vocabularies, "tokenizer.json") {
		vocabularies = []string{"tokenizer.json"}
	}
	if len(vocabularies) == 0 {
		return "", notFound(r.name + " has no tokenizer of a known form: tokenizer.json or a tiktoken file")
	}
	wanted := append(slices.DeleteFunc(paths, func(file string) bool { return !isTokenizerExtra(file) }), vocabularies...)
	folder := ""
	for _, file := range wanted {
		path, err := r.download(ctx, file)
		if err != nil {
			return "", err
		}
		folder = filepath.Dir(path)
	}
	return folder, nil
}

// isTokenizerExtra reports whether file is another file of a tokenizer or its chat
// template.
func isTokenizerExtra(file string) bool {
	template, _ := path.Match("additional_chat_templates/*.jinja", file)
	return template || slices.Contains([]string{"tokenizer_config.json", "chat_template.jinja", "chat_template.json"},
		file)
}
