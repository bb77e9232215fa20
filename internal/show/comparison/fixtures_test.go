package comparison

import (
	"math"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	tools "github.com/pitot-bench/pitot/internal/tool/known"
)

// A measured is a figure of each variant, as tools print it: latencies in
// milliseconds.
type measured struct {
	name   string
	values []float64
}

// tableRow is a row of single tables, of which nothing can be said.
func tableRow(m measured) compare.Row {
	r := compare.Row{Quantity: figure.Lookup(m.name), Definition: metrics.Definition{ID: "vllm"}}
	factor, step := 1.0, 0.01
	if r.Quantity.Unit == figure.Seconds && m.name != "duration" {
		factor = 1e-3
	}
	for i, v := range m.values {
		c := compare.Cell{Values: []float64{v * factor}, Center: v * factor, Step: step * factor}
		if i > 0 && m.values[0] != 0 {
			c.Change = &compare.Change{Relative: v/m.values[0] - 1, Basis: compare.Nothing, Verdict: compare.CannotTell}
		}
		r.Cells = append(r.Cells, c)
	}
	return r
}

func tableRows(measurements []measured) (rows []compare.Row) {
	for _, m := range measurements {
		rows = append(rows, tableRow(m))
	}
	return rows
}

// fromNote are variants of which each has a table in a note.
func fromNote(line int, names ...string) (variants []compare.Variant) {
	for i, n := range names {
		ref := compare.Ref{ID: "imported", File: "vllm-npu-vl-ablation.md", Line: line + 60*i, Tool: "vllm", Detail: trace.Table}
		variants = append(variants, compare.Variant{Name: n, Runs: []compare.Ref{ref}})
	}
	return variants
}

// settings are names and values.
func settings(namesAndValues ...string) (all []compare.Setting) {
	for i := 0; i < len(namesAndValues); i += 2 {
		all = append(all, compare.Setting{Name: namesAndValues[i], Value: plan.Text(namesAndValues[i+1])})
	}
	return all
}

// residue is a setting with a value in each variant.
func residue(setting string, values ...string) compare.SettingDiff {
	r := compare.SettingDiff{Setting: setting}
	for _, v := range values {
		r.Values = append(r.Values, []plan.Message{plan.Text(v)})
	}
	return r
}

// concluded is a comparison with what follows from it.
func concluded(c compare.Comparison) compare.Comparison {
	c.Conclude()
	return c
}

// ablation is a note of five variants under two loads, a table each.
func ablation() compare.Comparison {
	names := []string{"Baseline", "Merge rope q/k", "并行 q/k/v pad", "cu_seqlens cpu cache", "Revert pad"}
	notes := []plan.Message{plan.Msg(compare.NothingKnown, "variants", names)}
	throughput := compare.Workload{
		Name: "Throughput benchmark", Settings: settings("requests", "500", "max concurrency", "16"),
		Variants: fromNote(8, names...), Notes: notes,
		Rows: tableRows([]measured{
			{"requests.ok", []float64{500, 500, 500, 500, 500}},
			{"requests.failed", []float64{0, 0, 0, 0, 0}},
			{"duration", []float64{206.06, 205.65, 201.71, 201.00, 204.98}},
			{"tokens.input", []float64{33418, 33418, 33418, 33418, 33418}},
			{"tokens.output", []float64{61516, 61488, 61544, 61527, 61485}},
			{"throughput.output", []float64{298.53, 299.00, 305.11, 306.11, 299.96}},
			{"ttft.mean", []float64{945.18, 817.56, 835.51, 839.89, 829.28}},
			{"tpot.mean", []float64{45.69, 46.78, 46.10, 45.12, 46.75}},
		}),
	}
	latency := compare.Workload{
		Name: "Latency benchmark", Settings: settings("requests", "500", "request rate", "10"),
		Variants: fromNote(35, names...), Notes: notes,
		Rows: tableRows([]measured{
			{"requests.ok", []float64{500, 500, 500, 500, 500}},
			{"requests.failed", []float64{0, 0, 0, 0, 0}},
			{"duration", []float64{82.09, 82.12, 82.47, 81.69, 81.59}},
			{"tokens.input", []float64{33418, 33418, 33418, 33418, 33418}},
			{"tokens.output", []float64{61472, 61405, 61667, 61486, 61509}},
			{"throughput.requests", []float64{6.09, 6.09, 6.06, 6.12, 6.13}},
			{"throughput.output", []float64{748.84, 747.78, 747.76, 752.71, 753.88}},
			{"peak.output", []float64{2945.00, 2562.00, 2944.00, 2789.00, 2817.00}},
			{"peak.concurrency", []float64{407.00, 406.00, 406.00, 401.00, 403.00}},
			{"throughput.total", []float64{1155.93, 1154.74, 1152.98, 1161.82, 1163.47}},
			{"ttft.mean", []float64{10365.81, 10389.93, 10584.73, 10232.89, 10096.28}},
			{"ttft.median", []float64{6141.34, 6473.63, 6462.94, 6126.93, 6131.27}},
			{"ttft.p99", []float64{22606.41, 22290.72, 22687.46, 22129.56, 21889.00}},
			{"tpot.mean", []float64{265.83, 264.20, 256.92, 261.79, 256.68}},
			{"tpot.median", []float64{277.96, 276.27, 275.48, 273.48, 275.29}},
			{"tpot.p99", []float64{611.59, 533.26, 486.52, 517.72, 541.49}},
			{"itl.mean", []float64{254.68, 253.49, 254.57, 251.91, 251.88}},
			{"itl.median", []float64{95.97, 95.76, 95.72, 93.85, 96.98}},
			{"itl.p99", []float64{1787.15, 2016.82, 1710.50, 1786.99, 1892.87}},
		}),
		Claims: []compare.ClaimCheck{{
			Claim: trace.Claim{Text: "Mean TTFT 3.34% ⬇️", Line: 223, Metric: "ttft", Stat: "mean", Change: -0.0334, Step: 0.0001},
			File:  "vllm-npu-vl-ablation.md", Variant: "cu_seqlens cpu cache",
			Matches: []compare.ClaimMatch{
				{Against: "并行 q/k/v pad", Name: "ttft.mean", Relative: 10232.89/10584.73 - 1, Verdict: compare.CannotTell, Basis: compare.Nothing},
				{Against: "Baseline", Name: "ttft.mean", Relative: 10232.89/10365.81 - 1, Verdict: compare.CannotTell, Basis: compare.Nothing},
			},
		}},
	}
	return concluded(compare.Comparison{Level: 0.95, Margin: 0.02, Workloads: []compare.Workload{throughput, latency}})
}

