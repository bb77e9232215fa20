package doc

import (
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/show/words"
)

// hostile is text of others that would be markup.
const hostile = "<script>x()</script> **b** `c` [l](javascript:x) | \ufdd0\ufdd1 # \n\n# h"

// everything is a document with each item.
func everything(s string) Document {
	return Document{Lang: words.In("en"), Title: s, Sections: []Section{
		{Title: s, Items: []Item{
			Lines{{Label: s, Text: s, Tone: Good}},
			Prose(s),
			List{s},
			Prose(""), List(nil),
			Pre{Language: "text", Text: s},
			Table{Rule: "figure", Heads: []string{s, s}, Rows: []Row{{s, []Cell{
				{Value: "1"},
				{Value: "2", Change: "+100 %", Verdict: s, Tone: Good, Why: s, Reach: &Reach{0.9, 1.1}},
			}}}},
			Grid{Align: "lr", Rows: [][]string{{s, s}, {s, s}}},
		}},
		{Title: s, Depth: 1, Items: []Item{Image{Title: s, Path: s, Caption: s}, Folded{Title: s, Items: []Item{Prose(s)}}}},
	}}
}

func TestHostileTextIsText(t *testing.T) {
	var page, part, md, text strings.Builder
	d := everything(hostile)
	for _, err := range []error{HTML(&page, d), Fragment(&part, d, 2), Markdown(&md, d, 1), Text(&text, d, 80, false)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, out := range map[string]string{"page": page.String(), "fragment": part.String()} {
		for _, bad := range []string{"<script", "javascript:x)\""} {
			if strings.Contains(out, bad) {
				t.Errorf("%s has %q:\n%s", name, bad, out)
			}
		}
		for _, tag := range []string{"section", "dl", "table", "details", "strong", "code", "p", "pre", "h2"} {
			if opened, closed := strings.Count(out, "<"+tag+">"), strings.Count(out, "</"+tag+">"); opened != closed {
				t.Errorf("%s opens %s %d times and closes it %d times", name, tag, opened, closed)
			}
		}
	}
	for line := range strings.Lines(md.String()) {
		if strings.HasPrefix(line, "# h\n") { // but for what is shown as it is
			line = ""
		}
		if strings.HasPrefix(line, "# h") {
			t.Errorf("a heading of somebody else: %q", line)
		}
	}
}

func FuzzInlineIsBalanced(f *testing.F) {
	f.Add(hostile)
	f.Add(Strong("a") + Code("b") + Break + "\ufdd2\ufdd0")
	f.Fuzz(func(t *testing.T, s string) {
		var part strings.Builder
		if err := Fragment(&part, Document{Sections: []Section{{Items: []Item{Prose(s)}}}}, 2); err != nil {
			t.Fatal(err)
		}
		for _, tag := range []string{"p", "strong", "code"} {
			if strings.Count(part.String(), "<"+tag+">") != strings.Count(part.String(), "</"+tag+">") {
				t.Errorf("%q: %s", s, part.String())
			}
		}
	})
}

func TestMarkdownOfText(t *testing.T) {
	for text, want := range map[string]string{
		"cu_seqlens":         "cu_seqlens",
		"_x_ *y*":            `\_x\_ \*y\*`,
		"a|b <c> `d`":        "a\\|b &lt;c> \\`d\\`",
		"line\nbreak\x1b":    "line break",
		"[x](y) #1 & 优化前":    `[x\](y) #1 & 优化前`,
		"# no heading":       `\# no heading`,
		"1. no list":         `1\. no list`,
		"- nor this":         `\- nor this`,
		Strong("a*") + " b":  `**a\*** b`,
		Code("a`b") + Break:  "`` a`b ``<br>",
		"-4 % is no list, 5": `\-4 % is no list, 5`,
	} {
		if got := paragraph(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if got := fence(3, "a\n```\nb"); got != "````" {
		t.Errorf("%q", got)
	}
	if got := link("优 化/1-a.svg"); got != "%E4%BC%98%20%E5%8C%96/1-a.svg" {
		t.Errorf("%q", got)
	}
	if got := inline(Code("a|b"), `\|`); got != "`a\\|b`" {
		t.Errorf("%q", got)
	}
}

func TestFragment(t *testing.T) {
	var b strings.Builder
	d := Document{Lang: words.In("en"), Sections: []Section{{Title: "Verdict", Items: []Item{
		Lines{{Label: "result", Text: Strong("better") + ": mean TTFT", Tone: Good}},
		Image{Title: "TTFT", Path: "note/1-ttft.svg", Caption: "further left is faster"},
		Grid{Rows: [][]string{{"a", "b"}, {"1" + Break + "2", Code("x")}}},
	}}}}
	if err := Fragment(&b, d, 2); err != nil {
		t.Fatal(err)
	}
	want := `
<section>
<h2>Verdict</h2>
<dl>
<dt>result</dt><dd class="better"><strong>better</strong>: mean TTFT</dd>
</dl>
<figure><img src="note/1-ttft.svg" alt="TTFT"/><figcaption>further left is faster</figcaption></figure>
<div class="scroll">
<table>
<tr><th scope="col">a</th><th scope="col">b</th></tr>
<tr><td>1<br/>2</td><td><code>x</code></td></tr>
</table>
</div>
</section>`
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
}

func TestGridWithWidths(t *testing.T) {
	rows := [][]string{{"ms", "mean", "max"}, {"service time: a title"}, {"TTFT", "1", "22222"}, {"set-up", "and a sentence"}}
	for want, widths := range map[string][]int{
		"ms         mean   max\nservice time: a title\nTTFT          1 22222\nset-up   and a sentence\n": {8, 6, 4},
		"ms      mean    max\nservice time: a title\nTTFT       1  22222\nset-up  and a sentence\n":      nil,
	} {
		var b strings.Builder
		d := Document{Sections: []Section{{Items: []Item{Grid{Align: "lr", Widths: widths, Rows: rows}}}}}
		if err := Text(&b, d, 0, false); err != nil || b.String() != want {
			t.Errorf("%v:\n%swant\n%s", err, b.String(), want)
		}
	}
}
