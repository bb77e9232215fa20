package aliens

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// quiet is an alien whose steps are as long as its law says, and whose frontend takes next to no
// time.
func quiet(a *Alien) *Alien {
	a.noise, a.stall, a.drift = 0, 0, 0
	a.request, a.promptToken, a.token = 1, 0, 0
	return a
}

// together are jobs that arrive at once, given as pairs of prompt and answer.
func together(lengths ...[2]int) (calls []call) {
	for i, l := range lengths {
		calls = append(calls, call{job: engine.Job{ID: uint64(i + 1), PromptTokens: l[0], OutputTokens: l[1]}})
	}
	return calls
}

// times are when the tokens of a job leave.
func times(out []engine.Emission, id uint64) (at []time.Duration) {
	for _, e := range out {
		if e.ID == id {
			at = append(at, e.At)
		}
	}
	return at
}

func TestABatchCostsAsItsGraph(t *testing.T) {
	law := func(n int) float64 { return paddedLaw(batch{decodes: n, context: 4000}) }
	if law(5) != law(8) || law(8) >= law(9) || law(9) != law(16) || law(3) != law(4) || law(1) >= law(2) {
		t.Errorf("%v %v %v %v", law(5), law(8), law(9), law(16))
	}
	gap := func(n int) time.Duration { // of tokens of which n leave together
		out := play(quiet(Padded(1)), together(slices.Repeat([][2]int{{10, 40}}, n)...), false)
		at := times(out, uint64(n))
		return at[20] - at[19]
	}
	if five, eight := gap(5), gap(8); five > eight || eight-five > 100*time.Microsecond {
		t.Errorf("a step of 5 takes %v, one of 8 %v", five, eight)
	}
}

func TestMixedStepsHaveNoGraphAndARoof(t *testing.T) {
	without, with := paddedLaw(batch{decodes: 8}), paddedLaw(batch{decodes: 8, prompt: 1})
	if with-without < 1.5e-3 {
		t.Errorf("a step with a prompt takes %v more", with-without)
	}
	if tile := paddedLaw(batch{decodes: 8, prompt: 120}); tile != paddedLaw(batch{decodes: 8, prompt: 100}) || with != paddedLaw(batch{decodes: 8, prompt: 100}) {
		t.Error("below the roof, tokens cost something")
	}
	if a, b := paddedLaw(batch{decodes: 8, prompt: 390}), paddedLaw(batch{decodes: 8, prompt: 450}); math.Abs(b-a-26e-6*64) > 1e-9 {
		t.Errorf("beyond the roof a tile costs %v", b-a)
	}
	if a := paddedLaw(batch{decodes: 8, context: 8000}) - paddedLaw(batch{decodes: 8, context: 4000}); a > 0.9*(paddedLaw(batch{decodes: 8, context: 4000})-paddedLaw(batch{decodes: 8})) {
		t.Error("attention is not sub-linear")
	}
}

func TestExpertsAreReadOnce(t *testing.T) {
	law := func(n int) float64 { return expertsLaw(batch{decodes: n}) }
	if few, many := law(4)-law(1), law(67)-law(64); few < 20*many {
		t.Errorf("three sequences cost %v beside one, and %v beside 64", few, many)
	}
}

// firsts are how many first tokens leave at each instant at which any does.
func firsts(out []engine.Emission) (n []int) {
	seen, last := map[uint64]bool{}, time.Duration(-1)
	for _, e := range out {
		if seen[e.ID] {
			continue
		}
		if seen[e.ID] = true; e.At != last {
			n, last = append(n, 0), e.At
		}
		n[len(n)-1]++
	}
	return n
}

func TestAtMostSoManyPromptsAStep(t *testing.T) {
	for name, c := range map[string]struct {
		alien *Alien
		want  []int
	}{"padded": {Padded(1), []int{1, 4, 4, 1}}, "lagged": {Lagged(1), []int{1, 2, 2, 2, 2, 1}}, "experts": {Experts(1), []int{1, 4, 4, 1}}, "timed": {Timed(1), []int{8, 2}}} {
		a := quiet(c.alien)
		a.ahead = false // or the second step is empty-handed
		if n := firsts(play(a, together(slices.Repeat([][2]int{{20, 30}}, 10)...), false)); !slices.Equal(n, c.want) {
			t.Errorf("%s: %v, want %v", name, n, c.want)
		}
	}
}

// prompted is in how many steps a prompt is computed while others decode.
func prompted(a *Alien, decodes, prompt int) (steps int) {
	calls := together(slices.Repeat([][2]int{{4, 4000}}, decodes)...)
	at := 2 * time.Second
	calls = append(calls, call{at: at, job: engine.Job{ID: 99, PromptTokens: prompt, OutputTokens: 2}})
	out := play(quiet(a), calls, false)
	i := slices.IndexFunc(out, func(e engine.Emission) bool { return e.ID == 99 })
	for _, e := range times(out, 1) {
		if e > out[i].Start && e <= out[i].At {
			steps++
		}
	}
	return steps
}