// A repeated is a figure of two variants with five runs each: medians in SI units,
// how far values lie from them, and the change with its interval.
type repeated struct {
	name             string
	a, b, noise      float64
	change, low, top float64
	p, adjusted      float64
	verdict          compare.Verdict
	more             int
}

func repeatedRow(m repeated) compare.Row {
	cell := func(center float64) compare.Cell {
		c := compare.Cell{Center: center}
		for _, z := range []float64{0.4, -1.3, 0, 1.1, -0.2} {
			c.Values = append(c.Values, center*(1+m.noise*z))
		}
		c.Interval = &compare.Interval{Low: center * (1 - 1.2*m.noise), High: center * (1 + 1.2*m.noise), Level: 0.95, Method: plan.Text("Student, 5 runs")}
		return c
	}
	a, b := cell(m.a), cell(m.b)
	b.Change = &compare.Change{
		Relative: m.change, Interval: &compare.Interval{Low: m.low, High: m.top, Level: 0.95, Method: plan.Text("permutation")},
		Basis: compare.Replicates, Test: plan.Text("exact permutation, 5 and 5 runs"), P: &m.p, Adjusted: &m.adjusted,
		Verdict: m.verdict, Bound: max(math.Abs(m.low), math.Abs(m.top)), Noise: m.noise, More: m.more,
	}
	return compare.Row{Quantity: figure.Lookup(m.name), Definition: metrics.Definition{ID: "pitot"}, Cells: []compare.Cell{a, b}}
}

func runs(n int, detail trace.Detail, validity trace.Validity) (refs []compare.Ref) {
	for i := range n {
		refs = append(refs, compare.Ref{ID: "run-" + string(rune('a'+i)), Tool: "pitot", Detail: detail, Verdict: validity})
	}
	return refs
}

