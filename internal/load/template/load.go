package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// ErrNone means that a model has no chat template.
var ErrNone = errors.New("no chat template")

// Load reads the chat template in the folder dir of a model: chat_template.jinja
// with the files in additional_chat_templates, else chat_template.json, else the
// chat_template of tokenizer_config.json. The error is ErrNone if there is none.
func Load(fsys fs.FS, dir string) (*Template, error) {
	config, err := readConfig(fsys, path.Join(dir, "tokenizer_config.json"))
	if err != nil {
		return nil, err
	}
	sources, err := readSources(fsys, dir)
	if err != nil {
		return nil, err
	}
	if len(sources) == 0 {
		if sources, err = readNamed(config["chat_template"]); err != nil {
			return nil, fmt.Errorf("tokenizer_config.json: chat_template: %w", err)
		}
	}
	if len(sources) == 0 {
		return nil, ErrNone
	}
	return parseAll(sources, specialTokens(config))
}

// readConfig returns nil if there is no file.
func readConfig(fsys fs.FS, name string) (map[string]json.RawMessage, error) {
	data, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var config map[string]json.RawMessage
	if err := json.Unmarshal(data, &config); err != nil {
		return nil, fmt.Errorf("%s: %w", path.Base(name), err)
	}
	return config, nil
}

func readSources(fsys fs.FS, dir string) (map[string]string, error) {
	files, err := fs.Glob(fsys, path.Join(globSpecial.Replace(dir), "additional_chat_templates", "*.jinja"))
	if err != nil {
		return nil, err
	}
	sources := map[string]string{}
	single := path.Join(dir, "chat_template.jinja")
	for _, file := range append(files, single) {
		data, err := fs.ReadFile(fsys, file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case file == single:
			sources[defaultName] = string(data)
		default:
			sources[strings.TrimSuffix(path.Base(file), ".jinja")] = string(data)
		}
	}
	if len(sources) > 0 {
		return sources, nil
	}
	config, err := readConfig(fsys, path.Join(dir, "chat_template.json"))
	if err != nil {
		return nil, err
	}
	if sources, err = readNamed(config["chat_template"]); err != nil {
		return nil, fmt.Errorf("chat_template.json: %w", err)
	}
	return sources, nil
}

var globSpecial = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// readNamed reads one template, or a list of named templates.
func readNamed(raw json.RawMessage) (map[string]string, error) {
	var single *string
	if len(raw) == 0 || json.Unmarshal(raw, &single) == nil {
		if single == nil {
			return nil, nil
		}
		return map[string]string{defaultName: *single}, nil
	}
	var list []struct {
		Name, Template *string
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("neither a text nor a list of templates with names")
	}
	sources := map[string]string{}
	for i, t := range list {
		if t.Name == nil || t.Template == nil {
			return nil, fmt.Errorf("template %d of the list lacks name or template", i)
		}
		sources[*t.Name] = *t.Template
	}
	return sources, nil
}

// specialTokens are the texts of the tokens in a configuration: its fields ending
// in _token, and the named ones of extra_special_tokens.
func specialTokens(config map[string]json.RawMessage) map[string]string {
	tokens := map[string]string{}
	var extra map[string]json.RawMessage
	_ = json.Unmarshal(config["extra_special_tokens"], &extra) // a list has no names
	for name, raw := range extra {
		if text, ok := tokenText(raw); ok {
			tokens[name] = text
		}
	}
	for name, raw := range config {
		if text, ok := tokenText(raw); ok && strings.HasSuffix(name, "_token") {
			tokens[name] = text
		}
	}
	return tokens
}

// tokenText is a token given as text, or as an object with its content.
func tokenText(raw json.RawMessage) (text string, ok bool) {
	var token struct{ Content *string }
	if json.Unmarshal(raw, &token) == nil && token.Content != nil {
		return *token.Content, true
	}
	ok = bytes.HasPrefix(raw, []byte(`"`)) && json.Unmarshal(raw, &text) == nil
	return text, ok
}
