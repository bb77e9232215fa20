package exposition

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// reference is what the reference parser reads, as series with their values. Of families that stand
// there in part or twice it has its own idea.
func reference(text string) (all []string, err error) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		for _, m := range families[name].GetMetric() {
			add := func(suffix string, v float64) {
				all = append(all, line(name+suffix, labelsOf(m), v, m.GetTimestampMs()))
			}
			switch {
			case m.Counter != nil:
				add("", m.GetCounter().GetValue())
			case m.Gauge != nil:
				add("", m.GetGauge().GetValue())
			case m.Untyped != nil:
				add("", m.GetUntyped().GetValue())
			case m.Histogram != nil && m.Histogram.SampleSum != nil:
				add("_sum", m.GetHistogram().GetSampleSum())
			}
			if h := m.GetHistogram(); h != nil && (h.SampleCount != nil || h.SampleCountFloat != nil) {
				add("_count", max(h.GetSampleCountFloat(), float64(h.GetSampleCount())))
			}
		}
	}
	return unique(all), nil
}

func labelsOf(m *dto.Metric) (out Labels) {
	for _, l := range m.GetLabel() {
		out = append(out, Label{l.GetName(), l.GetValue()})
	}
	slices.SortFunc(out, func(a, b Label) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func line(name string, labels Labels, v float64, ms int64) string {
	return fmt.Sprint(name, labels, " = ", v, " @", ms)
}

// unique are the first values of series, in order.
func unique(all []string) (out []string) {
	seen := map[string]bool{}
	for _, one := range all {
		if name, _, _ := strings.Cut(one, " = "); !seen[name] {
			seen[name], out = true, append(out, one)
		}
	}
	slices.Sort(out)
	return out
}

// read is what a Reader reads, likewise.
func read(t *testing.T, contentType, text string) (all []string, err error) {
	page, err := Parse(t.Context(), contentType, []byte(text))
	for _, s := range page.Samples {
		ms := int64(0)
		if !s.Stamp.IsZero() {
			ms = s.Stamp.UnixMilli()
		}
		all = append(all, line(s.Name, s.Labels, s.Value, ms))
	}
	slices.Sort(all)
	return all, err
}

// What servers and exporters print is read as the reference parser reads it.
func TestPagesAreReadAsByTheReference(t *testing.T) {
	names, err := filepath.Glob("../../run/collect/source/testdata/metrics/*.txt")
	if err != nil || len(names) < 10 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasSuffix(text, []byte("# EOF\n")) {
			continue
		}
		want, err := reference(string(text))
		got, err2 := read(t, "", string(text))
		if d := cmp.Diff(want, got); d != "" || err != nil || err2 != nil || len(got) == 0 {
			t.Error(name, err, err2, d)
		}
	}
}

var (
	labelValue = regexp.MustCompile(`=[ \t]*"(\\.|[^"\\\n])*"`)
	bracedName = regexp.MustCompile(`(?m)^[ \t]*\{`)
)

// What the reference parser takes is read as it reads it. It takes more: names in braces,
// which no program prints that is not asked for them. And it refuses more: types behind their
// samples, limits of buckets that are no numbers.
func FuzzReference(f *testing.F) {
	f.Add("# TYPE h histogram\nh_sum{a=\"b\"} 1\nh_count{a=\"b\"} 2\nh_bucket{le=\"+Inf\"} 2\nh_created 3\nh 4\n")
	f.Add("# TYPE s summary\ns{quantile=\"0.5\"} 1\ns_sum 1\ns_count 2\ns_created 3\n")
	f.Add("a { b = \"c\\\\\\\"\\n\" , } +Inf 17\n\ta-1\n a\t0x1p2\nb 1_0\n")
	f.Add("a{} 1\na{b=\"\"} NaN\n# HELP a \\x\n# TYPE a gauge\n")
	f.Fuzz(func(t *testing.T, text string) {
		text += "\n" // a page without is cut
		got, err := read(t, "text/plain", text)
		want, refused := reference(text)
		own := strings.ContainsAny(labelValue.ReplaceAllString(text, ""), "\r\x00\"") || bracedName.MatchString(text)
		if refused != nil || own || len(text) > maxLine {
			return
		}
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%q: %v %s", text, err, d)
		}
	})
}

// What the reference library writes in either format is read as the same samples, and as what
// was written.
func FuzzFormats(f *testing.F) {
	f.Add("a", "b", "c \"\\\n# {}", 1.5, int64(1700000000001), true)
	f.Add("x_total", "le", "", math.Copysign(0, -1), int64(-1), false)
	f.Fuzz(func(t *testing.T, name, label, value string, v float64, ms int64, counter bool) {
		family := &dto.MetricFamily{Name: &name}
		m := &dto.Metric{Label: []*dto.LabelPair{{Name: &label, Value: &value}}}
		if ms = ms % (1 << 42); ms != 0 {
			m.TimestampMs = &ms
		}
		if counter {
			if name = strings.TrimSuffix(name, "_total") + "_total"; name == "_total" {
				return // of a family without a name
			}
			family.Type, m.Counter = dto.MetricType_COUNTER.Enum(), &dto.Counter{Value: &v}
		} else {
			family.Type, m.Gauge = dto.MetricType_GAUGE.Enum(), &dto.Gauge{Value: &v}
		}
		family.Metric = []*dto.Metric{m}
		var plain, open bytes.Buffer
		if _, err := expfmt.MetricFamilyToText(&plain, family); err != nil {
			return
		}
		if _, err := expfmt.MetricFamilyToOpenMetrics(&open, family); err != nil {
			return
		}
		_, _ = expfmt.FinalizeOpenMetrics(&open)
		one, err := read(t, "", plain.String())
		two, oerr := read(t, openMetrics, open.String())
		if d := cmp.Diff(one, two); d != "" || (err == nil) != (oerr == nil) {
			t.Errorf("%q %v\n%q %v\n%s", &plain, err, &open, oerr, d)
		}
		if want, refused := reference(plain.String()); refused == nil && err == nil && !slices.Equal(want, one) {
			t.Errorf("%q gives %v, want %v", &plain, one, want)
		}
	})
}
