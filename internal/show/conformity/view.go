package conformity

import (
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// View is what a page shows of results.
func View(reports []conform.Report, l *words.Language) view.Conformity {
	t := newTable(reports, l)
	v := view.Conformity{
		Clients: []view.ConformClient{}, Cells: []view.ConformCell{}, Errors: []view.ConformErrors{},
		Definitions: append([]string{}, t.definitions()...), Notes: append([]string{}, t.notes()...),
	}
	for i, r := range reports {
		v.Clients = append(v.Clients, t.viewClient(i, r))
		v.Errors = append(v.Errors, t.viewErrors(i, r)...)
	}
	for _, cell := range t.cells {
		one := view.ConformCell{Name: cell.Name, Load: t.load(cell), Results: []view.ConformResult{}}
		for i := range reports {
			if of := t.results(i, cell); len(of) > 0 {
				one.Results = append(one.Results, t.viewResult(i, of))
			}
		}
		v.Cells = append(v.Cells, one)
	}
	return v
}

func (t *table) viewClient(i int, r conform.Report) view.ConformClient {
	c := view.ConformClient{
		Name: t.clients[i], Command: shell.Join(r.Command), Format: r.Format, Started: r.Started.UTC().Format(time.RFC3339),
		Place: t.place(r.Machine), StartUp: t.startUp(r.StartUp),
	}
	for _, result := range r.Results {
		for _, f := range result.Figures {
			if f.Bound == nil {
				continue
			}
			if c.Bounds++; f.InBounds() {
				c.InBounds++
			}
		}
	}
	return c
}

func (t *table) viewErrors(i int, r conform.Report) (lines []view.ConformErrors) {
	for _, arrivals := range []conform.Arrivals{conform.Lockstep, conform.Spread} {
		points := errorsByStreams(r, arrivals, false)
		if len(points) == 0 {
			continue
		}
		one := view.ConformErrors{
			Client: i, Arrivals: string(arrivals),
			Title: t.Word("conformity.plot-line", "client", t.clients[i], "arrivals", string(arrivals), "means", ofMeans(r)),
		}
		for _, p := range points {
			one.Streams, one.Shares = append(one.Streams, p.X), append(one.Shares, p.Y/100)
		}
		lines = append(lines, one)
	}
	return lines
}

func (t *table) viewResult(client int, of []conform.Result) view.ConformResult {
	out := view.ConformResult{Client: client, Runs: len(of), Figures: []view.ConformFigure{}, Facts: []view.Field{}}
	if i := slices.IndexFunc(of, func(r conform.Result) bool { return r.Failure != "" }); i >= 0 {
		out.Failure = of[i].Failure
	}
	for _, m := range conform.Metrics() {
		for _, s := range conform.Statistics() {
			if f, ok := errorOf(of, m, s); ok {
				out.Figures = append(out.Figures, t.viewFigure(f, of))
			}
		}
	}
	for _, line := range t.facts() {
		if text := line.of(of); text != "" {
			out.Facts = append(out.Facts, view.Field{Name: line.name, Value: text})
		}
	}
	return out
}

func (t *table) viewFigure(f conform.FigureError, of []conform.Result) view.ConformFigure {
	share, _ := f.Relative()
	out := view.ConformFigure{
		Metric: string(f.Metric), Statistic: string(f.Statistic), Title: t.Word(plan.Code("conformity."+string(f.Statistic)), "metric", strings.ToUpper(string(f.Metric))),
		Claimed: f.Claimed, True: f.True, N: f.N, Error: t.both(of, f.Metric, f.Statistic), Share: share, Disavowed: f.Void,
	}
	if f.Void {
		out.Error = t.Word("conformity.void") // and not what a figure that nobody stands by is off by
	}
	if f.Bound != nil {
		out.Bounded, out.Low, out.High, out.InBounds = true, f.Bound.Low, f.Bound.High, f.InBounds()
	}
	return out
}

func (t *table) load(c conform.Cell) string {
	return t.Word("conformity.cell-load", "open", c.Open(), "rate", c.Rate, "streams", c.Streams, "arrivals",
		string(c.Arrivals),
		"step", c.Step, "requests", c.Requests, "output", c.Output, "busy", c.Busy, "faults", c.Faults)
}

// Plot draws the error of the clients' P99 ITL by the number of streams, as SVG: a line for each
// client and way in which tokens arrive. Figures that their clients call void are drawn where there are no others,
// and the title says so.
func Plot(w io.Writer, reports []conform.Report, l *words.Language) error {
	chart := plot.Chart{Title: l.Word("conformity.plot"), X: l.Word("conformity.plot-x"), Y: l.Word("conformity.plot-y")}
	if chart.Lines = pathsOf(reports, false, l); chart.Lines == nil {
		chart.Lines, chart.Title = pathsOf(reports, true, l), chart.Title+": "+l.Word("conformity.void")
	}
	if chart.Lines == nil {
		return errors.New("there is nothing to draw: no client reports a P99 ITL in a cell of streams")
	}
	return chart.Draw(w)
}

// pathsOf are the lines of a plot, of figures that are void or of the others.
func pathsOf(reports []conform.Report, void bool, l *words.Language) (paths []plot.Path) {
	clients := clientsOf(reports)
	for i, r := range reports {
		for _, arrivals := range []conform.Arrivals{conform.Lockstep, conform.Spread} {
			if spots := errorsByStreams(r, arrivals, void); spots != nil {
				name := l.Word("conformity.plot-line", "client", clients[i], "arrivals", string(arrivals), "means", ofMeans(r))
				paths = append(paths, plot.Path{Name: name, Spots: spots})
			}
		}
	}
	return paths
}

// errorsByStreams are the points of a client, of cells that nothing disturbs.
func errorsByStreams(r conform.Report, arrivals conform.Arrivals, void bool) (spots []plot.Spot) {
	shares := map[int][]float64{}
	for _, result := range r.Results {
		c := result.Cell
		if c.Streams < 1 || c.Open() || c.Busy || c.Faults > 0 || c.Arrivals != arrivals {
			continue
		}
		for _, f := range result.Figures {
			if share, ok := f.Relative(); ok && f.Metric == gapsOf(r) && f.Statistic == conform.P99 && f.Void == void {
				shares[c.Streams] = append(shares[c.Streams], max(least, 100*math.Abs(share)))
			}
		}
	}
	for _, streams := range slices.Sorted(maps.Keys(shares)) {
		v := shares[streams]
		slices.Sort(v)
		spots = append(spots, plot.Spot{X: float64(streams), Y: v[len(v)/2]})
	}
	return spots
}

// least is the smallest error that the plot tells from none, in percent.
const least = 0.001

// ofMeans reports whether the client's ITL is a mean, which cannot be far off.
func ofMeans(r conform.Report) bool {
	code := r.Definitions[gapsOf(r)].Code
	return code == metrics.BetweenTokens || code == metrics.WeighedGaps
}

// gapsOf is the name that a client has for single gaps, if it reports them.
func gapsOf(r conform.Report) conform.Metric {
	if !r.Definitions[conform.ICL].IsZero() {
		return conform.ICL
	}
	return conform.ITL
}
