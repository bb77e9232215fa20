package conformity

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/test/golden"
)

var english = words.In("en")

// late are figures of a client that is so many milliseconds late, more so in the
// tail; the truth is a TTFT of 50, gaps of 20 and answers of 1000 ms.
func late(by float64) (figures []conform.FigureError) {
	for _, m := range []struct {
		metric conform.Metric
		ms     float64
	}{{conform.TTFT, 50}, {conform.ITL, 20}, {conform.E2EL, 1000}} {
		for i, s := range conform.Statistics() {
			figures = append(figures, conform.FigureError{Metric: m.metric, Statistic: s, True: m.ms / 1e3, Claimed: (m.ms + by*float64(i+1)) / 1e3, N: 100})
		}
	}
	return figures
}

// clients are two: one that is good, thrice in each cell, and one that fails.
func clients(t *testing.T) []conform.Report {
	t.Helper()
	cells, err := conform.ParseCells("streams=1; streams=64 arrivals=lockstep; name=open rate=100 output=2")
	if err != nil {
		t.Fatal(err)
	}
	merged := 0.0012
	machine := conform.Machine{OS: "linux/amd64", CPUs: 2, ClientCPU: 1}
	a := conform.Report{
		Client: "pitot", Command: []string{"pitot", "bench"}, Format: "pitot", Pitot: "v1", Machine: machine, Started: time.Date(2026, 11, 21, 12, 0, 0, 0, time.Local),
		Definitions: map[conform.Metric]plan.Message{conform.TTFT: plan.Msg(metrics.ToFirstToken), conform.E2EL: plan.Msg(metrics.ToEnd)}, StartUp: conform.Usage{CPU: 20 * time.Millisecond},
	}
	b := a
	b.Client, b.Format, b.Machine.ClientCPU = "slow", "vllm", -1
	b.Definitions = map[conform.Metric]plan.Message{conform.TTFT: plan.Msg(metrics.ToFirstToken), conform.E2EL: plan.Msg(metrics.ToLastToken)}
	for i, c := range cells {
		for repeat, by := range []float64{0.0002, 0.0001, 9} { // the middle one counts
			figures := late(by)
			if i == 1 {
				figures[7].Void, figures[7].Bound = true, &conform.Bound{Low: 0.019, High: 0.021}
			}
			a.Results = append(a.Results, conform.Result{
				Cell: c, Repeat: repeat, Figures: figures, Claim: &conform.Claim{Verdict: []string{"valid", "doubtful", "valid"}[repeat], Merged: &merged},
				Requests: conform.Requests{OK: 32, Served: 32}, Tokens: conform.Tokens{Claimed: 2048, Written: 2048},
				Rate: conform.Rate{Asked: c.Rate, Offered: 100.5}, Usage: conform.Usage{PerToken: 14.2e-6, Memory: 30 << 20, Share: 0.29},
			})
		}
		r := conform.Result{
			Cell: c, Figures: late(3.5), Claim: &conform.Claim{}, Requests: conform.Requests{OK: 32, Served: 30}, Tokens: conform.Tokens{Claimed: 2000, Written: 2048},
			Rate: conform.Rate{Asked: c.Rate, Offered: 80}, Usage: conform.Usage{PerToken: 1.5e-3, Memory: 900 << 20}, Notes: []plan.Message{plan.Text("something to know")},
		}
		if i == 1 {
			r = conform.Result{Cell: c, Failure: "it ended with exit status 1", Stderr: []string{"Traceback", "boom"}, Server: conform.ServerPace{Limit: plan.Text("the server wrote late")}, Requests: conform.Requests{OK: -1}, Tokens: conform.Tokens{Claimed: -1}}
		}
		b.Results = append(b.Results, r)
	}
	return []conform.Report{a, b}
}

func TestText(t *testing.T) {
	reports := clients(t)
	for name, of := range map[string][]conform.Report{"one": reports[:1], "two": reports} {
		var out bytes.Buffer
		if err := Text(&out, of, english); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "testdata/"+name+".txt", out.String())
	}
	var out bytes.Buffer
	if err := Text(&out, reports, words.In("zh")); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/two-zh.txt", out.String())
}

func TestMarkdown(t *testing.T) {
	var out bytes.Buffer
	if err := Markdown(&out, clients(t), english); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/all.md", out.String())
}

