package rows

import (
	"io"
	"strings"
	"testing"
)

// An endless text repeats a part of it.
type endless struct {
	begin, part string
	read        int
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		from := e.begin
		if e.read >= len(e.begin) {
			from = e.part[(e.read-len(e.begin))%len(e.part):]
		} else {
			from = from[e.read:]
		}
		more := copy(p[n:], from)
		n, e.read = n+more, e.read+more
	}
	return n, nil
}

// A row without end is refused when it is longer than the longest line, and read no further.
func TestARowWithoutEnd(t *testing.T) {
	for what, tt := range map[string]struct {
		format Format
		text   endless
	}{
		"zeros":        {JSONLines, endless{part: "\x00"}},
		"blank lines":  {JSONLines, endless{part: "\n"}},
		"a string":     {JSONLines, endless{begin: `{"prompt":"a"}` + "\n" + `{"prompt":"`, part: "aaaaaaaa"}},
		"a value":      {JSON, endless{begin: `[{"prompt":"a"},{"prompt":"`, part: "aaaaaaaa"}},
		"blanks":       {JSON, endless{part: " "}},
		"a cell":       {CSV, endless{begin: "prompt\na\n\"", part: "aaaaaaaaaaaaaaaa\n"}},
		"cells":        {CSV, endless{begin: "prompt\na\n", part: ","}},
		"column names": {CSV, endless{part: "a,"}},
	} {
		tt.text.part = strings.Repeat(tt.text.part, 1<<12)
		table, err := ReadAs(tt.format, &tt.text)
		good := 0
		if err == nil {
			for _, err = range table.All() {
				if err == nil {
					good++
				}
			}
		}
		if err == nil || !strings.Contains(err.Error(), "a row of more than") {
			t.Errorf("%s: %v", what, err)
		}
		if tt.text.read > maxLine+1<<20 || good > 1 {
			t.Errorf("%s: %d bytes were read, %d rows", what, tt.text.read, good)
		}
	}
}

// The limit is that of a row, not of the file.
func TestALimitIsOfEachRow(t *testing.T) {
	row, n := `{"a":"`+strings.Repeat("a", 4<<20)+`"}`+"\n", 0
	table, err := ReadAs(JSONLines, io.LimitReader(&endless{part: row}, int64(20*len(row))))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range table.All() {
		if n++; err != nil {
			t.Fatal(n, err)
		}
	}
	if n != 20 {
		t.Error(n, "rows")
	}
}

// A line has 64 MiB.
func TestTheLongestLine(t *testing.T) {
	for size, good := range map[int64]bool{63 << 20: true, 65 << 20: false} {
		read := 0
		err := Lines(io.LimitReader(&endless{part: strings.Repeat("x", 1<<16)}, size), func(_ int, line []byte) error {
			read += len(line)
			return nil
		})
		if (err == nil) != good || good && int64(read) != size {
			t.Errorf("%d bytes: %d were read, %v", size, read, err)
		}
	}
}
