package sglang

import (
	"math"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// notable is the share by which a figure has to differ from Pitot's own for a note.
const notable = 0.05

// perceptible is the least difference of durations for a note, in seconds.
const perceptible = 0.1

// Where figures are far from what their labels promise, in the words of show/words.
const (
	reportFailed      plan.Code = "sglang.report-failed"      // failed, of
	reportUnreadable  plan.Code = "sglang.report-unreadable"  // answers
	reportSilent      plan.Code = "sglang.report-silent"      // answers
	reportBroken      plan.Code = "sglang.report-broken"      // answers
	reportAssumed     plan.Code = "sglang.report-assumed"     // answers, generated, counted
	reportUncounted   plan.Code = "sglang.report-uncounted"   // tokens
	reportConnecting  plan.Code = "sglang.report-connecting"  // metric, mean, connecting, without
	reportGaps        plan.Code = "sglang.report-gaps"        // mean, longest, between
	reportTail        plan.Code = "sglang.report-tail"        // duration, tail, without
	reportTogether    plan.Code = "sglang.report-together"    // backend, flight
	reportPeakOutput  plan.Code = "sglang.report-peak-output" // peak, mean
	reportAcceptances plan.Code = "sglang.report-accept"      // length
)

// Notes say where a figure is far from what its label promises: which figure, both values,
// and why.
func (r *Report) Notes() []plan.Message {
	f := r.Figures
	n := notes(f.Notes("sglang"))
	n.when(f.Failed > 0, reportFailed, "failed", f.Failed, "of", len(f.Requests))
	n.when(f.Unreadable > 0, reportUnreadable, "answers", f.Unreadable)
	n.when(f.Silent > 0, reportSilent, "answers", f.Silent)
	n.when(f.Broken > 0, reportBroken, "answers", f.Broken)
	n.when(f.Assumed > 0 && f.TotalOutput != f.TotalRetokenized, reportAssumed, "answers", f.Assumed, "generated", f.TotalOutput, "counted", f.TotalRetokenized)
	n.when(f.Uncounted > 0, reportUncounted, "tokens", f.Uncounted)
	r.noteTimes(&n)
	r.notePeaks(&n)
	return n
}

func (r *Report) noteTimes(n *notes) {
	f := r.Figures
	metric, ttft := "TTFT", f.TTFT.Mean // what a connection delays
	if r.embedding() {
		metric, ttft = "E2E latency", f.E2EL.Mean
	}
	n.when(f.Handshake > notable*ttft, reportConnecting, "metric", metric, "mean", ttft, "connecting", f.Handshake, "without", math.Abs(ttft-f.Handshake))
	n.when(f.ITL.N > 0 && math.Abs(f.ITL.Mean-f.Gap) > notable*f.Gap, reportGaps, "mean", f.ITL.Mean, "longest", f.ITL.Max, "between", f.Gap)
	n.when(f.Tail > notable*f.Duration && f.Tail > perceptible, reportTail, "duration", f.Duration, "tail", f.Tail, "without", f.Duration-f.Tail)
}

func (r *Report) notePeaks(n *notes) {
	f := r.Figures
	buffers := r.Backend == "trt" || r.Backend == "truss"
	n.when(buffers && len(f.Requests) > 1, reportTogether, "backend", r.Backend, "flight", f.InFlight)
	n.when(!buffers && f.MaxConcurrent > f.InFlight, result.ReportSeconds, "tool", "sglang", "peak", f.MaxConcurrent, "flight", f.InFlight)
	n.when(!buffers && !r.embedding() && f.MaxOutputPerSecond < f.OutputThroughput && f.TotalOutput == f.TotalRetokenized, reportPeakOutput, "peak", f.MaxOutputPerSecond, "mean", f.OutputThroughput)
	n.when(f.AcceptLength > 0 && r.own, reportAcceptances, "length", f.AcceptLength)
}

type notes []plan.Message

func (n *notes) when(cond bool, code plan.Code, args ...any) {
	if cond {
		*n = append(*n, plan.Msg(code, args...))
	}
}
