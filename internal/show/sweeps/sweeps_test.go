package sweeps

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

var english = words.In(words.Default)

// swept is a queue with a capacity of 10 requests/s under four loads: twice at the first, and
// not at all at the last.
func swept() curve.Sweep {
	var points []curve.Point
	var seen []curve.Observation
	for i, rate := range []float64{1, 5, 9} {
		points = append(points, curve.Point{{Name: "rate", Value: []string{"1", "5", "9"}[i]}})
		seen = append(seen, curve.Observation{Point: i, Run: "r", Figures: []trace.ReportedFigure{
			{Name: "throughput.requests", Value: rate},
			{Name: "throughput.output", Value: 100 * rate},
			{Name: "e2el.mean", Value: 1 / (10 - rate)},
			{Name: "tpot.mean", Value: 0.01 * rate},
			{Name: "rate", Value: rate},
		}})
	}
	seen = append(seen, curve.Observation{Point: 0, Run: "s", Figures: []trace.ReportedFigure{{Name: "throughput.requests", Value: 1.2}}})
	points = append(points, curve.Point{{Name: "rate", Value: "inf"}})
	seen = append(seen, curve.Observation{Point: 3, Failed: plan.Text("too much")})
	s := curve.New("q", points, seen, 2, "rate", nil)
	s.Simulated = true
	return s
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := Text(&b, swept(), english); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"q: simulated, 4 points, 4 runs", "1 2 1.100±0.14 100.0 ", "5 1 5.000 500.0 50.00 200.0 20.00 250.0 knee, front", "inf 0 – – – – – – 1 failed",
		"knee: rate=5, with 5.000 req/s and 200.0 ms of latency", "failed: rate=inf: too much",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestRowsForPrograms(t *testing.T) {
	var b bytes.Buffer
	if err := CSV(&b, swept()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 5 || strings.Join(rows[0][:8], ",") != "rate,kind,runs,failed,knee,front,output_per_user,output_per_device" {
		t.Fatal(rows, err)
	}
	if got := strings.Join(rows[2][:8], ","); got != "5,simulated,1,0,true,true,20,250" {
		t.Error(got)
	}
	seen := map[string]bool{}
	for _, name := range rows[0] {
		if seen[name] {
			t.Errorf("column %s is there twice", name)
		}
		seen[name] = true
	}
	var out struct {
		Simulated bool
		Rows      []struct {
			Point  map[string]string
			Failed []string
		}
		Curves []struct{ Knee struct{ Row int } }
	}
	b.Reset()
	if err := errors.Join(JSON(&b, swept(), english), json.Unmarshal(b.Bytes(), &out)); err != nil {
		t.Fatal(err)
	}
	if !out.Simulated || out.Rows[3].Point["rate"] != "inf" || out.Rows[3].Failed[0] != "too much" || out.Curves[0].Knee.Row != 1 {
		t.Errorf("%+v", out)
	}
}

// Each plot is an SVG that says what it is of, and a sweep in which all failed has none.
func TestPlots(t *testing.T) {
	plots := Plots(swept(), english)
	if len(plots) != 3 {
		t.Fatalf("%d plots", len(plots))
	}
	for _, p := range plots {
		var b bytes.Buffer
		if err := p.Draw(&b); err != nil {
			t.Fatal(p.File, err)
		}
		if !strings.Contains(b.String(), "(simulated)") {
			t.Errorf("%s does not say that it is simulated", p.File)
		}
		for d := xml.NewDecoder(&b); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(p.File, err)
			}
		}
	}
	none := curve.New("n", []curve.Point{{{Name: "rate", Value: "1"}}}, []curve.Observation{{Failed: plan.Text("x")}}, 1, "rate", nil)
	if len(Plots(none, english)) != 0 {
		t.Error("there are plots of nothing")
	}
	var b bytes.Buffer
	if err := Text(&b, none, english); err != nil {
		t.Error(err)
	}
}

