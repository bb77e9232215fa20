package plain

import (
	"encoding/json"
	"strings"
	"testing"
)

// hostile has a character of each kind that is unsafe.
const hostile = "a\nb\tc\x1b[31m\a\x7f\u0085\u009b2J\u202ered\u2066\u2028\r\xff水"

func TestLine(t *testing.T) {
	if got, want := Line(hostile), "a b c [31m    2Jred  \uFFFD水"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What is unsafe is escaped, wherever writes are cut.
func TestWriter(t *testing.T) {
	want := "a\nb\tc\\u001b[31m\\u0007\\u007f\\u0085\\u009b2J\\u202ered\\u2066\\u2028\\u000d\uFFFD水"
	for size := 1; size <= len(hostile); size++ {
		var out strings.Builder
		w := &Writer{To: &out}
		for rest := hostile; rest != ""; {
			n := min(size, len(rest))
			if done, err := w.Write([]byte(rest[:n])); done != n || err != nil {
				t.Fatal(done, err)
			}
			rest = rest[n:]
		}
		if out.String() != want {
			t.Errorf("by %d bytes: %q, want %q", size, out.String(), want)
		}
	}
}

// JSON says the same behind the writer.
func TestJSONKeepsItsMeaning(t *testing.T) {
	valid := strings.ToValidUTF8(hostile, "")
	b, err := json.Marshal(valid)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	_, _ = (&Writer{To: &out}).Write(b)
	var got string
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil || got != valid {
		t.Errorf("%q becomes %q (%v)", valid, got, err)
	}
}

// Colours pass where they are wanted, and nothing that only begins like one.
func TestColors(t *testing.T) {
	for colors, want := range map[bool]string{true: "\x1b[31mbad\x1b[0m \\u001b[2J", false: `\u001b[31mbad\u001b[0m \u001b[2J`} {
		var out strings.Builder
		_, _ = (&Writer{To: &out, Colors: colors}).Write([]byte(Paint("bad", Red) + " \x1b[2J"))
		if out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}

func TestHide(t *testing.T) {
	var out strings.Builder
	w := &Writer{To: &out, Hide: strings.NewReplacer("sk-secret", "***").Replace}
	_, _ = w.Write([]byte("key sk-secret\x1b"))
	if want := `key ***\u001b`; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
