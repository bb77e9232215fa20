package run

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestRunsThatAreBoundToRunOutOfFilesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		requests, concurrency int
		atOnce, embedded      bool
		refused               bool
	}{
		{900, 0, true, false, false},
		{1000, 0, true, false, true},
		{1000, 900, true, false, false},
		{5000, 1000, false, false, true},
		{100, 1000, false, false, false}, // no more than there are requests
		{5000, 0, false, false, false},   // a rate may or may not need them
		{500, 0, true, true, true},       // the engine's ends count as well
		{450, 0, true, true, false},
	} {
		p := Prepared{Deps: &Deps{}, spec: plan.Spec{Gate: plan.Gate{Concurrency: tt.concurrency}}}
		p.run.Env = trace.Environment{FileLimit: 1000, Embedded: tt.embedded}
		problems := p.checkFiles(tt.requests, tt.atOnce)
		if (problems != nil) != tt.refused {
			t.Errorf("%+v: %v", tt, problems)
		}
		if problems != nil && strings.Contains(problems.Error(), "pitot serve") != tt.embedded {
			t.Errorf("%+v: %v", tt, problems)
		}
	}
}

// What answers repeat of a secret is hidden, and nothing else.
func TestSecretsAreHiddenAndNothingElse(t *testing.T) {
	secrets := new(secret.Set)
	for _, header := range []string{"Bearer sk-verysecret", "session=abcdefghij; theme=dark", "0"} {
		secrets.Add(secret.InHeader(header)...)
	}
	for text, want := range map[string]string{
		"bad key: sk-verysecret":        "bad key: ***",
		"got Bearer sk-verysecret":      "got ***", // not "Bearer ***"
		"no session abcdefghij":         "no session ***",
		"http://127.0.0.1:8000 is dark": "http://127.0.0.1:8000 is dark",
	} {
		if got := secrets.Hide(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

const tinyTokenizer = `{"version": "1.0", "pre_tokenizer": {"type": "ByteLevel"}, "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}}`

// tokenizerFolder is a folder with a tokenizer and these files.
func tokenizerFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	files["tokenizer.json"] = tinyTokenizer
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// tokensOf reads the tokenizer of a folder.
func tokensOf(folder string) (tokens, error) {
	p := Prepared{Deps: &Deps{
		Hub:    func(bool) Hub { return folders{} },
		Folder: func(name string) fs.FS { return os.DirFS(name) },
	}}
	return p.localTokens(context.Background(), folder)
}

func TestTokenizersAreReadWithTheirTemplates(t *testing.T) {
	folder := tokenizerFolder(t, map[string]string{
		"tokenizer_config.json": `{"bos_token": "<s>"}`,
		"chat_template.jinja":   "{{ bos_token }}{{ messages[0].content }}{{ '>' if add_generation_prompt }}",
	})
	tok, err := tokensOf(folder)
	if err != nil {
		t.Fatal(err)
	}
	text, err := tok.vocab.Template.Render(json.RawMessage(`[{"role": "user", "content": "ab"}]`), workload.TemplateOptions{GenerationPrompt: true})
	if err != nil || text != "<s>ab>" || tok.vocab.BOS != "<s>" || tok.vocab.Size != 2 || tok.name.Key() != plan.Text(folder).Key() {
		t.Errorf("%q, BOS %q, %d tokens, %q, %v", text, tok.vocab.BOS, tok.vocab.Size, tok.name, err)
	}
}

// A template that cannot be read stands in the way of nothing but its use.
func TestTemplatesThatAreRefused(t *testing.T) {
	folder := tokenizerFolder(t, map[string]string{"chat_template.jinja": "a\n{{ x|nosuch }}"})
	tok, err := tokensOf(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tok.vocab.Template.Render(nil, workload.TemplateOptions{}); err == nil || !strings.Contains(err.Error(), "line 2: the filter |nosuch is not supported") {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(folder, "chat_template.jinja")); err != nil {
		t.Fatal(err)
	}
	if tok, err = tokensOf(folder); err != nil || tok.vocab.Template != nil {
		t.Errorf("%v, %v", tok.vocab.Template, err)
	}
}