// Predictions have their intervals in the table, in the rows and as bars in the plots.
func TestPredicted(t *testing.T) {
	predictions := make([]curve.Prediction, 4)
	for i := range 3 {
		predictions[i].Predicted = map[string]curve.Reach{"e2el.mean": {Value: 0.2, Low: 0.16, High: 0.25}, "throughput.requests": {Value: 5 + float64(i), Low: 4, High: 9}}
	}
	predictions[2].Extrapolated, predictions[3].Refused = "up to 9 seats, and 8 were seen", "up to 99 seats, and 8 were seen"
	s := swept().Predict(0.9, predictions)
	s.Uncalibrated, s.WhatIf = []string{"other", ""}, []string{"kv.tokens"}
	var table, rows bytes.Buffer
	if err := errors.Join(Text(&table, s, english), CSV(&rows, s)); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(table.String()), " ")
	for _, want := range []string{
		"what if: kv.tokens · not validated: nobody measured it", "5 1 6.000 (4.00 to 9.00) 500.0", "200.0 (160 to 250)", "front, extrapolated inf", "1 failed, not predicted",
		"in brackets the 90 % interval that holds one new run; ± is", "not predicted: rate=inf: up to 99 seats, and 8 were seen by the calibration; --extrapolate predicts nevertheless",
		"extrapolated: rate=9: up to 9 seats, and 8 were seen by the calibration; the error there is not known",
		"no intervals: profile other has no calibration, which `pitot calibrate` finds", "no intervals: the engine has latencies in place of a profile",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, table.String())
		}
	}
	all, err := csv.NewReader(&rows).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cell := func(row int, column string) string { return all[row][slices.Index(all[0], column)] }
	if cell(2, "e2el.mean") != "0.2" || cell(2, "e2el.mean.low") != "0.16" || cell(2, "e2el.mean.high") != "0.25" || cell(4, "e2el.mean.predicted") != "" ||
		cell(4, "refused") != predictions[3].Refused || cell(3, "extrapolated") != predictions[2].Extrapolated || cell(1, "level") != "0.9" || slices.Contains(all[0], "tpot.mean.low") {
		t.Errorf("%q", all)
	}
	bars := lines(s, throughput, latency)[0].Spots
	if b := bars[1]; len(bars) != 3 || b.X != 6 || b.Left != 4 || b.Right != 9 || b.Low != 160 || b.High != 250 {
		t.Errorf("%+v", bars)
	}
}

// A page gets the sweep as data: with what single points say at them, and hostile names as texts.
func TestView(t *testing.T) {
	s := swept()
	s.Name = "<img src=x>"
	s.Rows[1].Point[0].Value = "5<b>"
	v, says := View(s, english)
	b, err := view.JSON(view.Search{Row: view.SearchRow{Name: s.Name, Kind: "sweep", Terms: []string{}}, Answer: says, Sweep: &v})
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, b, "", "  "); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/view.json", golden.Rounded(indented.String())+"\n")
}

// Predictions have the intervals of one new run in place of the spread of runs.
func TestViewOfPredictions(t *testing.T) {
	all := make([]curve.Prediction, 4)
	all[1].Predicted = map[string]curve.Reach{"tpot.mean": {Value: 0.05, Low: 0.04, High: 0.0625}, "throughput.output": {Value: 500, Low: 400, High: 600}}
	all[3].Refused = "too far"
	v, says := View(swept().Predict(0.9, all), words.In("zh"))
	user, device := v.Points[1].Figures[perUser], v.Points[1].Figures[perDevice]
	if !user.Predicted || user.Value != 20 || *user.Low != 16 || *user.High != 25 || !device.Predicted || *device.Low != 200 || *device.High != 300 {
		t.Errorf("%+v, %+v", user, device)
	}
	if v.Points[3].Refused != "too far" || v.Level != 0.9 || len(v.Points[3].Figures) != 0 {
		t.Errorf("%+v", v.Points[3])
	}
	for _, line := range says {
		if strings.Contains(line, "too far") || strings.Contains(line, "knee") {
			t.Errorf("%q", line)
		}
	}
}
