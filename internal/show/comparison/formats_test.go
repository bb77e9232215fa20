package comparison

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

// written is what a format makes of a comparison.
func written(t *testing.T, format func(io.Writer, compare.Comparison, Options) error, c compare.Comparison, o Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := format(&out, c, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// asCSV is CSV, which has no options.
func asCSV(w io.Writer, c compare.Comparison, _ Options) error { return CSV(w, c) }

func TestMarkdown(t *testing.T) {
	for name, c := range comparisons() {
		golden.Check(t, "testdata/"+name+".md", written(t, Markdown, c, Options{}))
	}
	golden.Check(t, "testdata/ablation-zh.md", written(t, Markdown, ablation(), Options{Lang: words.In("zh"), Heading: 3}))
}

func TestCSV(t *testing.T) {
	for name, c := range comparisons() {
		golden.Check(t, "testdata/"+name+".csv", written(t, asCSV, c, Options{}))
	}
}

func TestHTML(t *testing.T) {
	for name, c := range comparisons() {
		golden.Check(t, "testdata/"+name+".html", written(t, HTML, c, Options{}))
	}
	golden.Check(t, "testdata/nightly-zh.html", written(t, HTML, nightly(), Options{Lang: words.In("zh")}))
}

// A page opens what it closes, and needs nothing from elsewhere.
func TestPagesStandAlone(t *testing.T) {
	for name, c := range comparisons() {
		page := written(t, HTML, c, Options{})
		for d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(page, "<!DOCTYPE html>"))); ; {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if found := regexp.MustCompile(`(?i)<script|https?:|src=["']|<link|url\(|@import`).FindString(page); found != "" {
			t.Errorf("%s: %s", name, found)
		}
	}
}

// What others named stays text, whatever holds it.
func TestNamesAreText(t *testing.T) {
	c := hostile()
	for name, got := range map[string]string{
		"text": textOf(t, c, Options{}), "csv": written(t, asCSV, c, Options{}),
		"markdown": written(t, Markdown, c, Options{}), "html": written(t, HTML, c, Options{}),
	} {
		if i := strings.IndexAny(got, "\x1b\x00\r\t\u202E"); i >= 0 {
			t.Errorf("%s: %q", name, got[max(0, i-20):i+20])
		}
	}
	page := written(t, HTML, c, Options{})
	if strings.Contains(page, "<script") || strings.Contains(page, "<img") || strings.Contains(page, "<b>") {
		t.Error("names are elements of the page")
	}
	md := written(t, Markdown, c, Options{})
	bare := regexp.MustCompile("\\\\[\\\\|`*_~\\]&>]").ReplaceAllString(md, "")
	if strings.ContainsAny(bare, "<`") || strings.Contains(bare, "](") {
		t.Error("names are markup")
	}
	for line := range strings.Lines(bare) {
		if n := strings.Count(line, "|"); n != 0 && n != 11 {
			t.Errorf("%d cells in %q", n-1, line)
		}
	}
	records, err := csv.NewReader(strings.NewReader(written(t, asCSV, c, Options{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range records[1:] {
		for i, field := range record {
			if _, err := strconv.ParseFloat(field, 64); err != nil && field != "" && strings.ContainsRune("=+-@", rune(field[0])) {
				t.Errorf("%s is %q", csvColumns[i].name, field)
			}
		}
	}
}

// The lines of a CSV file hold every number of the model in full.
func TestCSVHoldsTheModel(t *testing.T) {
	records, err := csv.NewReader(strings.NewReader(written(t, asCSV, nightly(), Options{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(records), 1+11*2; got != want {
		t.Fatalf("%d lines, want %d", got, want)
	}
	line := map[string]string{}
	for i, field := range records[0] {
		line[field] = records[12][i]
	}
	want := map[string]string{
		"workload": "", "settings": "workload=random 1024→128 tokens rate=16/s", "metric": "ttft.mean", "title": "mean TTFT", "unit": "s", "better": "lower",
		"definition": "pitot", "variant": "new scheduler", "baseline": "main", "kind": "measured", "baseline_kind": "measured", "runs": "5", "center": "0.3954", "level": "0.95", "step": "",
		"change": "-0.041", "change_low": "-0.0518", "change_high": "-0.0301", "change_level": "0.95", "change_method": "permutation",
		"basis": "runs", "verdict": "better", "bound": "0.0518", "apart": "false", "test": "exact permutation, 5 and 5 runs", "p": "0.0079",
		"p_adjusted": "0.04", "noise": "0.006", "more_runs": "0", "effective": "", "plain": "false", "open": "", "order": "",
		"values": line["values"], "low": line["low"], "high": line["high"],
	}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Error(diff)
	}
	if n := len(strings.Fields(line["values"])); n != 5 {
		t.Errorf("%d values", n)
	}
}

// Numbers that are none are shown as missing.
func TestBrokenNumbers(t *testing.T) {
	c := broken()
	for _, got := range []string{
		textOf(t, c, Options{}), written(t, asCSV, c, Options{}), written(t, Markdown, c, Options{}), written(t, HTML, c, Options{}),
	} {
		if found := regexp.MustCompile(`NaN|Inf`).FindString(got); found != "" {
			t.Errorf("%s in %s", found, got)
		}
	}
}

// The model is JSON and back, and its names are those of JSON.
func TestComparisonAsJSON(t *testing.T) {
	for name, c := range comparisons() {
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var back compare.Comparison
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, back); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for _, key := range regexp.MustCompile(`"([^"\\]*)":`).FindAllStringSubmatch(string(b), -1) {
			if !regexp.MustCompile(`^[a-z][a-z_]*$`).MatchString(key[1]) {
				t.Errorf("%s: a member %q", name, key[1])
			}
		}
	}
}
