package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// streamed is a run of n requests through a gate, each of some chunks of a token;
// every 40th fails.
func streamed(seed uint64, n, gate int) *trace.Trace {
	rng := rand.New(rand.NewPCG(seed, 1))
	t := &trace.Trace{Run: trace.Run{Status: trace.Complete, Plan: trace.Load{Stream: true, Requests: n}}}
	free := make([]float64, gate)
	sec := func(v float64) trace.Instant { return trace.Instant(v * 1e9) }
	for i := range n {
		r, place := trace.NewRecord(i), slices.Index(free, slices.Min(free))
		due := float64(i) * 0.1
		at := max(due, free[place])
		r.Due, r.Released, r.Sent = sec(due), sec(at), sec(at)
		at += 0.1 + 0.3*math.Exp(rng.NormFloat64())
		for range 20 + rng.IntN(100) {
			r.Chunks = append(r.Chunks, trace.Chunk{At: sec(at), Kind: trace.Text})
			at += 0.02 + 0.01*rng.ExpFloat64()
		}
		r.OutputTokens = len(r.Chunks)
		r.Done = r.Chunks[len(r.Chunks)-1].At
		if i%40 == 39 {
			r.Class = trace.HTTP
		}
		free[place] = at
		t.Records, t.Run.End = append(t.Records, r), max(t.Run.End, r.Done)
	}
	return t
}

// figures are every plot of two variants.
func figures(t *testing.T) map[string]func(io.Writer) error {
	t.Helper()
	digest := func(seed uint64) Digest { return NewDigest(streamed(seed, 900, 8)) }
	variants := []Curves{{"优化前", []Digest{digest(1), digest(2)}}, {"after <a&b>", []Digest{digest(3)}}}
	zh := words.In("zh")
	dots := Dots{Baseline: "v <a&b>", Variants: []string{"优化前", "after <a&b>"}, Margin: 0.02, Rows: []DotRow{
		{"平均 TTFT ↓", []Dot{{-0.135, -0.2, -0.08, true}, {-0.03, math.NaN(), math.NaN(), false}}},
		{"P99 TTFT ↓", []Dot{{0.02, -0.9, math.Inf(1), false}, {math.NaN(), math.NaN(), math.NaN(), false}}},
	}}
	return map[string]func(io.Writer) error{
		"ttft":     func(w io.Writer) error { return TTFT(w, zh, variants) },
		"itl":      func(w io.Writer) error { return ITL(w, zh, variants) },
		"output":   func(w io.Writer) error { return Output(w, zh, variants) },
		"timeline": func(w io.Writer) error { return Requests(w, zh, "after <a&b>", variants[0].Runs[0].Timeline) },
		"dots":     func(w io.Writer) error { return Changes(w, zh, dots) },
		"meanwhile": func(w io.Writer) error {
			t := streamed(1, 900, 8)
			t.Telemetry = sampled(t.Run.End.Seconds())
			return Meanwhile(w, zh, "after <a&b>", NewDigest(t))
		},
	}
}

// sampled is telemetry of a server and two devices, at 1 s, with a gap, an hour of it before and
// after the run, and values that are none.
func sampled(end float64) *telemetry.Set {
	set := &telemetry.Set{Sources: []telemetry.Source{{Name: "server"}, {Name: "gpu"}}}
	for s := -3600.0; s < end+3600; s++ {
		p := func(v float64) telemetry.Point { return telemetry.Point{At: time.Duration(s * 1e9), Value: v} }
		set.Add(telemetry.NewValue("server", telemetry.ServerKVUse, nil, p(0.5+0.4*math.Sin(s/9))))
		if s < 20 || s > 30 {
			set.Add(telemetry.NewValue("server", telemetry.ServerWaiting, nil, p(math.Floor(3+3*math.Sin(s/5)))))
		}
		for _, device := range []string{"0", "1"} {
			v := 300 + 50*math.Sin(s/3)
			if device == "1" && int(s)%50 == 0 {
				v = math.NaN()
			}
			set.Add(telemetry.NewValue("gpu", telemetry.DevicePower, telemetry.Labels{"device": device}, p(v)))
		}
	}
	return set
}