func TestPromptsBesideDecodingOrInstead(t *testing.T) {
	for prompt, want := range map[int]int{512: 1, 513: 2, 1024: 2} {
		if n := prompted(Padded(1), 60, prompt); n != want {
			t.Errorf("padded: %d tokens take %d steps, want %d", prompt, n, want)
		}
	}
	for prompt, want := range map[int]int{768 - 60: 1, 768 - 59: 2, 768: 2} {
		if n := prompted(Experts(1), 60, prompt); n != want {
			t.Errorf("experts: %d tokens take %d steps, want %d", prompt, n, want)
		}
	}
}

func TestAChunkIsDividedOrGivenInOrder(t *testing.T) {
	calls := together([2]int{4, 300}, [2]int{3000, 2}, [2]int{200, 2})
	for name, c := range map[string]struct {
		alien *Alien
		long  bool
	}{"padded": {Padded(1), true}, "experts": {Experts(1), false}} {
		out := play(quiet(c.alien), calls, false)
		if long, short := times(out, 2)[0], times(out, 3)[0]; (long <= short) != c.long {
			t.Errorf("%s: the long prompt is done at %v, the short one at %v", name, long, short)
		}
	}
}

func TestAStepIsPlannedAhead(t *testing.T) {
	for name, c := range map[string]struct {
		alien *Alien
		steps int
	}{"lagged": {Lagged(1), 1}, "padded": {Padded(1), 0}} {
		calls := append(together([2]int{10, 50}), call{at: 100 * ms, job: engine.Job{ID: 2, PromptTokens: 10, OutputTokens: 5}})
		out := play(quiet(c.alien), calls, false)
		i := slices.IndexFunc(out, func(e engine.Emission) bool { return e.ID == 2 })
		between := 0
		for _, at := range times(out, 1) {
			if at > 100*ms && at < out[i].Start {
				between++
			}
		}
		if between != c.steps {
			t.Errorf("%s: %d whole steps from the arrival to the start, want %d", name, between, c.steps)
		}
	}
}

func TestRoomForAnswersIsReserved(t *testing.T) {
	a := quiet(Lagged(1))
	out := play(a, together([2]int{39_900, 100}, [2]int{39_900, 200}, [2]int{39_900, 100}), false)
	first, third := times(out, 1), times(out, 3)
	if i := slices.IndexFunc(out, func(e engine.Emission) bool { return e.ID == 3 }); out[i].Start <= first[99] {
		t.Errorf("the third starts at %v, before the first ends at %v", out[i].Start, first[99])
	}
	if second := times(out, 2); third[0] > second[199] {
		t.Errorf("the third has its first token at %v, after the second ends", third[0])
	}
	if whole := play(quiet(Lagged(1)), together([2]int{95_000, 3}), false); len(whole) != 3 {
		t.Errorf("a prompt beyond the room has %d tokens", len(whole))
	}
}

func TestOneThreadTakesInAndGivesOut(t *testing.T) {
	a := quiet(Padded(1))
	a.request, a.token = 1200*time.Microsecond, 40*time.Microsecond
	out := play(a, together(slices.Repeat([][2]int{{10, 20}}, 20)...), false)
	successive := 0
	for i, e := range out[1:] {
		if gap := e.At - out[i].At; gap < a.token {
			t.Fatalf("tokens leave %v apart", gap)
		} else if gap == a.token {
			successive++
		}
	}
	if successive < 300 {
		t.Errorf("%d tokens left right after one another", successive)
	}
	if i := slices.IndexFunc(out, func(e engine.Emission) bool { return e.ID == 20 }); out[i].Start < 20*a.request {
		t.Errorf("the twentieth request starts at %v", out[i].Start)
	}
	a = quiet(Experts(1))
	a.promptToken = 1500 * time.Nanosecond
	if out := play(a, together([2]int{2000, 1}), false); out[0].Start != 3*ms+1 {
		t.Errorf("the frontend is done with 2000 tokens after %v", out[0].Start)
	}
}

