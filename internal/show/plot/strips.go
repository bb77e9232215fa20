package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A Strip is one quantity over the time of a run, to be drawn under others on the same axis.
type Strip struct {
	Name  plan.Code // of its title
	Unit  string    // behind it; empty: none
	Lines []Track   // one for each replica, device ...
	Dots  bool      // each point is by itself
	Steps bool      // a value holds until the next
	Top   float64   // of the axis; 0: the largest value
}

// A Track is a line of a strip: seconds since the start of the run, and values. It is broken where
// the distance of points exceeds Gap; 0: nowhere.
type Track struct {
	Name string
	Gap  float64
	X, Y []float64
}

// Sizes of strips.
const (
	mostTrack  = 400 // points of a track: more could not be distinguished
	mostTracks = 8   // of a strip
	stripHigh  = 78  // points of height
	periods    = 3.5 // of sampling between points: what lies between others is not known
)

// strips are those of a run with telemetry: the client's on top, then those of the server and its
// devices. There are none without telemetry.
func strips(t *trace.Trace) (all []Strip) {
	if t.Telemetry.Empty() || !t.Run.End.Happened() {
		return nil
	}
	end := t.Run.End.Seconds()
	add := func(s Strip) {
		s.Lines = slices.DeleteFunc(s.Lines, func(k Track) bool { return len(k.X) == 0 })
		if len(s.Lines) > 0 {
			all = append(all, s)
		}
	}
	add(Strip{Name: "plot.in-flight", Steps: true, Lines: []Track{inFlight(t.Records)}})
	add(Strip{Name: "latency.ttft", Unit: "ms", Dots: true, Lines: []Track{firstTokens(t)}})
	return append(all, Strips(t.Telemetry, end)...)
}

// Strips are the telemetry of a server and its devices, up to an instant in seconds since the start
// of the run.
func Strips(set *telemetry.Set, end float64) (all []Strip) {
	if set.Empty() {
		return nil
	}
	for _, known := range []struct {
		name, unit string
		scale, top float64
	}{
		{telemetry.ServerWaiting, "", 1, 0},
		{telemetry.ServerKVUse, "%", 100, 100},
		{telemetry.DeviceUtilization, "%", 100, 100},
		{telemetry.DevicePower, "W", 1, 0},
		{telemetry.DeviceClock, "MHz", 1e-6, 0},
	} {
		if lines := tracks(set, known.name, end, known.scale); len(lines) > 0 {
			all = append(all, Strip{Name: plan.Code(known.name), Unit: known.unit, Top: known.top, Lines: lines})
		}
	}
	return all
}

// tracks are the series of a name in the time of a run.
func tracks(set *telemetry.Set, name string, end, scale float64) (all []Track) {
	for _, s := range set.Named(name) {
		if len(all) == mostTracks {
			break
		}
		source, _ := set.Source(s.Source)
		k := Track{Name: s.Labels["device"], Gap: periods * max(1, source.Every.Seconds())}
		for _, p := range s.Points {
			if x := p.At.Seconds(); x >= 0 && x <= end && !math.IsNaN(p.Value) && !math.IsInf(p.Value, 0) {
				k.X, k.Y = append(k.X, x), append(k.Y, p.Value*scale)
			}
		}
		if len(k.X) > 0 {
			all = append(all, k.thinned())
		}
	}
	return all
}

// thinned has at most mostTrack points: of each part of a longer track the least and the largest
// value stay, so that no peak is lost.
func (k Track) thinned() Track {
	every := (2*len(k.X) + mostTrack - 1) / mostTrack
	if every <= 2 {
		return k
	}
	out := Track{Name: k.Name, Gap: max(k.Gap, 2*k.widest(every))}
	if k.Gap == 0 {
		out.Gap = 0
	}
	for from := 0; from < len(k.X); from += every {
		low, high := from, from
		for i := from; i < min(from+every, len(k.X)); i++ {
			if k.Y[i] < k.Y[low] {
				low = i
			}
			if k.Y[i] > k.Y[high] {
				high = i
			}
		}
		for _, i := range slices.Compact([]int{min(low, high), max(low, high)}) {
			out.X, out.Y = append(out.X, k.X[i]), append(out.Y, k.Y[i])
		}
	}
	return out
}

// widest is the distance of points if every n-th stays and none is missing.
func (k Track) widest(n int) float64 {
	return float64(n) * (k.X[len(k.X)-1] - k.X[0]) / float64(max(1, len(k.X)-1))
}

