package rows

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// plain converts a value to JSON types, as in the golden file.
func plain(v any) any {
	switch v := v.(type) {
	case []byte:
		return map[string]any{"bytes": base64.StdEncoding.EncodeToString(v)}
	case time.Time:
		if v.Equal(v.Truncate(24 * time.Hour)) {
			return v.Format(time.DateOnly)
		}
		return v.Format("2006-01-02T15:04:05.000000")
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, plain(e))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = plain(e)
		}
		return out
	}
	return v
}

func openParquetFile(t *testing.T, name string) *Table {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".parquet")
	if err != nil {
		t.Fatal(err)
	}
	table, err := Open(name+".parquet", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Every kind of column, several row groups, both page versions and nested lists
// give the same as pyarrow.
func TestParquetEqualsArrow(t *testing.T) {
	b, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string]json.RawMessage
	if err := json.Unmarshal(b, &golden); err != nil {
		t.Fatal(err)
	}
	for name, raw := range golden {
		want, err := decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		got := []any{}
		for row, err := range openParquetFile(t, name).All() {
			if err != nil {
				t.Fatal(err)
			}
			m := map[string]any{}
			for _, c := range row.Columns() {
				v, err := row.Value(c)
				if err != nil {
					t.Fatal(err)
				}
				m[c] = plain(v)
			}
			got = append(got, m)
		}
		sameNumbers := cmp.Comparer(func(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
		numbersOnly := cmp.FilterPath(func(p cmp.Path) bool {
			v, _ := p.Last().Values()
			return v.IsValid() && (v.CanInt() || v.CanFloat())
		}, sameNumbers)
		if diff := cmp.Diff(want, any(got), numbersOnly); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestParquetColumns(t *testing.T) {
	got := openParquetFile(t, "plain").Columns()
	if !slices.Equal(got[:3], []string{"text", "small", "number"}) || len(got) != 15 {
		t.Errorf("columns %q", got)
	}
}

func TestParquetStopsWhenAsked(t *testing.T) {
	n := 0
	for _, err := range openParquetFile(t, "zstd").All() {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 7 {
			break
		}
	}
	if n != 7 {
		t.Errorf("%d rows", n)
	}
}

// texts collects the column p, and the error that ended it.
func texts(t *testing.T, name, file string) (got []string, err error) {
	t.Helper()
	table, err := Read(name, strings.NewReader(file))
	if err != nil {
		return nil, err
	}
	for row, err := range table.All() {
		if err != nil {
			return got, err
		}
		s, err := row.String("p")
		if err != nil {
			return got, err
		}
		got = append(got, s)
	}
	return got, nil
}

func TestTextForms(t *testing.T) {
	for _, c := range []struct{ name, file string }{
		{"lines.jsonl", `{"p":"a"}` + "\n\n" + `{"p":"b, \"c\""}` + "\r\n" + `{"x":1,"p":"d"}`},
		{"lines.NDJSON", "\ufeff" + `{"p":"a"}` + "\n" + `{"p":"b, \"c\""}` + "\n" + `{"p":"d"}` + "\n"},
		{"array.json", ` [{"p":"a"}, {"p":"b, \"c\""},` + "\n" + `{"p":"d"}]` + "\n"},
		{"values.json", `{"p":"a"}` + "\n" + `{"p":"b, \"c\""}{"p":"z","p":"d"}`},
		{"cells.csv", "n,p\n1,a\r\n\n2,\"b, \"\"c\"\"\"\n3,d\n"},
	} {
		got, err := texts(t, c.name, c.file)
		if err != nil || !slices.Equal(got, []string{"a", `b, "c"`, "d"}) {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

func TestCompressed(t *testing.T) {
	const file = `{"p":"a"}` + "\n" + `{"p":"b"}` + "\n"
	var gz, zst bytes.Buffer
	g := gzip.NewWriter(&gz)
	_, _ = io.WriteString(g, file)
	_ = g.Close()
	z, _ := zstd.NewWriter(&zst)
	_, _ = io.WriteString(z, file)
	_ = z.Close()
	for name, b := range map[string][]byte{"a.jsonl.gz": gz.Bytes(), "a.jsonl.zst": zst.Bytes()} {
		if got, err := texts(t, name, string(b)); err != nil || !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if got, err := texts(t, name, string(b[:len(b)-9])); err == nil {
			t.Errorf("%s cut short gives %q without an error", name, got)
		}
	}
}

// Errors have a position.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"a.txt", "", `"a.txt": the name must end in .parquet, .json, .jsonl or .csv`},
		{"a.parquet.gz", "", "compressed inside"},
		{"a.parquet", "", "cannot be read from a stream"},
		{"a.jsonl", "{\"p\":\"a\"}\n\n{\"p\":", "line 3: the JSON ends in the middle"},
		{"a.jsonl", "[1]", "line 1: not a JSON object: must be an object"},
		{"a.jsonl", `{"p":"a"} x`, "line 1: not a JSON object: something follows"},
		{"a.jsonl", `{"q":1}`, `line 1: column "p" is missing; there are q`},
		{"a.jsonl", `{"p":null}`, `line 1: column "p" is null`},
		{"a.jsonl", `{"p":[1]}`, `line 1: column "p" is a list: must be text`},
		{"a.json", `[{"p":"a"},{"p":"b"`, "row 2, at byte"},
		{"a.json", `[{"p":"a"},`, "row 2, at byte 11: unexpected"},
		{"a.json", `[{"p":"a"},7]`, "row 2: not a JSON object"},
		{"a.csv", "", "the file is empty"},
		{"a.csv", "p,q\n\"x\ny\",1\nz,1,2\n", "line 4: 3 cells, but the first line names 2 columns"},
		{"a.csv", "q,p\n1\n", `line 2: column "p" is missing`},
		{"a.jsonl.gz", "{}", "unpack"},
	} {
		if _, err := texts(t, c.name, c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.name, c.file, err, c.want)
		}
	}
}

func TestNotParquet(t *testing.T) {
	b := []byte("PAR1 and nothing of the kind PAR1")
	if _, err := Open("x.parquet", bytes.NewReader(b), int64(len(b))); err == nil {
		t.Error("no error")
	}
}

func one(t *testing.T, line string) Row {
	t.Helper()
	table, err := ReadAs(JSONLines, strings.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range table.All() {
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
	t.Fatal("no row")
	return Row{}
}

func TestNumbers(t *testing.T) {
	row := one(t, `{"a":3,"b":3.0,"c":"3","d":3.5,"e":" 3.0 ","f":true,"g":1e30,"h":9007199254740993}`)
	for _, column := range []string{"a", "b", "c", "e"} {
		if n, err := row.Int(column); n != 3 || err != nil {
			t.Errorf("%s: %d, %v", column, n, err)
		}
		if f, err := row.Float(column); f != 3 || err != nil {
			t.Errorf("%s: %v, %v", column, f, err)
		}
	}
	for _, column := range []string{"d", "f", "g", "none"} {
		if n, err := row.Int(column); err == nil {
			t.Errorf("%s: %d without an error", column, n)
		}
	}
	if n, err := row.Int("h"); n != 9007199254740993 || err != nil {
		t.Errorf("large: %d, %v", n, err)
	}
}

// A nested value keeps the key order of the file.
func TestJSONKeepsOrder(t *testing.T) {
	row := one(t, `{"tools":{"z":1,"a":[{"y":2,"b":1.50}]}}`)
	raw, err := row.JSON("tools")
	if err != nil || string(raw) != `{"z":1,"a":[{"y":2,"b":1.50}]}` {
		t.Errorf("%s, %v", raw, err)
	}
	var into struct {
		Z string `json:"z"`
	}
	if err := row.Decode("tools", &into); err == nil ||
		!strings.Contains(err.Error(), `line 1: column "tools" has another form: field "z" is a JSON number`) {
		t.Error(err)
	}
}

func FuzzText(f *testing.F) {
	f.Add("json", `[{"a":1},{"b":[null]}]`)
	f.Add("jsonl", "{\"a\":1}\n{")
	f.Add("csv", "a,b\n1,\"2\n")
	f.Fuzz(func(t *testing.T, format, file string) {
		table, err := ReadAs(Format(format), strings.NewReader(file))
		if err != nil {
			return
		}
		last := 0
		for row, err := range table.All() {
			if err != nil {
				continue
			}
			if row.Number != last+1 {
				t.Fatalf("row %d after %d", row.Number, last)
			}
			last = row.Number
			for _, c := range row.Columns() {
				_, _ = row.Value(c)
				_, _ = row.Int(c)
			}
		}
	})
}

func FuzzParquet(f *testing.F) {
	b, err := os.ReadFile("testdata/plain.parquet")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(_ *testing.T, b []byte) {
		table, err := Open("x.parquet", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for row, err := range table.All() {
			if err != nil {
				return
			}
			for _, c := range row.Columns() {
				_, _ = row.Value(c)
			}
		}
	})
}
