package comparison

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

func TestSummary(t *testing.T) {
	for name, c := range comparisons() {
		golden.Check(t, "testdata/"+name+"-summary.md", written(t, Summary, c, Options{}))
	}
	golden.Check(t, "testdata/nightly-summary-zh.md", written(t, Summary, nightly(), Options{Lang: words.In("zh"), Heading: 3}))
	c := nightly()
	c.Gates = nil
	golden.Check(t, "testdata/ungated-summary.md", written(t, Summary, c, Options{}))
}

func TestJUnit(t *testing.T) {
	c := nightly()
	golden.Check(t, "testdata/nightly.xml", written(t, JUnit, c, Options{}))
	golden.Check(t, "testdata/nightly-zh.xml", written(t, JUnit, c, Options{Lang: words.In("zh")}))
	c.Gates = nil
	golden.Check(t, "testdata/ungated.xml", written(t, JUnit, c, Options{}))
}

// A suite is what readers of JUnit XML take from it.
type suite struct {
	Name                             string `xml:"name,attr"`
	Tests, Failures, Errors, Skipped int
	Attrs                            []xml.Attr `xml:",any,attr"`
	Cases                            []struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		Skipped *outcome `xml:"skipped"`
		Failure *outcome `xml:"failure"`
		Error   *outcome `xml:"error"`
		Out     string   `xml:"system-out"`
	} `xml:"testcase"`
}

type outcome struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// children are the elements that JUnit XML may have in each, in that order, and attributes
// those that it may have.
var children = map[string][]string{
	"": {"testsuites"}, "testsuites": {"testsuite"}, "testsuite": {"testcase"}, "testcase": {"skipped", "failure", "system-out"},
}

var attributes = map[string][]string{
	"testsuites": {"name", "tests", "failures", "errors", "skipped", "time"}, "testsuite": {"name", "tests", "failures", "errors", "skipped", "time"},
	"testcase": {"classname", "name", "time"}, "failure": {"message", "type"}, "skipped": {"message"},
}