func TestPrefixesAreFound(t *testing.T) {
	prompt := func(shared, n int, own int32) (ids []int32) {
		for i := range n {
			if ids = append(ids, int32(i)); i >= shared {
				ids[i] += own << 16
			}
		}
		return ids
	}
	a := quiet(Experts(1))
	var calls []call
	for i, ids := range [][]int32{prompt(300, 400, 1), prompt(300, 400, 2), prompt(0, 400, 3), prompt(300, 256, 4), nil} {
		calls = append(calls, call{at: time.Duration(i) * time.Second, job: engine.Job{ID: uint64(i + 1), PromptTokens: max(256, len(ids)), Prompt: ids, OutputTokens: 2}})
	}
	var cached []int32
	for _, e := range play(a, calls, false) {
		if e.Done {
			cached = append(cached, e.Cached)
		}
	}
	if !slices.Equal(cached, []int32{0, 256, 0, 255, 0}) {
		t.Errorf("%v tokens were cached", cached)
	}
	if l := a.Load(); l.PrefixHit != 511 || l.PrefixQueried != 1712 {
		t.Errorf("%+v", l)
	}
	for i := range int32(2000) {
		a.cache.keep(prompt(0, 400, i+10))
	}
	if a.cache.find(prompt(300, 400, 1)) != 0 || len(a.cache.known) != cacheBlocks {
		t.Errorf("%d blocks are known, the oldest among them", len(a.cache.known))
	}
}

func TestNoiseStallsAndDrift(t *testing.T) {
	const steps = 20_000
	for name, a := range map[string]*Alien{"padded": Padded(1), "lagged": Lagged(1), "experts": Experts(1), "timed": Timed(1)} {
		b := batch{decodes: 10, context: 5000}
		law := a.law(b)
		stalls, sum, cube := 0, 0.0, 0.0
		for range steps {
			off := a.duration(b, 0).Seconds()/law/(1+a.drift*math.Sin(a.phase)) - 1
			if off > 12*a.noise {
				stalls++
				continue
			}
			sum += off
			cube += off * off * off
		}
		if share := float64(stalls) / steps; math.Abs(share/a.stall-1) > 0.25 {
			t.Errorf("%s: %.2f %% of the steps stall, want %.1f", name, 100*share, 100*a.stall)
		}
		if mean, skew := sum/steps, cube/steps/(a.noise*a.noise*a.noise); math.Abs(mean) > 0.05*a.noise || skew < 1.5 || skew > 2.5 {
			t.Errorf("%s: noise of %v has mean %v and skew %v", name, a.noise, mean, skew)
		}
		a.noise, a.stall = 0, 0
		low, high := math.Inf(1), 0.0
		for at := range 40 {
			d := a.duration(b, time.Duration(at)*time.Second).Seconds() / law
			low, high = min(low, d), max(high, d)
		}
		if math.Abs(low-0.97) > 1e-3 || math.Abs(high-1.03) > 1e-3 || a.duration(b, 0) != a.duration(b, driftOver) {
			t.Errorf("%s: the pace is from %v to %v", name, low, high)
		}
	}
}

func TestPromptsKeepAStepShort(t *testing.T) {
	a := Timed(1)
	for _, decodes := range []int{0, 1, 40, 100} {
		b := batch{decodes: decodes, context: 300 * decodes}
		b.prompt = a.budget(b)
		fits := timedLaw(b)
		b.prompt += leastChunk
		if b.prompt == 2*leastChunk || fits > a.within || timedLaw(b) <= a.within {
			t.Errorf("beside %d, %d tokens take %v s", decodes, b.prompt-leastChunk, fits)
		}
	}
	if n := a.budget(batch{decodes: 110, context: 200_000}); n != leastChunk {
		t.Errorf("%d tokens where no step is short", n)
	}
}

func TestTheShortestPromptGoesFirst(t *testing.T) {
	calls := together([2]int{4, 300}, [2]int{3000, 2}, [2]int{200, 2}, [2]int{2000, 2}, [2]int{100, 2})
	out := play(quiet(Timed(1)), calls, false)
	last := time.Duration(0)
	for _, id := range []uint64{5, 3, 4, 2} {
		first := times(out, id)[0]
		if first < last || id != 3 && first == last { // the two short ones fit into one step
			t.Errorf("job %d has its first token at %v, after one at %v", id, first, last)
		}
		last = first
	}
}

func TestRequestsAreGathered(t *testing.T) {
	var calls []call
	for i, at := range []time.Duration{1 * ms, 7 * ms, 13 * ms} {
		calls = append(calls, call{at: at, job: engine.Job{ID: uint64(i + 1), PromptTokens: 10, OutputTokens: 1}})
	}
	var starts []time.Duration
	for _, e := range play(quiet(Timed(1)), calls, false) {
		starts = append(starts, e.Start)
	}
	if !slices.Equal(starts, []time.Duration{12 * ms, 12 * ms, 24 * ms}) {
		t.Errorf("requests start at %v", starts)
	}
}

func TestOnlyAWindowIsAttendedTo(t *testing.T) {
	gap := func(prompt int) time.Duration {
		at := times(play(quiet(Timed(1)), together([2]int{prompt, 30}), false), 1)
		return at[20] - at[19]
	}
	if short, window, long := gap(100), gap(384), gap(2000); short >= window || window != long {
		t.Errorf("steps take %v after 100 tokens, %v after 384, %v after 2000", short, window, long)
	}
}
