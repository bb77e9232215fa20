package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

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

func TestTokenizersAreReadWithTheirTemplates(t *testing.T) {
	folder := tokenizerFolder(t, map[string]string{
		"tokenizer_config.json": `{"bos_token": "<s>"}`,
		"chat_template.jinja":   "{{ bos_token }}{{ messages[0].content }}{{ '>' if add_generation_prompt }}",
	})
	tok, err := readTokens("org/name", folder)
	if err != nil {
		t.Fatal(err)
	}
	text, err := tok.vocab.Template.Render(json.RawMessage(`[{"role": "user", "content": "ab"}]`), workload.TemplateOptions{GenerationPrompt: true})
	if err != nil || text != "<s>ab>" || tok.vocab.BOS != "<s>" || tok.vocab.Size != 2 || tok.name != folder {
		t.Errorf("%q, BOS %q, %d tokens, %q, %v", text, tok.vocab.BOS, tok.vocab.Size, tok.name, err)
	}
}

// A template that cannot be read stands in the way of nothing but its use.
func TestTemplatesThatAreRefused(t *testing.T) {
	folder := tokenizerFolder(t, map[string]string{"chat_template.jinja": "a\n{{ x|nosuch }}"})
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

// A command line that may download leaves nothing behind for the next in the same
// process.
func TestDownloadsAreAllowedToOneCommandLine(t *testing.T) {
	env := map[string]string{"HF_ENDPOINT": "http://127.0.0.1:1", "HOME": t.TempDir()}
	p, _, stderr := process(t, env)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"sim -n 1 --tokenizer org/name", exitUsage, "; set PITOT_HF_DOWNLOAD=1 to download it, or use --hf-download\n"},
		{"sim -n 1 --tokenizer org/name --hf-download", exitFailed, "connection refused"},
		{"sim -n 1 --tokenizer org/name", exitUsage, "; set PITOT_HF_DOWNLOAD=1 to download it, or use --hf-download\n"},
	} {
		stderr.Reset()
		p.Args = strings.Fields(c.args)
		if code := Run(p); code != c.code || !strings.HasSuffix(stderr.String(), c.want) && !strings.Contains(stderr.String(), c.want+"\n") {
			t.Errorf("%s: exit code %d: %s", c.args, code, stderr)
		}
	}
}