// What is written has the elements and attributes of the schema, counts what there is, and
// has each case once; whatever names there are.
func TestJUnitStructure(t *testing.T) {
	all := comparisons()
	all["broken"] = broken()
	all["alike"] = alike()
	gated := hostile()
	gated.Gates = []compare.GateResult{
		{Gate: compare.Gate{Text: "]]><x/>\x00\x1b[31m & \xff" + strings.Repeat("g", 1000)}, Workload: gated.Workloads[0].Name, Variant: gated.Workloads[0].Variants[1].Name, Outcome: compare.Fail, Why: plan.Text("]]>\x01")},
	}
	all["hostile gates"] = gated
	for name, c := range all {
		text := written(t, JUnit, c, Options{})
		checkElements(t, name, text)
		var doc struct {
			Tests  int     `xml:"tests,attr"`
			Suites []suite `xml:"testsuite"`
		}
		if err := xml.Unmarshal([]byte(text), &doc); err != nil || !utf8.ValidString(text) {
			t.Fatalf("%s: %v", name, err)
		}
		seen, total := map[string]bool{}, 0
		for _, s := range doc.Suites {
			n := map[string]int{"tests": len(s.Cases)}
			for _, one := range s.Cases {
				if one.Skipped != nil {
					n["skipped"]++
				}
				if one.Failure != nil {
					n["failures"]++
				}
				key := one.Class + "\x00" + one.Name
				if seen[key] || one.Class != s.Name || one.Name == "" || len(one.Name) > 1000 {
					t.Errorf("%s: case %q of %q in suite %q", name, one.Name, one.Class, s.Name)
				}
				seen[key] = true
				for _, o := range []*outcome{one.Skipped, one.Failure} {
					if o != nil && (o.Message == "" || o.Message != o.Text) {
						t.Errorf("%s: %q: message %q, text %q", name, one.Name, o.Message, o.Text)
					}
				}
			}
			for _, a := range s.Attrs {
				if want, ok := map[string]string{"tests": itoa(n["tests"]), "failures": itoa(n["failures"]), "skipped": itoa(n["skipped"]), "errors": "0"}[a.Name.Local]; ok && a.Value != want {
					t.Errorf("%s: %s of %q is %s, want %s", name, a.Name.Local, s.Name, a.Value, want)
				}
			}
			total += n["tests"]
		}
		if len(doc.Suites) != len(c.Workloads) || doc.Tests != total {
			t.Errorf("%s: %d suites of %d workloads, %d tests of %d", name, len(doc.Suites), len(c.Workloads), doc.Tests, total)
		}
		if i := strings.IndexAny(text, "\x00\x01\x1b\r\t\u202e"); i >= 0 {
			t.Errorf("%s: %q", name, text[max(0, i-20):i+20])
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// checkElements holds the elements and attributes against the schema.
func checkElements(t *testing.T, name, text string) {
	t.Helper()
	within := []string{""}
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if !slices.Contains(children[within[len(within)-1]], e.Name.Local) {
				t.Errorf("%s: %s in %s", name, e.Name.Local, within[len(within)-1])
			}
			for _, a := range e.Attr {
				if !slices.Contains(attributes[e.Name.Local], a.Name.Local) {
					t.Errorf("%s: attribute %s of %s", name, a.Name.Local, e.Name.Local)
				}
			}
			within = append(within, e.Name.Local)
		case xml.EndElement:
			within = within[:len(within)-1]
		}
	}
}

// alike has two workloads without a name and of one load, two variants of one name as far as
// names are shown, and a gate.
func alike() compare.Comparison {
	c := nightly()
	c.Gates = c.Gates[:1]
	load := c.Workloads[0]
	long := strings.Repeat("x", nameColumns)
	load.Variants = append(slices.Clone(load.Variants[:1]), load.Variants[1], load.Variants[1])
	load.Variants[1].Name, load.Variants[2].Name = long+"a", long+"b"
	load.Rows = slices.Clone(load.Rows)
	for i := range load.Rows {
		load.Rows[i].Cells = append(slices.Clone(load.Rows[i].Cells), load.Rows[i].Cells[1])
	}
	c.Workloads = []compare.Workload{load, load}
	var gates []compare.GateResult
	for range c.Workloads {
		for _, v := range load.Variants[1:] {
			g := c.Gates[0]
			g.Variant = v.Name
			gates = append(gates, g)
		}
	}
	c.Gates = gates
	return c
}

// Gates go to the workloads that they are of, also where names do not tell.
func TestGatesOfWorkloads(t *testing.T) {
	by := gatesOf(alike())
	if len(by) != 2 || len(by[0]) != 2 || len(by[1]) != 2 || by[0][0].Variant == by[0][1].Variant {
		t.Errorf("%+v", by)
	}
}

// Names stay text, tables keep their cells, and no name is longer than it may be.
func TestSummaryOfHostileNames(t *testing.T) {
	c := hostile()
	c.Workloads[0].Variants[1].Name += strings.Repeat("<!-- ", 1000)
	md := written(t, Summary, c, Options{})
	if i := strings.IndexAny(md, "\x1b\x00\r\t\u202E"); i >= 0 {
		t.Errorf("%q", md[max(0, i-20):i+20])
	}
	md = regexp.MustCompile("</?(details|summary)>").ReplaceAllString(md, "")
	bare := regexp.MustCompile("\\\\[\\\\|`*_~\\]&>]").ReplaceAllString(md, "")
	if strings.ContainsAny(bare, "<`") || strings.Contains(bare, "](") {
		t.Error("names are markup")
	}
	for line := range strings.Lines(bare) {
		if n := strings.Count(line, "|"); n != 0 && n != 7 {
			t.Errorf("%d cells in %q", n-1, line)
		}
		if len(line) > 4000 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

// A page of a job takes no more than 1024 KiB.
func TestSummaryIsBounded(t *testing.T) {
	c := nightly()
	for len(c.Workloads) < 2000 {
		c.Workloads = append(c.Workloads, c.Workloads[0])
	}
	wide := nightly()
	load := &wide.Workloads[0]
	for len(load.Variants) < 2000 {
		load.Variants = append(load.Variants, load.Variants[1])
	}
	for i := range load.Rows {
		for len(load.Rows[i].Cells) < 2000 {
			load.Rows[i].Cells = append(load.Rows[i].Cells, load.Rows[i].Cells[1])
		}
	}
	for range 20000 {
		wide.Gates = append(wide.Gates, wide.Gates[0])
	}
	for name, c := range map[string]compare.Comparison{"workloads": c, "variants": wide} {
		if md := written(t, Summary, c, Options{}); len(md) > 900<<10 || !strings.Contains(md, "more") {
			t.Errorf("%s: %d bytes", name, len(md))
		}
	}
}
