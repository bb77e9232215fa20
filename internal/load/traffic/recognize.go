package traffic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/pitot-bench/pitot/internal/load/rows"
)

// Recognize is the kind of dataset that reads a file, by the names of the fields in its first object; empty: none is
// known. It reads at most 64 KiB of the text.
func Recognize(name string, file io.Reader) string {
	text, err := rows.Unpack(name, file)
	if err != nil {
		return ""
	}
	return kindOf(io.LimitReader(text, 64<<10))
}

func kindOf(text io.Reader) string {
	in, err := rows.SkipMark(text)
	if err != nil {
		return ""
	}
	fields, list := firstFields(in)
	has := func(names ...string) bool {
		for _, name := range names {
			if fields[name] {
				return true
			}
		}
		return false
	}
	switch {
	case has("conversations") && list:
		return "sharegpt"
	case has("turns", "conversations"), has("messages") && !has("output_tokens"):
		return "conversations"
	case has("prompt", "messages", "texts", "query", "audio"):
		return "custom"
	case has("input_length"):
		return "trace"
	}
	return ""
}

// firstFields are the names of the fields of the first object, as far as the text goes, and whether it is in a list.
func firstFields(in *bufio.Reader) (names map[string]bool, list bool) {
	head, _ := in.Peek(1 << 10)
	list = bytes.HasPrefix(bytes.TrimSpace(head), []byte("["))
	d := json.NewDecoder(in)
	if list {
		_, _ = d.Token() // the bracket that was seen
	}
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, list
	}
	names = map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			break
		}
		if text, ok := name.(string); ok {
			names[text] = true
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			break
		}
	}
	return names, list
}