func TestLine(t *testing.T) {
	results := clients(t)[1].Results
	if got := Line(results[1], english); got != "FAILED: it ended with exit status 1" {
		t.Error(got)
	}
	if got, want := Line(results[0], english), "TTFT median +7 ms, TTFT P99 +14 ms, ITL median +35 %, ITL P99 +70 %, E2EL P99 +1.4 %, CPU/token 1.5 ms"; got != want {
		t.Error(got)
	}
}

func TestDigitsOfErrors(t *testing.T) {
	for share, want := range map[float64]string{0: "0 %", 0.000004: "0 %", -0.00005: "-0.005 %", 0.0123: "+1.2 %", -0.5: "-50 %", 12: "+1200 %"} {
		if got := newTable(nil, english).percent(percentage(share)); got != want {
			t.Errorf("percent(%v) is %s, want %s", share, got, want)
		}
	}
	for s, want := range map[float64]string{0: "0", 4e-8: "0", -1.5e-6: "-1.5 µs", 0.0123456: "+12.3 ms", -12: "-12 s"} {
		if got := signed(s); got != want {
			t.Errorf("signed(%v) is %s, want %s", s, got, want)
		}
	}
}

// A plot is well-formed, names its clients, and has a point for each cell of
// streams that has a figure; what is right in every digit it can show too.
func TestPlot(t *testing.T) {
	reports := clients(t)
	for i := range reports[0].Results {
		reports[0].Results[i].Figures = late(0)
	}
	reports[1].Definitions[conform.ITL] = plan.Msg(metrics.BetweenTokens)
	var out bytes.Buffer
	if err := Plot(&out, reports, english); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(bytes.NewReader(out.Bytes())); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"pitot, spread", "pitot, lockstep", "slow, spread (of means)", "streams"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(out.String(), "slow, lockstep") || regexp.MustCompile(`NaN|Inf`).MatchString(out.String()) {
		t.Error("what has no figure is drawn")
	}
	var again bytes.Buffer
	if err := Plot(&again, reports, english); err != nil || again.String() != out.String() {
		t.Errorf("the same results give another plot: %v", err)
	}
	reports[0].Results[0].Cell.Streams = 0 // of a file that somebody wrote
	if err := Plot(io.Discard, reports[:1], english); err != nil {
		t.Error(err)
	}
	if err := Plot(io.Discard, []conform.Report{{Client: "x"}}, english); err == nil {
		t.Error("nothing was drawn, without a word")
	}
}

// Two runs of one client are told apart, and what a name holds does not break a table.
func TestNamesOfClients(t *testing.T) {
	reports := clients(t)
	reports[0].Client, reports[1].Client = "a|b", "a|b"
	var text, md bytes.Buffer
	if err := errors.Join(Text(&text, reports, english), Markdown(&md, reports, english)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "\nTTFT of a|b, a|b (2): from the request to its first token\n") {
		t.Errorf("%s", text.String())
	}
	if !strings.Contains(md.String(), `| cell | figure | a\|b | a\|b (2) |`) {
		t.Errorf("%s", md.String())
	}
}

// What stood in the way is in the table, and not in the notes alone.
func TestOutcomes(t *testing.T) {
	late := conform.Result{Server: conform.ServerPace{Limit: plan.Text("late")}, Others: 0.3}
	if got := newTable(nil, english).outcome([]conform.Result{{Others: 0.2}, {Failure: "boom"}, late}); got != "FAILED, server late, others busy" {
		t.Error(got)
	}
}

// A page gets every figure with its error, whether bounds hold, and the lines of the plot.
func TestView(t *testing.T) {
	reports := clients(t)
	reports[0].Command = []string{"pitot", "bench", "--model", "<b>it's</b>"}
	for i := range reports {
		reports[i].Started = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	}
	b, err := view.JSON(View(reports, english))
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, b, "", " "); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/view.json", golden.Rounded(indented.String())+"\n")
}

func TestViewOfNothing(t *testing.T) {
	v := View(nil, english)
	if len(v.Clients)+len(v.Cells)+len(v.Errors)+len(v.Definitions)+len(v.Notes) > 0 {
		t.Errorf("%+v", v)
	}
}
