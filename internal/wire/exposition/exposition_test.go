package exposition

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
)

const openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

// The same counters, gauges and histograms in both formats are the same samples.
func TestBothFormatsSayTheSame(t *testing.T) {
	at := time.UnixMilli(1700000000250)
	want := []Sample{
		{Name: "a_total", Labels: Labels{{"path", `/x "y" \ #{}`}, {"text", "a\nb"}}, Value: 12, Counter: true},
		{Name: "b", Value: 0.5, Stamp: at},
		{Name: "build_info", Labels: Labels{{"version", "1"}}, Value: 1},
		{Name: "h_count", Labels: Labels{{"m", "x"}}, Value: 3, Counter: true},
		{Name: "h_sum", Labels: Labels{{"m", "x"}}, Value: 1.5, Counter: true},
		{Name: "on", Labels: Labels{{"on", "a"}}, Value: 1},
		{Name: "u", Value: math.Inf(1)},
	}
	for contentType, text := range map[string]string{
		"text/plain; version=0.0.4": `# HELP a_total With \x an escape that there is not.
# TYPE a_total counter
a_total{path="/x \"y\" \\ #{}",text="a\nb"} 12
# TYPE b gauge
b 0.5 1700000000250
# TYPE build_info gauge
build_info{version="1"} 1
# TYPE h histogram
h_bucket{m="x",le="1"} 2
h_bucket{m="x",le="+Inf"} 3
h_sum{m="x"} 1.5
h_count{m="x"} 3
on{on="a"} 1
# TYPE s summary
s{quantile="0.5"} 1
s_sum 4
u +Inf
`,
		openMetrics: `# HELP a With text.
# TYPE a counter
# UNIT b seconds
a_total{path="/x \"y\" \\ #{}",text="a\nb"} 12.0 # {trace_id="# 7"} 1.0 1700000000.5
a_created{path="/x \"y\" \\ #{}",text="a\nb"} 1.7e9
# TYPE b gauge
b 0.5 1700000000.25
# TYPE build info
build_info{version="1"} 1
# TYPE h histogram
h_bucket{m="x",le="1.0"} 2 # {} 0.7
h_bucket{m="x",le="+Inf"} 3
h_sum{m="x"} 1.5
h_count{m="x"} 3
h_created{m="x"} 1.7e9
# TYPE on stateset
on{on="a"} 1
# TYPE s summary
s{quantile="0.5"} 1
s_sum 4
# TYPE u unknown
u +Inf
# EOF
`,
	} {
		page, err := Parse(t.Context(), contentType, []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", contentType, err)
		}
		if d := cmp.Diff(want, page.Samples); d != "" || len(page.Doubts) > 0 {
			t.Errorf("%s: %v %s", contentType, page.Doubts, d)
		}
	}
}

// A fault gives one message, and the rest of the page is used.
func TestHostilePages(t *testing.T) {
	good := "a 1\n"
	for what, tt := range map[string]struct {
		kind, text string
		code       plan.Code
		samples    int
	}{
		"nothing":           {"", "", "", 0},
		"50 MB":             {"", strings.Repeat("a_total 1\n", 5<<20), Large, 0},
		"a million series":  {"", strings.Repeat("a 1\n", 1<<20), Lines, 0},
		"HTML":              {"text/html", "\n <!DOCTYPE html><html><body>404</body></html>\n", HTML, 0},
		"JSON":              {"", `{"error":"no"}` + "\n", Syntax, 0},
		"a cut line":        {"", good + "b 12", Syntax, 0},
		"a cut page":        {openMetrics, good, Syntax, 0},
		"more than the end": {openMetrics, good + "# EOF\nb 1\n", Syntax, 0},
		"no value":          {openMetrics, good + "b\n# EOF\n", Syntax, 0},
		"open labels":       {openMetrics, good + "b{a=\"}\n# EOF\n", Syntax, 0},
		"no timestamp":      {openMetrics, good + "b 1 NaN\n# EOF\n", Syntax, 0},
		"a late timestamp":  {openMetrics, good + "b 1 1e300\n# EOF\n", Syntax, 0},
		"duplicates":        {"", good + "a 2\nb{x=\"1\",y=\"2\"} 1\nb{y=\"2\",x=\"1\"} 2\n", Duplicate, 2},
		"two types":         {"", "# TYPE a counter\n" + good + "# TYPE a counter\nb 1\n", "", 2},
		"an unknown type":   {"", "# TYPE a guess\n" + good, "", 1},
		"not UTF-8":         {"", good + "b{x=\"\xff\"} 1\nc 1\n", NotText, 2},
		"a huge label":      {"", good + `b{x="` + strings.Repeat("y", 1<<20) + "\"} 1\nc 1\n", LongLine, 2},
		"many labels":       {"", good + `b{` + strings.Repeat(`a="",`, 1<<18) + "} 1\n", LongLine, 1},
		"numbers":           {"", "a NaN\nb -Inf\nc +Inf\n", "", 3},
	} {
		page, err := Parse(t.Context(), tt.kind, []byte(tt.text))
		var code plan.Code
		if err != nil {
			code = ErrorMessage(err).Code
		} else if len(page.Doubts) > 0 {
			code = page.Doubts[0].Code
		}
		if code != tt.code || len(page.Doubts) > 1 || len(page.Samples) != tt.samples {
			t.Errorf("%s: %v, %v, %d samples", what, err, page.Doubts, len(page.Samples))
		}
	}
	if page, _ := Parse(t.Context(), "", []byte("a 1\na 2\n")); page.Samples[0].Value != 1 {
		t.Error("of two values the first counts")
	}
}