// svgTexts are the texts of a well-formed SVG.
func svgTexts(t *testing.T, svg []byte) (texts []string) {
	t.Helper()
	d, inText := xml.NewDecoder(bytes.NewReader(svg)), false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
		case xml.CharData:
			if inText {
				texts = append(texts, strings.TrimSpace(string(e)))
			}
		}
	}
}

// around are texts around each plot.
var around = map[string][]string{
	"ttft": {"TTFT 分布", "TTFT（ms）", "请求占比（%）"}, "itl": {"ITL 分布", "ITL（ms）", "token 间隔占比（%）"},
	"output": {"输出吞吐随时间变化", "运行时间（s）", "tok/s"}, "timeline": {"请求时间线：after <a&b>", "运行时间（s）", "请求（按发送顺序）", "解码", "失败"},
	"dots":      {"相对 v <a&b> 的变化", "变化（%）"},
	"meanwhile": {"after <a&b>：同时发生的情况", "在途请求", "TTFT (ms)", "排队的请求", "KV 缓存占用 (%)", "功率 (W)", "运行时间（s）"},
}

func TestPlotsAreWellFormedAndTheSameEachTime(t *testing.T) {
	first := map[string][]byte{}
	for range 2 {
		for name, draw := range figures(t) {
			var out bytes.Buffer
			if err := draw(&out); err != nil {
				t.Fatal(name, err)
			}
			if first[name] == nil {
				first[name] = out.Bytes()
			}
			if !bytes.Equal(first[name], out.Bytes()) {
				t.Errorf("%s is drawn in two ways", name)
			}
			texts := svgTexts(t, out.Bytes())
			for _, want := range around[name] {
				if !slices.Contains(texts, want) {
					t.Errorf("%s does not say %q: %q", name, want, texts)
				}
			}
			if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "<a&b>") }) {
				t.Errorf("%s has no legend: %q", name, texts)
			}
			if slices.Contains(texts, "-0") || strings.Contains(out.String(), "NaN") || strings.Contains(out.String(), "Inf") {
				t.Errorf("%s has numbers that are none", name)
			}
			if out.Len() > 100_000 {
				t.Errorf("%s has %d bytes", name, out.Len())
			}
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	en, none := words.In("en"), []Curves{{"A", []Digest{NewDigest(&trace.Trace{})}}}
	for name, draw := range map[string]func(io.Writer) error{
		"ttft":     func(w io.Writer) error { return TTFT(w, en, none) },
		"itl":      func(w io.Writer) error { return ITL(w, en, none) },
		"output":   func(w io.Writer) error { return Output(w, en, none) },
		"timeline": func(w io.Writer) error { return Requests(w, en, "", none[0].Runs[0].Timeline) },
		"dots":     func(w io.Writer) error { return Changes(w, en, Dots{}) },
	} {
		var out bytes.Buffer
		if err := draw(&out); err == nil || out.Len() > 0 {
			t.Errorf("%s of nothing: %v, %d bytes", name, err, out.Len())
		}
	}
}

func TestDigest(t *testing.T) {
	tr := streamed(1, 900, 8)
	d := NewDigest(tr)
	tokens, sum := 0, 0.0
	for _, r := range tr.Records {
		tokens += r.OutputTokens
	}
	for _, v := range d.Output.Tokens {
		sum += v
	}
	if math.Abs(sum-float64(tokens)) > 1e-6*sum {
		t.Errorf("windows hold %v tokens of %d", sum, tokens)
	}
	if n := len(d.Output.Tokens); n > mostWindows || n < mostWindows/2 {
		t.Errorf("%d windows", n)
	}
	if n, last := len(d.Timeline.Spans), d.Timeline.Spans[len(d.Timeline.Spans)-1]; n != 300 || d.Timeline.Every != 3 || last.Row != 898 {
		t.Errorf("%d spans, every %d, the last at %d", n, d.Timeline.Every, last.Row)
	}
	if len(d.TTFT) != len(QuantilePercents()) || !slices.IsSorted(d.TTFT) || d.ITL.at(50) < 0.02 {
		t.Errorf("TTFT %v, median ITL %v", d.TTFT, d.ITL.at(50))
	}
}

