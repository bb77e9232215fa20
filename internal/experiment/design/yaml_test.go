package design

import (
	"encoding/json"
	"testing"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Any text is read again as it was written, as a value, as a key and in a list.
func FuzzYAML(f *testing.F) {
	for _, text := range []string{
		"", "vllm serve x --port ${port}", "vllm \\\n  serve\n", "a: b", "a #b", "x:y", "- x", "--x", "1e5", "0x1f", "1_0", "on", "~", "2%", " a", "a\tb", "it's",
		"a\n\nb\n", "\x00", "\u2028", "@x", "%x", "!x", "*x", "[a", "a]", "a, b", "---", "http://h:1/v1", "a:", "😀\U0001f1e6", "\ufeffx", "?", "=", "<<", ".5", "2024-01-01", "a\n---\nb", "\r", "x\r\ny",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := json.Marshal(map[string]any{"text": text, "list": []string{text, "b"}, "maps": []any{map[string]string{"a": text, "b": text}}, "deep": map[string]any{"x": []any{[]string{text}}}, "k" + text: 1})
		if err != nil {
			t.Fatal(err)
		}
		n, err := plan.ParseJSON(b)
		if err != nil {
			t.Fatal(err)
		}
		var y yamlWriter
		for _, m := range n.Members {
			y.member("", "", m)
		}
		doc, err := plan.Parse("f.yaml", []byte(y.String()))
		if err != nil {
			t.Fatalf("%v\n%s", err, y.String())
		}
		got, err := doc.Root.JSON()
		if err == nil {
			err = doc.Explain()
		}
		want, _ := n.JSON()
		if err != nil || string(got) != string(want) {
			t.Fatalf("%s\nbecame %s, %v\nby\n%s", want, got, err, y.String())
		}
	})
}