// nightly is what CI has: five runs of both, gates, every verdict.
func nightly() compare.Comparison {
	news := runs(5, trace.Recorded, trace.Valid)
	news[3].Verdict = trace.Doubtful
	rows := []compare.Row{tableRow(measured{"requests.failed", []float64{0, 2}})}
	rows[0].Definition.ID = "pitot"
	rows[0].Cells[1].Change = &compare.Change{
		Relative: 2, Plain: true, Interval: &compare.Interval{Low: -0.4, High: 4.4, Level: 0.95, Method: plan.Text("Welch")}, Basis: compare.Replicates, Verdict: compare.CannotTell, Noise: 1.9,
	}
	alike := tableRow(measured{"tokens.input", []float64{65536, 65536}})
	alike.Definition.ID, alike.Constant = "pitot", true
	alike.Cells[1].Change.Verdict = compare.Same
	rows = append(rows, alike)
	for _, m := range []repeated{
		{"duration", 61.02, 60.94, 0.001, -0.0013, -0.0031, 0.0004, 0.21, 0.6, compare.Same, 0},
		{"throughput.output", 2099, 2102, 0.002, 0.0014, -0.0014, 0.0042, 0.31, 0.6, compare.Same, 0},
		{"concurrency", 15.41, 14.73, 0.005, -0.0441, -0.0522, -0.036, 0.0079, 0.04, compare.NotJudged, 0},
		{"ttft.mean", 0.4123, 0.3954, 0.006, -0.041, -0.0518, -0.0301, 0.0079, 0.04, compare.Better, 0},
		{"ttft.p99", 1.205, 0.951, 0.03, -0.211, -0.254, -0.163, 0.0079, 0.04, compare.Better, 0},
		{"tpot.mean", 0.02311, 0.02278, 0.018, -0.0143, -0.041, 0.0131, 0.24, 0.6, compare.CannotTell, 4},
		{"itl.median", 0.0211, 0.0211, 0.003, 0.0002, -0.0041, 0.0046, 0.9, 0.9, compare.Same, 0},
		{"itl.p99", 0.0602, 0.0671, 0.02, 0.115, 0.083, 0.148, 0.0079, 0.04, compare.Worse, 0},
		{"e2el.p99", 7.41, 7.02, 0.09, -0.052, -0.165, 0.074, 0.4, 0.6, compare.CannotTell, 61},
	} {
		rows = append(rows, repeatedRow(m))
	}
	load := compare.Workload{
		Name: "", Settings: append([]compare.Setting{{Name: "workload", Value: plan.Msg("load.of", "kind", "random",
			"parts", []plan.Message{plan.Msg("load.tokens", "input", 1024, "output", 128)})}}, settings("rate", "16/s")...),
		Variants:     []compare.Variant{{Name: "main", Runs: runs(5, trace.Recorded, trace.Valid)}, {Name: "new scheduler", Runs: news}},
		SettingDiffs: []compare.SettingDiff{residue("seed", "0", "1"), residue("server", "0.11.0", "0.11.1")},
		Rows:         rows, Notes: []plan.Message{plan.Text("with 5 and 5 runs no p-value can be below 0.0079")},
	}
	gate := func(text, name string, relative bool, limit float64) compare.Gate {
		return compare.Gate{Text: text, Name: name, Above: true, Relative: relative, Limit: limit}
	}
	return concluded(compare.Comparison{
		Level: 0.95, Margin: 0.02, Workloads: []compare.Workload{load},
		Gates: []compare.GateResult{
			{Gate: gate("ttft.mean > +2%", "ttft.mean", true, 0.02), Variant: "new scheduler", Outcome: compare.Pass, Value: -0.041, Interval: interval(-0.0518, -0.0301), Why: plan.Msg("gate.inside", "level", 0.95)},
			{Gate: gate("itl.p99 > 62ms", "itl.p99", false, 0.062), Variant: "new scheduler", Outcome: compare.Fail, Value: 0.0671, Interval: interval(0.0655, 0.0687), Why: plan.Msg("gate.beyond", "level", 0.95)},
			{Gate: gate("tpot.mean > +1%", "tpot.mean", true, 0.01), Variant: "new scheduler", Outcome: compare.Inconclusive, Value: -0.0143, Interval: interval(-0.041, 0.0131), Why: plan.Msg("gate.across", "level", 0.95)},
			{Gate: gate("requests.failed > 0", "requests.failed", false, 0), Variant: "new scheduler", Outcome: compare.Fail, Value: 2, Why: plan.Msg("gate.counted")},
			{Gate: gate("goodput > 0", "goodput", false, 0), Variant: "new scheduler", Outcome: compare.Inconclusive, Why: plan.Msg("gate.no-figure", "figure", "goodput")},
		},
		Notes: []plan.Message{plan.Text("6 of 16 runs named are older than the newest server and were left out")},
	})
}