// What has no common clock has no plot over time; what was not scheduled waited for
// nothing.
func TestDigestOfWhatIsNotKnown(t *testing.T) {
	tr := streamed(1, 50, 8)
	for _, r := range tr.Records {
		r.Due = 0
	}
	if d := NewDigest(tr); !math.IsNaN(d.Timeline.Spans[49].Wanted) {
		t.Errorf("a closed loop wanted %v", d.Timeline.Spans[49])
	}
	tr.Run.Origin = &trace.Origin{Tool: "sglang", Detail: trace.Undated}
	if d := NewDigest(tr); len(d.TTFT) == 0 || d.Output.Tokens != nil || d.Timeline.Spans != nil {
		t.Errorf("undated requests have %v", d)
	}
}

func TestRatesOfWindows(t *testing.T) {
	f := Flow{Window: 1, Tokens: []float64{10, 20, 30, 40, 7}, End: 4.6}
	got := f.rates(2)
	if len(got) != 2 || got[0].Y != 15 || got[0].X != 1 || got[1].Y != 35 {
		t.Errorf("%v", got)
	}
	if got := f.rates(1); len(got) != 5 || math.Abs(got[4].Y-7/0.6) > 1e-9 {
		t.Errorf("%v", got)
	}
}

// A long name is cut, and a name of wide characters is as wide as it is drawn.
func TestLegendsFit(t *testing.T) {
	style := textStyle(10)
	if got := style.Width("优化前"); got != 30 {
		t.Errorf("three characters of 10 points are %v wide", got)
	}
	rows := layOut([]key{{name: strings.Repeat("很长的名字", 50)}, {name: "a\x00b"}, {name: "c"}}, 400)
	if len(rows) != 2 || !strings.HasSuffix(rows[0].keys[0].name, "…") || rows[1].keys[0].name != "ab" || len(rows[1].keys) != 2 {
		t.Errorf("%v", rows)
	}
	for _, row := range rows {
		last := len(row.keys) - 1
		if end := row.at[last] + sampleLength + sampleGap + style.Width(row.keys[last].name); end > 400 {
			t.Errorf("a row is %v wide", end)
		}
	}
}

func TestRoundTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		log       bool
		want      string
	}{
		{0, 343, false, "0 50 100 150 200 250 300"},
		{0, 0.7, false, "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7"},
		{-45, 45, false, "-40 -20 0 20 40"},
		{30, 7000, true, "50 100 200 500 1000 2000 5000"},
		{0.5, 5000, true, "1 10 100 1000"},
	} {
		var got []string
		for _, tick := range roundTicks(c.low, c.high, c.log) {
			got = append(got, tick.Label)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%v to %v: %s, want %s", c.low, c.high, s, c.want)
		}
	}
}

// An axis of changes holds all dots, goes to both sides, and ends at -100 %.
func TestReachOfDots(t *testing.T) {
	n := math.NaN()
	for _, c := range []struct {
		dots      []Dot
		low, high float64
	}{
		{[]Dot{{Change: 3, Low: n, High: n}}, -0.495, 3.3},
		{[]Dot{{Change: -0.95, Low: n, High: n}}, -1, 0.15675},
		{[]Dot{{Change: 0.1, Low: -0.9, High: math.Inf(1)}}, -0.33, 0.11},
		{[]Dot{{Change: 0.1, Low: -0.02, High: 0.22}, {Change: n}}, -0.0396, 0.242},
		{nil, -0.033, 0.033},
	} {
		low, high := Dots{Margin: 0.02, Rows: []DotRow{{Dots: c.dots}}}.reach()
		if math.Abs(low-c.low) > 1e-9 || math.Abs(high-c.high) > 1e-9 {
			t.Errorf("%v: from %v to %v, want %v to %v", c.dots, low, high, c.low, c.high)
		}
	}
}

// stoodStill is a run in which all streams got nothing for three seconds.
func stoodStill(seed uint64) *trace.Trace {
	t := streamed(seed, 100, 6)
	later := func(at *trace.Instant) {
		if *at > 4e9 {
			*at += 3e9
		}
	}
	for _, r := range t.Records {
		for _, at := range []*trace.Instant{&r.Released, &r.Sent, &r.Done} {
			later(at)
		}
		for i := range r.Chunks {
			later(&r.Chunks[i].At)
		}
	}
	later(&t.Run.End)
	return t
}