// A histogram has the numbers that its page has, and no others.
func TestHistogramsInPart(t *testing.T) {
	page, err := Parse(t.Context(), "",
		[]byte("# TYPE h histogram\nh_bucket{le=\"+Inf\"} 1\n# TYPE f histogram\nf_count 2.5\n"))
	want := []Sample{{Name: "f_count", Value: 2.5, Counter: true}}
	if d := cmp.Diff(want, page.Samples); d != "" || err != nil {
		t.Error(err, d)
	}
}

func TestParsingEndsWithItsContext(t *testing.T) {
	late := errors.New("time is up")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(late)
	if _, err := Parse(ctx, "", []byte("a 1\n")); !errors.Is(err, late) {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("# HELP vllm:x Text.\n# TYPE vllm:x counter\nvllm:x{engine=\"0\",reason=\"a\\\"b\\n\"} 1e+06\n", false)
	f.Add("# TYPE h histogram\nh_bucket{le=\"+Inf\"} 3.0\nh_sum 1.5\nh_count 3\n", false)
	f.Add("up 1 1700000000000\nup{a=\"b\",} NaN\nx_total -Inf\n", false)
	f.Add("# TYPE s summary\ns{quantile=\"0.5\"} 1\n", false)
	f.Add("x{", false)
	f.Add("# TYPE a counter\na_total{b=\"}\"} 1 17.5 # {c=\"d\"} 1 2\na_created 3\n# EOF\n", true)
	f.Add("{\"a\"} 1\n# EOF\n", true)
	f.Fuzz(func(t *testing.T, text string, open bool) {
		contentType := "text/plain"
		if open {
			contentType = openMetrics
		}
		page, err := Parse(t.Context(), contentType, []byte(text))
		if err != nil && (err.Error() == "" || ErrorMessage(err).IsZero()) {
			t.Errorf("%q: an error that says nothing", text)
		}
		for _, s := range page.Samples {
			// which the parser takes in names
			stands := strings.Contains(text, strings.TrimSuffix(s.Name, "_total")) || strings.Contains(text, `"`)
			if s.Name == "" || !stands || !strings.HasPrefix(s.Series(), s.Name) {
				t.Errorf("%q gives %+v, %s", text, s, s.Series())
			}
		}
	})
}

// A page as large as a busy engine's, 100 kB.
func BenchmarkParse(b *testing.B) {
	var text bytes.Buffer
	for i := 0; text.Len() < 100_000; i++ {
		fmt.Fprintf(&text, "# HELP vllm:m%d Histogram of something in seconds.\n# TYPE vllm:m%d histogram\n", i, i)
		for le := range 22 {
			fmt.Fprintf(&text, "vllm:m%d_bucket{engine=\"0\",le=\"%d.0\",model_name=\"Qwen/Qwen3-32B\"} %d.0\n", i, le, le*i)
		}
		fmt.Fprintf(&text,
			"vllm:m%d_sum{engine=\"0\",model_name=\"Qwen/Qwen3-32B\"} 12.5\n"+
				"vllm:m%d_count{engine=\"0\",model_name=\"Qwen/Qwen3-32B\"} %d.0\n", i, i, 21*i)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := Parse(b.Context(), "", text.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}

// paged is a page of many lines, of a series each.
func paged(lines int, line func(n int) string) []byte {
	var text bytes.Buffer
	for n := range lines {
		text.WriteString(line(n))
		text.WriteByte('\n')
	}
	return text.Bytes()
}

// A page of very many lines costs no memory for the series that are not wanted, and little for
// the others; a page like the one before costs none.
func TestTheMemoryOfPages(t *testing.T) {
	none := func([]byte) bool { return false }
	for what, tt := range map[string]struct {
		wanted func([]byte) bool
		line   func(n int) string
		again  bool // the same page, read again
		most   int  // MB
	}{
		"unknown names": {none, func(n int) string { return fmt.Sprintf("x%d{a=\"b\"} %d", n, n) }, false, 2},
		"types":         {none, func(n int) string { return fmt.Sprintf("# TYPE x%d gauge", n) }, false, 2},
		"buckets":       {nil, func(n int) string { return fmt.Sprintf("x_bucket{le=\"%d\"} 1", n) }, false, 4},
		"no text":       {nil, func(int) string { return "x{a=\"\xff\"} 1" }, false, 1},
		"twice":         {nil, func(int) string { return "x{a=\"b\"} 1" }, false, 1},
		"the same":      {nil, func(n int) string { return fmt.Sprintf("x{a=\"%d\",b=\"%d\"} 1", n%1000, n/1000) }, true, 0},
	} {
		text := paged(20_000, tt.line)
		r := Reader{Wanted: tt.wanted}
		pass := func() {
			if _, err := r.Read(t.Context(), "", text, func(*Sample) {}); err != nil {
				t.Error(what, err)
			}
		}
		if tt.again {
			pass()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		pass()
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(tt.most)<<20+16<<10 {
			t.Errorf("%s: %d bytes for a page of %d", what, took, len(text))
		}
	}
}
