package conformity

import (
	"errors"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Plot draws the error of the clients' P99 ITL by the number of streams, as SVG: a line for each
// client and way in which tokens arrive.
func Plot(w io.Writer, reports []conform.Report, l *words.Language) error {
	chart := plot.Chart{Title: l.Word("conformity.plot"), X: l.Word("conformity.plot-x"), Y: l.Word("conformity.plot-y")}
	clients := clientsOf(reports)
	for i, r := range reports {
		for _, arrivals := range []conform.Arrivals{conform.Lockstep, conform.Spread} {
			if spots := errorsByStreams(r, arrivals); spots != nil {
				name := l.Word("conformity.plot-line", "client", clients[i], "arrivals", string(arrivals), "means", ofMeans(r))
				chart.Lines = append(chart.Lines, plot.Path{Name: name, Spots: spots})
			}
		}
	}
	if chart.Lines == nil {
		return errors.New("there is nothing to draw: no client reports a P99 ITL in a cell of streams")
	}
	return chart.Draw(w)
}

// errorsByStreams are the points of a client, of cells that nothing disturbs.
func errorsByStreams(r conform.Report, arrivals conform.Arrivals) (spots []plot.Spot) {
	shares := map[int][]float64{}
	for _, result := range r.Results {
		c := result.Cell
		if c.Streams < 1 || c.Open() || c.Busy || c.Faults > 0 || c.Arrivals != arrivals {
			continue
		}
		for _, f := range result.Figures {
			if share, ok := f.Relative(); ok && f.Metric == gapsOf(r) && f.Statistic == conform.P99 {
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

// ofMeans tells a client whose ITL is a mean, and so cannot go far wrong.
func ofMeans(r conform.Report) bool {
	code := r.Definitions[gapsOf(r)].Code
	return code == conform.BetweenTokens || code == conform.WeighedGaps
}

// gapsOf is the name that a client has for single gaps, if it reports them.
func gapsOf(r conform.Report) conform.Metric {
	if !r.Definitions[conform.ICL].IsZero() {
		return conform.ICL
	}
	return conform.ITL
}