func TestPlotsOverTimeMarkStalls(t *testing.T) {
	en, still, other := words.In("en"), NewDigest(stoodStill(1)), NewDigest(streamed(2, 100, 6))
	if n := len(still.Timeline.Stalls); n != 1 {
		t.Fatalf("%d stalls", n)
	}
	marked := func(runs ...Digest) bool {
		var out bytes.Buffer
		if err := Output(&out, en, []Curves{{Name: "a", Runs: runs}}); err != nil {
			t.Fatal(err)
		}
		return slices.Contains(svgTexts(t, out.Bytes()), en.Word("plot.stalls"))
	}
	if !marked(still) || !marked(other, still) || marked(other) {
		t.Error("stalls are marked in the output of runs without, or not in that of runs with one")
	}
	var out bytes.Buffer
	if err := Requests(&out, en, "a", still.Timeline); err != nil || !slices.Contains(svgTexts(t, out.Bytes()), en.Word("plot.stalls")) {
		t.Error("the timeline has no stall", err)
	}
}

// A long track keeps its peaks, and no more points than can be told apart.
func TestATrackKeepsItsPeaks(t *testing.T) {
	k := Track{}
	for i := range 100_000 {
		v := 1.0
		if i == 54_321 {
			v = 9
		}
		k.X, k.Y = append(k.X, float64(i)), append(k.Y, v)
	}
	thin := k.thinned()
	if len(thin.X) > mostTrack || slices.Max(thin.Y) != 9 || !slices.IsSorted(thin.X) {
		t.Errorf("%d points, at most %v", len(thin.X), slices.Max(thin.Y))
	}
}

// Every plot can be drawn as PNG, and is not blank.
func TestPNG(t *testing.T) {
	for name, draw := range figures(t) {
		var b bytes.Buffer
		if err := draw(PNG{&b}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		img, err := png.Decode(&b)
		if err != nil || img.Bounds().Dx() != 1654 && img.Bounds().Dx() != 1653 {
			t.Errorf("%s: %v, %v", name, err, img)
			continue
		}
		colours := map[color.Color]bool{}
		for x := range img.Bounds().Dx() {
			for y := 0; y < img.Bounds().Dy(); y += 7 {
				colours[img.At(x, y)] = true
			}
		}
		if len(colours) < 4 {
			t.Errorf("%s has %d colours", name, len(colours))
		}
	}
}

// Gaps of a request are in the colour of their length.
func TestServed(t *testing.T) {
	requests := []Served{{Start: 1, TTFT: 0.2, Gaps: []float64{0.01, 0.02, 0.03, 0.07}, Prompt: 9, Output: 5}, {}, {Start: 1.5, TTFT: 0.1, Prompt: 9, Output: 1}}
	spans, last := gapSpans(requests, [2]float64{0.025, 0.05})
	if n := [4]int{len(spans[0]), len(spans[1]), len(spans[2]), len(spans[3])}; n != [4]int{3, 1, 1, 1} || math.Abs(last-1.6) > 1e-9 || math.Abs(spans[1][0].Done-1.23) > 1e-9 {
		t.Errorf("%v, until %v: %v", n, last, spans)
	}
	var gaps, tokens bytes.Buffer
	err := errors.Join(Gaps(&gaps, words.In("en"), requests, [2]float64{0.025, 0.05}), Tokens(&tokens, words.In("zh"), requests), Tokens(io.Discard, words.In("en"), requests[1:2]))
	if err != nil {
		t.Fatal(err)
	}
	if texts := svgTexts(t, gaps.Bytes()); !slices.Contains(texts, "25 ms ≤ ITL < 50 ms") {
		t.Errorf("%q", texts)
	}
	if texts := svgTexts(t, tokens.Bytes()); !slices.Contains(texts, "提示词与输出 token 数之和") {
		t.Errorf("%q", texts)
	}
	if Gaps(io.Discard, words.In("en"), nil, [2]float64{}) == nil || Tokens(io.Discard, words.In("en"), nil) == nil {
		t.Error("of no requests there is nothing to draw")
	}
}
