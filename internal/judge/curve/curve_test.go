package curve

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// mm1 are runs of a queue with Poisson arrivals and one server that takes 1/mu seconds: the
// mean time in it is 1/(mu-rate).
func mm1(mu float64, rates ...float64) (points []Point, seen []Observation) {
	for i, rate := range rates {
		points = append(points, Point{{"rate", fmt.Sprint(rate)}})
		seen = append(seen, Observation{Point: i, Figures: []trace.ReportedFigure{
			{Name: "throughput.requests", Value: rate}, {Name: "e2el.mean", Value: 1 / (mu - rate)},
		}})
	}
	return points, seen
}

// The power of an M/M/1 queue, rate·(mu-rate), is largest at half its capacity (Kleinrock,
// 1979).
func TestKneeOfAQueue(t *testing.T) {
	points, seen := mm1(10, 9, 1, 3, 5, 7)
	s := New("q", points, seen, 1, "rate", nil)
	if len(s.Curves) != 1 || !slices.Equal(s.Curves[0].Rows, []int{1, 2, 3, 4, 0}) {
		t.Fatalf("%+v", s.Curves)
	}
	if k := s.Curves[0].Knee; k.Bound != Inside || k.Row != 3 || math.Abs(k.Power-25) > 1e-9 {
		t.Errorf("%+v, want rate 5 with 25", k)
	}
	for bound, rates := range map[Bound][]float64{AtMost: {6, 7, 8}, AtLeast: {1, 2, 3}, None: {4, 5}} {
		points, seen = mm1(10, rates...)
		if k := New("q", points, seen, 1, "rate", nil).Curves[0].Knee; k.Bound != bound {
			t.Errorf("%v: %+v, want %s", rates, k, bound)
		}
	}
}

// A load that was too short for a queue to build up has no say in where the knee is, and one whose
// queue grows has.
func TestKneeOfShortLoads(t *testing.T) {
	points, seen := mm1(12, 1, 4, 6, 8, 11)
	for i := range seen {
		seen[i].Unsettled = plan.Msg("steady.too-short")
	}
	seen[0].Unsettled, seen[1].Unsettled, seen[4].Unsettled = plan.Message{}, plan.Message{}, plan.Msg("steady.growing")
	s := New("q", points, seen, 1, "rate", nil)
	if k := s.Curves[0].Knee; k.Row != 1 || k.Bound != Inside || !s.Rows[2].TooShort() || !s.Rows[4].QueueGrows() {
		t.Errorf("%+v of %+v", k, s.Rows)
	}
}

// A server that refuses most requests is quick with the rest: its load is neither a knee nor on the
// front, and the knee is below it.
func TestALoadThatIsRefusedIsNoKnee(t *testing.T) {
	points, seen := mm1(12, 1, 3, 6, 8, 10)
	for i := range seen {
		failed := 0.0
		if i >= 3 {
			failed = 90
			seen[i].Figures = []trace.ReportedFigure{{Name: "throughput.requests", Value: 5}, {Name: "e2el.mean", Value: 0.01}}
		}
		seen[i].Figures = append(seen[i].Figures, trace.ReportedFigure{Name: "requests.ok", Value: 100 - failed}, trace.ReportedFigure{Name: "requests.failed", Value: failed},
			trace.ReportedFigure{Name: "tpot.mean", Value: 0.01 / (1 + failed)}, trace.ReportedFigure{Name: "throughput.output", Value: 100})
	}
	s := New("q", points, seen, 1, "rate", nil)
	if k := s.Curves[0].Knee; k.Bound != Inside || k.Row != 2 || !slices.Equal(s.Front, []int{0}) {
		t.Errorf("%+v, front %v", k, s.Front)
	}
	for i := range seen {
		seen[i].Figures = append(seen[i].Figures[:2:2], trace.ReportedFigure{Name: "requests.failed", Value: 1}, trace.ReportedFigure{Name: "requests.ok", Value: 1})
	}
	if k := New("q", points, seen, 1, "rate", nil).Curves[0].Knee; k.Bound != None || k.Row != -1 {
		t.Errorf("all are refused: %+v", k)
	}
}