// parts are the pieces of a track between its gaps.
func (k Track) parts() (all []plotter.XYs) {
	for i := range k.X {
		if i == 0 || k.Gap > 0 && k.X[i]-k.X[i-1] > k.Gap {
			all = append(all, nil)
		}
		last := &all[len(all)-1]
		*last = append(*last, plotter.XY{X: k.X[i], Y: k.Y[i]})
	}
	return all
}

// inFlight is the number of requests that the client had sent and no answer to yet.
func inFlight(records []*trace.Record) (k Track) {
	type change struct {
		at float64
		by int
	}
	var all []change
	for _, r := range records {
		if r.Sent.Happened() && r.Done.Happened() {
			all = append(all, change{r.Sent.Seconds(), 1}, change{r.Done.Seconds(), -1})
		}
	}
	slices.SortFunc(all, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.by, a.by)) })
	n := 0
	for _, c := range all {
		n += c.by
		k.X, k.Y = append(k.X, c.at), append(k.Y, float64(n))
	}
	return k.thinned()
}

// firstTokens are the times to the first token of requests, when they were sent.
func firstTokens(t *trace.Trace) (k Track) {
	samples := metrics.PitotSamples(t)
	slices.SortFunc(samples, func(a, b metrics.Sample) int { return cmp.Compare(a.Start, b.Start) })
	for _, s := range samples {
		if !math.IsNaN(s.TTFT) {
			k.X, k.Y = append(k.X, s.Start), append(k.Y, 1000*s.TTFT)
		}
	}
	return k.thinned()
}

// Meanwhile draws the strips of a variant's run under each other, on one axis of time, with
// bands where all streams stood still.
func Meanwhile(w io.Writer, l *words.Language, variant string, d Digest) error {
	if len(d.Strips) == 0 {
		return errNothing
	}
	end := 0.0
	for _, s := range d.Strips {
		for _, k := range s.Lines {
			end = max(end, slices.Max(k.X))
		}
	}
	var keys []key
	if len(d.Timeline.Stalls) > 0 {
		keys = append(keys, key{l.Word("plot.stalls"), draw.LineStyle{Color: band, Width: 7}})
	}
	p := newPicture(l.Word("plot.meanwhile", "variant", variant), "", "", keys)
	p.height = vg.Length(stripHigh*len(d.Strips) + 20)
	var rows [][]*gonum.Plot
	for i, s := range d.Strips {
		one, err := s.plot(l, end, d.Timeline.Stalls, i == len(d.Strips)-1)
		if err != nil {
			return err
		}
		rows = append(rows, []*gonum.Plot{one})
	}
	p.stacked = rows
	return p.write(w)
}

// plot is one strip; the last one has the labels of the axis of time.
func (s Strip) plot(l *words.Language, end float64, still [][2]float64, last bool) (*gonum.Plot, error) {
	p := newPicture("", "", "", nil)
	p.Add(stalls(still))
	top := s.Top
	for i, k := range s.Lines {
		top = max(top, slices.Max(k.Y))
		for _, points := range k.parts() {
			if err := s.draw(p, points, i); err != nil {
				return nil, fmt.Errorf("draw %s: %w", s.Name, err)
			}
		}
	}
	if top <= 0 {
		top = 1
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, end, 0, top*1.05
	p.X.Tick.Marker, p.Y.Tick.Marker = roundTicks(0, end, false), fewTicks(top)
	p.Title.Text, p.Title.TextStyle = s.title(l), textStyle(9)
	p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = draw.XCenter, draw.YTop
	p.Title.Padding = 1
	if last {
		p.X.Label.Text = l.Word("plot.time")
	} else {
		p.X.Tick.Label.Color = color.Transparent
		p.X.Tick.Label.Font.Size = 1
		p.X.Tick.Length = 3
	}
	return p.Plot, nil
}

func (s Strip) title(l *words.Language) string {
	name := l.Say(plan.Msg(s.Name))
	if s.Unit == "" {
		return name
	}
	return name + " (" + s.Unit + ")"
}

func (s Strip) draw(p picture, points plotter.XYs, i int) error {
	if !s.Dots {
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.LineStyle = variantStyle(i, 1.2)
		if s.Steps {
			line.StepStyle = plotter.PostStep
		}
		p.Add(line)
		return nil
	}
	dots, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: okabeIto[i%len(okabeIto)], Radius: 1.2, Shape: draw.CircleGlyph{}}
	p.Add(dots)
	return nil
}
