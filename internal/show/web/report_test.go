package web

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
)

// A report is one document whose policy lets its own script and style run, and no text in it ends
// an element.
func TestReportIsOneFile(t *testing.T) {
	answers, err := json.Marshal(map[string]string{"runs/a": "</script><script>alert(1)</script><!--"})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r := Report{Title: `<img src=x onerror=alert(1)>`, Language: "en"}
	if err := r.write(&out, `let a="</script><script>",b="<!--x-->"`, "p{}", string(answers)); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	if n := strings.Count(page, "</script>"); n != 2 {
		t.Errorf("%d script elements, of 2", n)
	}
	for _, bad := range []string{"<img", "<!--", "src=", "href=", "url("} {
		if strings.Contains(strings.ReplaceAll(page, "&lt;img src=x", ""), bad) {
			t.Errorf("the page has %s:\n%s", bad, page)
		}
	}
	script := between(t, page, `<script type="module">`, `</script>`)
	if script != `let a="\x3c/script>\x3cscript>",b="\x3c!--x-->"` {
		t.Errorf("script %s", script)
	}
	if !strings.Contains(page, hash(script)) || !strings.Contains(page, hash("p{}")) {
		t.Errorf("the policy does not have the hashes of script and style:\n%s", page)
	}
	var got map[string]string
	if err := json.Unmarshal([]byte(between(t, page, `id="answers">`, `</script>`)), &got); err != nil || got["runs/a"] != "</script><script>alert(1)</script><!--" {
		t.Errorf("answers %v, %v", got, err)
	}
	if policy := regexp.MustCompile(`content="(default-src [^"]*)"`).FindStringSubmatch(page); policy == nil || strings.Contains(policy[1], "unsafe") {
		t.Errorf("policy %q", policy)
	}
}

func TestDeflated(t *testing.T) {
	want := strings.Repeat("columns", 1000)
	packed, err := deflated([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	var encoded string
	if err := json.Unmarshal(packed, &encoded); err != nil {
		t.Fatal(err)
	}
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(flate.NewReader(bytes.NewReader(b)))
	if err != nil || string(got) != want {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// between is what stands between two texts.
func between(t *testing.T, s, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(s, from)
	inner, _, closed := strings.Cut(rest, to)
	if !ok || !closed {
		t.Fatalf("nothing between %s and %s:\n%s", from, to, s)
	}
	return inner
}
