package search

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// spreadOut is an outcome of four blocks of latencies around half of a limit, all longer by e^slower.
func spreadOut(seed uint64, slower float64) Outcome {
	dice := rand.New(rand.NewPCG(seed, 1))
	o := Outcome{Requests: 2000, Tails: [][]Tail{make([]Tail, blocks)}}
	for i := range o.Requests {
		o.Tails[0][i%blocks].add(0.5 * math.Exp(0.3*dice.NormFloat64()+slower))
	}
	return o
}

func matched(slower float64) (*match, []MeasuredLeg) {
	m := &match{replays: map[int][]Outcome{}, by: Rate}
	var legs []MeasuredLeg
	for n := 1; n <= 3; n++ {
		legs = append(legs, MeasuredLeg{Leg{Number: n, Load: 10, By: Rate}, spreadOut(uint64(n), slower)})
		for d := range uint64(draws) {
			m.replays[n] = append(m.replays[n], spreadOut(100*d+uint64(n), 0))
		}
	}
	return m, legs
}

func TestATwinSaysHowMuchSlowerTheServerIs(t *testing.T) {
	for _, slower := range []float64{-0.1, 0, 0.1} {
		m, legs := matched(slower)
		u, sd, _ := m.slower(m.near(legs, math.Log(10)), 0)
		if math.Abs(u-slower) > 3*sd || sd > 0.03 {
			t.Errorf("a server slower by %v is found slower by %.3f ± %.3f", slower, u, sd)
		}
		if z := m.distance(legs, 0, slower); math.Abs(z) > 2.5 {
			t.Errorf("a server slower by %v is %.1f standard deviations from its twin", slower, z)
		}
	}
	m, legs := matched(0.3)
	if z := m.distance(legs, 0, 0); z < 2.5 {
		t.Errorf("a server slower by 0.3 is only %.1f standard deviations from its twin", z)
	}
}

func TestLimitsReachDownToAFifthOfTheRequests(t *testing.T) {
	m, legs := matched(0)
	used := m.near(legs, math.Log(10))
	d := depth(used, 0)
	want := math.Log(2) - 0.3*0.8416 // the upper fifth of a normal distribution begins at 0.8416
	if math.Abs(d-want) > 0.04 {
		t.Errorf("limits reach down by %.2f, want about %.2f", d, want)
	}
	tail := legs[0].Tail(0)
	if at, over := tail.at(0), tail.over(0, d); over <= at || over > mostBeyond*float64(tail.N) {
		t.Errorf("%.1f beyond the limit, %.1f over limits down to a fifth of %d", at, over, tail.N)
	}
}

// A leg with an objective of ITL counts gaps, one for each token that was not answered.
func TestTailsCountGaps(t *testing.T) {
	limits, _, err := metrics.Parse("itl.p95=10ms")
	if err != nil {
		t.Fatal(err)
	}
	var tail Tail
	tail.addRequest(limits[0], capacityUnanswered(5), latenciesOf(capacityUnanswered(5), true))
	if tail.N != 4 || tail.Above[steps-1] != 4 {
		t.Errorf("a request for 5 tokens without an answer counts %d gaps, %d of them endless; want 4 and 4", tail.N, tail.Above[steps-1])
	}
}

func capacityUnanswered(want int) *trace.Record { return &trace.Record{WantTokens: want} }
