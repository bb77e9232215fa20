package metrics

import (
	"cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Limits of two waves of a warm-up that agree.
const (
	waveAgreement = 0.05 // between medians, relative
	looseWaves    = 0.20 // of brief waves, which prove less
	waveGaps      = 10   // times the median gap: a longer one is a stall, as of a compiler
	waveGapFloor  = 0.05 // seconds: a shorter one is none, however short the others are
	waveRecurs    = 1.5  // two long gaps that differ by no more are of the load, not of its beginning
)

// NewWave sums up the answers of a wave.
func NewWave(records []*trace.Record, stream bool) trace.Wave {
	s := Summarize(&trace.Trace{Run: trace.Run{End: trace.Never, Plan: trace.Load{Stream: stream}}, Records: records}, Options{brief: true})
	l := s.Service
	return trace.Wave{
		Requests: len(records), Failed: len(records) - l.E2EL.N,
		TTFT: l.TTFT.Median, TPOT: l.TPOT.Median, ITL: l.ITL.Median, E2EL: l.E2EL.Median, Gap: l.ITL.Max,
		Longest: cmp.Or(l.TTFT.Max, l.E2EL.Max),
	}
}

// Agree reports whether two successive waves are of a server at rest: their medians of TTFT
// and TPOT, or of answers in one piece those of E2EL, differ by 5 % at most, of brief waves by
// 20 %; no request of one waited for a second, and three times as long as any of the other; and neither has a
// gap of more than ten times its median gap. The long prompts that a closed loop begins with
// make such a gap in every wave, since waves have prompts of the same lengths; so one that
// both have, as long, is left to the load.
func Agree(a, b trace.Wave, brief bool) bool {
	within := 1 + waveAgreement
	if brief {
		within = 1 + looseWaves
	}
	waited := max(a.Longest, b.Longest) > standstillLength.Seconds() && !alike(a.Longest, b.Longest, standstillTimes)
	if a.Failed == a.Requests || b.Failed == b.Requests || waited {
		return false
	}
	if a.TTFT == 0 && b.TTFT == 0 {
		return alike(a.E2EL, b.E2EL, within)
	}
	restless := stalled(a) || stalled(b)
	return alike(a.TTFT, b.TTFT, within) && alike(a.TPOT, b.TPOT, within) &&
		(!restless || stalled(a) && stalled(b) && alike(a.Gap, b.Gap, waveRecurs))
}

func stalled(w trace.Wave) bool { return w.Gap > max(waveGaps*w.ITL, waveGapFloor) }

// alike reports whether neither is more than so many times the other.
func alike(a, b, times float64) bool { return max(a, b) <= times*min(a, b) }
