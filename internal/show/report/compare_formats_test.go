package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

// written is what a format makes of a comparison.
func written(t *testing.T, format func(io.Writer, compare.Comparison, CompareOptions) error, c compare.Comparison, o CompareOptions) string {
	t.Helper()
	var out bytes.Buffer
	if err := format(&out, c, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// asCSV is CompareCSV, which has no options.
func asCSV(w io.Writer, c compare.Comparison, _ CompareOptions) error { return CompareCSV(w, c) }

func TestCompareMarkdown(t *testing.T) {
	for name, c := range comparisons() {
		golden.Check(t, "testdata/compare-"+name+".md", written(t, CompareMarkdown, c, CompareOptions{}))
	}
	golden.Check(t, "testdata/compare-ablation-zh.md", written(t, CompareMarkdown, ablation(), CompareOptions{Lang: Zh, Heading: 3}))
}

func TestCompareCSV(t *testing.T) {
	for name, c := range comparisons() {
		golden.Check(t, "testdata/compare-"+name+".csv", written(t, asCSV, c, CompareOptions{}))
	}
}

func TestCompareHTML(t *testing.T) {
	for name, c := range comparisons() {
		golden.Check(t, "testdata/compare-"+name+".html", written(t, CompareHTML, c, CompareOptions{}))
	}
	golden.Check(t, "testdata/compare-nightly-zh.html", written(t, CompareHTML, nightly(), CompareOptions{Lang: Zh}))
}

// A page opens what it closes, and needs nothing from elsewhere.
func TestPagesStandAlone(t *testing.T) {
	for name, c := range comparisons() {
		page := written(t, CompareHTML, c, CompareOptions{})
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
		"text": textOf(t, c, CompareOptions{}), "csv": written(t, asCSV, c, CompareOptions{}),
		"markdown": written(t, CompareMarkdown, c, CompareOptions{}), "html": written(t, CompareHTML, c, CompareOptions{}),
	} {
		if i := strings.IndexAny(got, "\x1b\x00\r\t\u202E"); i >= 0 {
			t.Errorf("%s: %q", name, got[max(0, i-20):i+20])
		}
	}
	page := written(t, CompareHTML, c, CompareOptions{})
	if strings.Contains(page, "<script") || strings.Contains(page, "<img") || strings.Contains(page, "<b>") {
		t.Error("names are elements of the page")
	}
	md := written(t, CompareMarkdown, c, CompareOptions{})
	bare := regexp.MustCompile("\\\\[\\\\|`*_~\\]&>]").ReplaceAllString(md, "")
	if strings.ContainsAny(bare, "<`") || strings.Contains(bare, "](") {
		t.Error("names are markup")
	}
	for line := range strings.Lines(bare) {
		if n := strings.Count(line, "|"); n != 0 && n != 11 {
			t.Errorf("%d cells in %q", n-1, line)
		}
	}
	records, err := csv.NewReader(strings.NewReader(written(t, asCSV, c, CompareOptions{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range records[1:] {
		for i, field := range record {
			if csvColumns[i].text != nil && field != "" && strings.ContainsRune("=+-@", rune(field[0])) {
				t.Errorf("%s is %q", csvColumns[i].name, field)
			}
		}
	}
}

// The lines of a CSV file hold every number of the model in full.
func TestCSVHoldsTheModel(t *testing.T) {
	records, err := csv.NewReader(strings.NewReader(written(t, asCSV, nightly(), CompareOptions{}))).ReadAll()
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
		"definition": "pitot", "variant": "new scheduler", "baseline": "main", "runs": "5", "center": "0.3954", "level": "0.95", "step": "",
		"change": "-0.041", "change_low": "-0.0518", "change_high": "-0.0301", "change_level": "0.95", "change_method": "permutation",
		"basis": "runs", "verdict": "better", "bound": "0.0518", "apart": "false", "test": "exact permutation, 5 and 5 runs", "p": "0.0079",
		"p_adjusted": "0.04", "noise": "0.006", "more_runs": "0", "effective": "",
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
		textOf(t, c, CompareOptions{}), written(t, asCSV, c, CompareOptions{}), written(t, CompareMarkdown, c, CompareOptions{}), written(t, CompareHTML, c, CompareOptions{}),
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
		if diff := cmp.Diff(c, back, cmpopts.IgnoreFields(compare.Comparison{}, "Remarks"), cmpopts.IgnoreFields(compare.Workload{}, "Remarks")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for _, key := range regexp.MustCompile(`"([^"\\]*)":`).FindAllStringSubmatch(string(b), -1) {
			if !regexp.MustCompile(`^[a-z][a-z_]*$`).MatchString(key[1]) {
				t.Errorf("%s: a member %q", name, key[1])
			}
		}
	}
}

// Every word has its translation, which takes the same values.
func TestLanguagesAreComplete(t *testing.T) {
	verbs := func(s string) map[string]bool {
		found := map[string]bool{}
		for _, v := range regexp.MustCompile(`%(\[\d\])?(\.\d)?[a-z]`).FindAllString(s, -1) {
			found[regexp.MustCompile(`\[1\]`).ReplaceAllString(v, "")] = true
		}
		return found
	}
	en, zh := reflect.ValueOf(english), reflect.ValueOf(chinese)
	for i := range en.NumField() {
		name, a, b := en.Type().Field(i).Name, en.Field(i).String(), zh.Field(i).String()
		if a == "" || b == "" {
			t.Errorf("%s is %q and %q", name, a, b)
		}
		if diff := cmp.Diff(verbs(a), verbs(b)); diff != "" && name != "equalTo" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, q := range metrics.Quantities() {
		if chineseTitles[q.Name] == "" {
			t.Errorf("%s has no name in Chinese", q.Name)
		}
	}
	w := newWords(compare.Comparison{}, Zh)
	for name, want := range map[string]string{
		"ttft.mean": "平均 TTFT", "itl.p99.9": "P99.9 ITL", "tpot.std": "TPOT 标准差", "queue.median": "客户端排队时间中位数",
		"e2el_queue.p99": "P99 E2EL（含客户端排队）", "duration": "总耗时", "probe.p50": "P50 探测请求 E2EL", "of their own": "of their own",
	} {
		if got := w.title(metrics.QuantityOf(name)); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// Every sentence of the model has its translation, and takes its arguments; a
// sentence that the model does not have has none.
func TestRemarksAreTranslated(t *testing.T) {
	source, err := os.ReadFile("../../judge/compare/remark.go")
	if err != nil {
		t.Fatal(err)
	}
	kinds := len(regexp.MustCompile(` RemarkKind += "`).FindAll(source, -1))
	if kinds == 0 || kinds != len(chineseRemarks) {
		t.Errorf("%d of %d remarks are translated", len(chineseRemarks), kinds)
	}
	for kind, zh := range chineseRemarks {
		if a, b := strings.Count(string(kind), "%s"), strings.Count(zh, "%s"); a != b {
			t.Errorf("%q takes %d arguments, %q takes %d", kind, a, zh, b)
		}
	}
}