// single is a run of each of three, with records.
func single() compare.Comparison {
	row := func(name string, a float64, changes ...compare.Change) compare.Row {
		r := compare.Row{Quantity: figure.Lookup(name), Definition: metrics.Definition{ID: "pitot"}, Cells: []compare.Cell{{Values: []float64{a}, Center: a}}}
		for _, c := range changes {
			v := a * (1 + c.Relative)
			c.Basis, c.Verdict, c.Effective, c.ExcludesZero = compare.Within, compare.CannotTell, 83.4, c.Interval.Low > 0 || c.Interval.High < 0
			r.Cells = append(r.Cells, compare.Cell{Values: []float64{v}, Center: v, Change: &c})
		}
		return r
	}
	by := func(relative, low, high float64) compare.Change {
		return compare.Change{Relative: relative, Interval: &compare.Interval{Low: low, High: high, Level: 0.95, Method: plan.Text("block bootstrap")}}
	}
	one := func(name string) compare.Variant {
		return compare.Variant{Name: name, Runs: runs(1, trace.Recorded, trace.Valid)}
	}
	return concluded(compare.Comparison{Level: 0.95, Margin: 0.02, Workloads: []compare.Workload{{
		Name: "sharegpt", Variants: []compare.Variant{one("v1"), one("v2"), one("v3")},
		Notes: []plan.Message{plan.Text("one run each: intervals are of chance within the runs, and variation from run to run is not covered")},
		Rows: []compare.Row{
			row("ttft.mean", 0.4123, by(-0.0614, -0.091, -0.03), by(-0.012, -0.05, 0.027)),
			row("ttft.p99", 1.9, by(-0.11, -0.3, 0.12), by(1.21, -0.04, 3.1)),
			row("itl.mean", 0.0000213, by(0.004, -0.011, 0.02), by(0.001, -0.012, 0.014)),
		},
	}}})
}

// mixed has one metric by two definitions, a variant without some figures, and a
// variant of borrowed noise.
func mixed() compare.Comparison {
	c := compare.Comparison{Level: 0.9, Margin: 0.05}
	borrow := func(r compare.Row, v compare.Verdict) compare.Row {
		for i := range r.Cells {
			if ch := r.Cells[i].Change; ch != nil {
				ch.Basis, ch.Verdict, ch.Noise = compare.Borrowed, v, 0.022
				ch.Interval = &compare.Interval{Low: ch.Relative - 0.06, High: ch.Relative + 0.06, Level: 0.9}
			}
		}
		return r
	}
	ttft := borrow(tableRow(measured{"ttft.mean", []float64{14624.41, 13665.23, 0}}), compare.Better)
	ttft.Cells[2] = compare.Cell{}
	itl := tableRow(measured{"itl.mean", []float64{164.17, 165.02, 0}})
	itl.Cells[2] = compare.Cell{}
	guide := tableRow(measured{"itl.mean", []float64{0, 0, 167.9}})
	guide.Definition = tools.Rules().Definition("guidellm", "itl.mean")
	guide.Cells[0], guide.Cells[1] = compare.Cell{}, compare.Cell{}
	c.Workloads = []compare.Workload{{
		Name: "burst", Variants: fromNote(3, "优化前", "用 seq_lens cpu cache / scale cache / out buffer / 预先分配的显存池以及更多的优化项", "guidellm"),
		Rows: []compare.Row{ttft, borrow(itl, compare.Same), guide},
	}}
	c.Workloads[0].Variants[1].Runs = append(c.Workloads[0].Variants[1].Runs, compare.Ref{ID: "x", File: "other.md", Line: 3, Tool: "vllm", Detail: trace.Table})
	return concluded(c)
}

// alone is a single variant.
func alone() compare.Comparison {
	return concluded(compare.Comparison{Level: 0.95, Margin: 0.02, Workloads: []compare.Workload{{
		Name: "", Variants: fromNote(1, "w/ kvcached"), Rows: tableRows([]measured{{"requests.ok", []float64{1000}}, {"ttft.mean", []float64{42.38}}}),
	}}})
}

// hostile has names that would break what holds them.
func hostile() compare.Comparison {
	c := ablation()
	c.Workloads = c.Workloads[1:]
	load := &c.Workloads[0]
	load.Name = "=cmd|' /C calc'!A0\nsecond *line*"
	load.Rows = load.Rows[10:11]
	for i, n := range []string{"-2+3|a|b", "<script>alert(1)</script>", "\x1b[31mred\u202Eesrever", "line\r\nbreak\t`code` [x](javascript:y)", strings.Repeat("very long ", 9)} {
		load.Variants[i].Name = n
	}
	load.Settings = settings("<b>", "\"quoted\" & more")
	load.Notes = []plan.Message{plan.Text("a | b <img src=x onerror=alert(1)> \x00")}
	return concluded(c)
}

// broken has numbers that are none.
func broken() compare.Comparison {
	c := single()
	load := &c.Workloads[0]
	load.Rows[0].Cells[1].Change.Relative = math.Inf(1)
	load.Rows[0].Cells[1].Change.Interval.High = math.NaN()
	load.Rows[1].Cells[1].Center = math.NaN()
	load.Rows[2].Cells = load.Rows[2].Cells[:1]
	return c
}
