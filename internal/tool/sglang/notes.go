package sglang

import (
	"fmt"
	"math"
	"strings"
)

// notable is the share by which a figure has to differ from Pitot's own for a note.
const notable = 0.05

// perceptible is the least difference of durations for a note, in seconds.
const perceptible = 0.1

// Notes say where a figure is far from what its label promises, a sentence each:
// which figure, both values, and why.
func (r *Report) Notes() []string {
	f := r.Figures
	notes := new(notes)
	notes.when(f.Failed > 0, "%d of %d requests failed: the sglang report has no line for them", f.Failed, len(f.Requests))
	notes.when(f.Unreadable > 0, "%d of them were answered, with lines that sglang.bench_serving cannot read: comments, names of events, data without a blank after the colon, or usage in an event of its own", f.Unreadable)
	notes.when(f.Silent > 0, "%d answers without text are successes to sglang, with a TTFT of 0", f.Silent)
	notes.when(f.Broken > 0, "%d answers that broke off, or have an error in them, are successes to sglang", f.Broken)
	notes.when(f.Assumed > 0 && f.TotalOutput != f.TotalRetokenized,
		"sglang takes the length asked for as that of %d answers: %d generated tokens in all, where %d were counted", f.Assumed, f.TotalOutput, f.TotalRetokenized)
	notes.when(f.Uncounted > 0, "sglang counts no prompts of conversations: its input tokens are 0, where %d were sent with the first turns", f.Uncounted)
	r.noteTimes(notes)
	r.notePeaks(notes)
	return notes.all
}

// noteTimes are about latencies and the duration.
func (r *Report) noteTimes(notes *notes) {
	f := r.Figures
	ttft := f.TTFT.Mean
	if r.Embedding {
		ttft = f.E2EL.Mean
	}
	notes.when(f.Handshake > notable*ttft,
		"mean %s %s ms has %s ms of connecting in it: sglang makes a connection for every request within its clock; from the first byte sent it is %s ms",
		r.firstLatency(), ms(ttft), ms(f.Handshake), ms(ttft-f.Handshake))
	notes.when(f.ITL.N > 0 && math.Abs(f.ITL.Mean-f.Gap) > notable*f.Gap,
		"mean ITL %s ms is a gap a token, and the longest is %s ms: sglang divides the gaps between chunks by their tokens; between two chunks the mean is %s ms", ms(f.ITL.Mean), ms(f.ITL.Max), ms(f.Gap))
	notes.when(f.Tail > notable*f.Duration && f.Tail > perceptible,
		"the duration, %.2f s, has %.2f s after the last answer in it: the last gap of the schedule, the end of the profiler, a question to the server; up to the last answer it is %.2f s", f.Duration, f.Tail, f.Duration-f.Tail)
}

// firstLatency is what a connection delays.
func (r *Report) firstLatency() string {
	if r.Embedding {
		return "E2E latency"
	}
	return "TTFT"
}

func (r *Report) notePeaks(notes *notes) {
	f := r.Figures
	together := r.Backend == "trt" || r.Backend == "truss"
	notes.when(together && len(f.Requests) > 1, "sglang does not note when requests of --backend %s begin: both peaks are as if all had begun at once; at most %d were in flight", r.Backend, f.InFlight)
	notes.when(!together && f.MaxConcurrent > f.InFlight, "sglang's peak of %d counts the requests that touch one second: at most %d were in flight", f.MaxConcurrent, f.InFlight)
	notes.when(!together && !r.Embedding && f.MaxOutputPerSecond < f.OutputThroughput && f.TotalOutput == f.TotalRetokenized, "the peak output of %.2f tok/s counts what came within a second of the clock, and a chunk as one but natively: where chunks carry several tokens, or the run is no longer than a few seconds, it is below the mean of %.2f tok/s", f.MaxOutputPerSecond, f.OutputThroughput)
	notes.when(f.AcceptLength > 0 && r.Args != nil, "accept length %.2f is the server's mean since it started, not of this run", f.AcceptLength)
}

// notes are sentences.
type notes struct{ all []string }

func (n *notes) when(cond bool, format string, a ...any) {
	if cond {
		n.all = append(n.all, fmt.Sprintf(format, a...))
	}
}

// ms is a time in milliseconds, with two decimals.
func ms(seconds float64) string {
	return strings.TrimPrefix(fmt.Sprintf("%.2f", seconds*1000), "-")
}