// What goes with the load divides no curve, and what does not divides them.
func TestCurves(t *testing.T) {
	var points []Point
	for _, n := range []int{1, 2, 4} {
		for _, length := range []string{"128", "1024"} {
			points = append(points, Point{{"concurrency", strconv.Itoa(n)}, {"requests", strconv.Itoa(10 * n)}, {"input-len", length}})
		}
	}
	s := New("c", points, nil, 1, "concurrency", []string{"requests"})
	if len(s.Curves) != 2 || s.Curves[1].Fixed.String() != "input-len=1024" || !slices.Equal(s.Curves[1].Rows, []int{1, 3, 5}) {
		t.Errorf("%+v", s.Curves)
	}
}

// Of four points one is slower for the user and for the device than another one.
func TestFront(t *testing.T) {
	var points []Point
	var seen []Observation
	for i, v := range [][2]float64{{0.010, 100}, {0.020, 300}, {0.025, 250}, {0.040, 500}} {
		points = append(points, Point{{"c", fmt.Sprint(i)}})
		seen = append(seen, Observation{Point: i, Figures: []trace.ReportedFigure{{Name: "tpot.mean", Value: v[0]}, {Name: "throughput.output", Value: v[1]}}})
	}
	s := New("f", points, seen, 2, "c", nil)
	if !slices.Equal(s.Front, []int{0, 1, 3}) {
		t.Errorf("front %v", s.Front)
	}
	if s.PerUser(1) != 50 || s.PerDevice(1) != 150 {
		t.Errorf("%g tokens/s for a user, %g for a device", s.PerUser(1), s.PerDevice(1))
	}
}

// 1, 2 and 3 have the mean 2 and the standard deviation 1; a failed run is no evidence.
func TestSpread(t *testing.T) {
	var seen []Observation
	for _, v := range []float64{1, 2, 3} {
		seen = append(seen, Observation{Run: fmt.Sprint(v), Figures: []trace.ReportedFigure{{Name: "ttft.mean", Value: v}}})
	}
	seen = append(seen, Observation{Failed: plan.Text("gone"), Figures: []trace.ReportedFigure{{Name: "ttft.mean", Value: 99}}})
	r := New("s", []Point{{{"c", "1"}}, {{"c", "2"}}}, seen, 1, "", nil).Rows
	if got, want := r[0].Figures["ttft.mean"], (Spread{3, 2, 1, 1, 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if len(r[0].Runs) != 3 || len(r[0].Failed) != 1 || len(r[1].Runs) != 0 {
		t.Errorf("%+v", r)
	}
}

// A prediction stands for a point, whatever its run was: knees and the front are those of
// predictions, and a point that is refused has no part in them.
func TestPredict(t *testing.T) {
	var points []Point
	var seen []Observation
	var said []Prediction
	for i, latency := range []float64{1, 1, 4, 9} {
		points = append(points, Point{{Name: "rate", Value: strconv.Itoa(i + 1)}})
		seen = append(seen, Observation{Point: i, Run: "r", Figures: []trace.ReportedFigure{{Name: "throughput.requests", Value: 1}, {Name: "e2el.mean", Value: 1}, {Name: "tpot.mean", Value: 1}, {Name: "throughput.output", Value: 9}}})
		said = append(said, Prediction{Predicted: map[string]Reach{"throughput.requests": {Value: float64(i + 1)}, "e2el.mean": {Value: latency}}})
	}
	points = append(points, Point{{Name: "rate", Value: "5"}})
	said = append(said, Prediction{Refused: "too much"})
	before := New("q", points, seen, 1, "rate", nil)
	s := before.Predict(0.9, said)
	if k := s.Curves[0].Knee; k.Bound != Inside || k.Row != 1 || s.Level != 0.9 {
		t.Errorf("%+v", s)
	}
	if k := before.Curves[0].Knee; k.Bound != AtMost || before.Rows[0].Predicted != nil {
		t.Errorf("predictions changed what they were made of: %+v", before)
	}
	if got := s.Rows[2].Mean("tpot.mean"); got != 1 { // of the run, as nothing is predicted of it
		t.Errorf("mean %v", got)
	}
	if !math.IsNaN(s.Rows[4].Mean("e2el.mean")) || slices.Contains(s.Curves[0].Rows, 5) {
		t.Errorf("%+v", s.Rows[4])
	}
}
