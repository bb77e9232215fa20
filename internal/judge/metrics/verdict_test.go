package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
	catalogue "github.com/pitot-bench/pitot/internal/show/words"
)

// healthy is a run of a second, of 200 answers of 10 chunks, stamped by the kernel.
// The median answer takes 191 ms, the median gap is 15 ms.
func healthy() *trace.Trace {
	tr := run(1000)
	for i := range trace.Instant(200) {
		var at []trace.Instant
		for k := range trace.Instant(10) {
			at = append(at, i+55+15*k)
		}
		r := answered(int(i), i, i, 10, at...)
		r.Stamps = trace.KernelStamps
		tr.Records = append(tr.Records, r)
	}
	tr.Run.Client.Lag = trace.Lag{Reads: 2000, P50: time.Millisecond, P99: 90 * time.Millisecond, Max: time.Second} // harmless
	return tr
}

// A spoiler does something to a run.
type spoiler func(*trace.Trace)

func spoil(all ...spoiler) spoiler {
	return func(tr *trace.Trace) {
		for _, s := range all {
			s(tr)
		}
	}
}

// late delays the first n requests by d ms.
func late(n int, d trace.Instant) spoiler {
	return func(tr *trace.Trace) {
		for _, r := range tr.Records[:n] {
			r.Sent += d * ms
		}
	}
}

// unmade has n requests made too late.
func unmade(n int) spoiler {
	return func(tr *trace.Trace) { tr.Run.Client.Unmade, tr.Run.Client.UnmadeMax = n, 19*time.Millisecond }
}

// engineLag makes the embedded engine late, by d ms at P99.
func engineLag(d time.Duration) spoiler {
	return func(tr *trace.Trace) { tr.Run.Client.EngineLag = trace.Lag{Reads: 2000, P99: d * time.Millisecond} }
}

// contended makes the client wait for processors, for so many ms; negative: not known.
func contended(wait time.Duration, others, steal float64) spoiler {
	return func(tr *trace.Trace) {
		tr.Run.Client.Contention = &trace.Contention{Waited: wait * time.Millisecond, Others: others, Steal: steal, Pressure: 0.4}
	}
}

// merged makes n chunks share a read with the one behind them.
func merged(n int) spoiler {
	return func(tr *trace.Trace) {
		for i := range n {
			r := tr.Records[i%200]
			a, b := &r.Chunks[i/200+1], &r.Chunks[i/200+2] // not the first: TTFT would have bounds too
			a.At = b.At
			b.Kind |= trace.Coalesced
			if r.Stamps == trace.KernelStamps {
				a.Slack = 16e3
			}
		}
	}
}

// unsureChunk makes an interval of a chunk of three answers.
func unsureChunk(place int) spoiler {
	return func(tr *trace.Trace) {
		for _, r := range tr.Records[:3] {
			r.Chunks[place].Slack = 20e3
		}
	}
}

// closing leaves each answer one chunk, in one read with the end of the stream.
func closing(tr *trace.Trace) {
	for _, r := range tr.Records {
		r.Chunks, r.OutputTokens = r.Chunks[:1], 1
		r.Chunks[0].Slack, r.Chunks[0].Kind = 20e3, trace.Text|trace.Bundled
	}
}

// userStamps makes n answers unstamped by the kernel.
func userStamps(n int) spoiler {
	return func(tr *trace.Trace) {
		for _, r := range tr.Records[:n] {
			r.Stamps = trace.UserStamps
		}
	}
}

func percentile(p float64) spoiler {
	return func(tr *trace.Trace) { tr.Run.Plan.Percentiles = []float64{p} }
}

// brief ends the run after less time than the load of a machine can be told from.
func brief(tr *trace.Trace) { tr.Run.End = 90 * ms }

func noLag(tr *trace.Trace) { tr.Run.Client.Lag = trace.Lag{} }

func lag(p99 time.Duration) spoiler {
	return func(tr *trace.Trace) { tr.Run.Client.Lag.P99 = p99 }
}

// used sets the processor time, of two processors over a second.
func used(cpu time.Duration) spoiler {
	return func(tr *trace.Trace) { tr.Run.Client.CPU = cpu }
}

func TestVerdict(t *testing.T) {
	const s = time.Second
	for _, tt := range []verdictCase{
		{"nothing", spoil(), trace.Valid, ""},

		{"late, but less than 5 % of an answer", late(5, 10), trace.Valid, ""},
		{"late", late(5, 20), trace.Invalid, "requests were sent late: P99 20.0 ms, the limit is 10.0 ms"},
		{"one late", late(1, 500), trace.Valid, ""},
		{"made late", spoil(late(5, 20), unmade(3)), trace.Invalid, "3 requests were not made in time, by up to 19 ms: making prompts took longer than the load left for it; requests were sent late: P99 20.0 ms, the limit is 10.0 ms"},
		{"made late, for another reason", spoil(late(5, 20), unmade(2)), trace.Invalid, "requests were sent late: P99 20.0 ms, the limit is 10.0 ms"},
		{"made late, and sent in time", unmade(100), trace.Valid, ""},
		{"late for a new connection", spoil(late(5, 20), func(tr *trace.Trace) {
			for _, r := range tr.Records[:5] {
				r.Dialed, r.Connected = r.Sent-20*ms, r.Sent
			}
		}), trace.Valid, ""},
		{"held by the gate", spoil(late(5, 20), func(tr *trace.Trace) {
			for _, r := range tr.Records[:5] {
				r.Free = r.Sent
			}
		}), trace.Valid, ""},

		{"merged, 0.1 %", spoil(merged(2), percentile(99.9)), trace.Valid, ""},
		{"merged, more", spoil(merged(3), percentile(99.9)), trace.Doubtful, "0.15 % of the chunks are merged because the client read late: the percentiles of ITL are known within bounds"},
		{"merged, but they are in no percentile", spoil(merged(3), percentile(99)), trace.Valid, ""},
		{"merged, 1 %", merged(20), trace.Doubtful, "1 % of the chunks are merged"},
		{"merged, the first", spoil(percentile(1), unsureChunk(0)), trace.Doubtful, "the percentiles of TTFT are known within bounds"},
		{"merged, the last", spoil(percentile(1), unsureChunk(9)), trace.Doubtful, "the percentiles of TPOT are known within bounds"},
		{"answers of one chunk, which come with what closes them", closing, trace.Valid, ""},
		{"merged, more than that", merged(21), trace.Invalid, "1.05 % of the chunks are merged because the client read late: the percentiles of ITL are invalid"},
		{"merged, and not streamed", spoil(merged(21), func(tr *trace.Trace) { tr.Run.Plan.Stream = false }), trace.Valid, ""},
		{"in one read, nobody knows why", spoil(userStamps(200), noLag, merged(21)), trace.Doubtful, "1.05 % of the chunks are merged, by a client that read late or by the server"},
		{"in one read, of a busy client", spoil(userStamps(200), noLag, merged(21), used(s/5)), trace.Invalid, "1.05 % of the chunks are merged because the client read late"},

		{"user space, an idle client", spoil(userStamps(200), noLag, used(s/10)), trace.Valid, ""},
		{"user space, a busy client", spoil(userStamps(200), noLag, used(s/5)), trace.Doubtful, "timestamps were taken in user space by a client that used 20 % of a processor: gaps contain its delay, which is not known"},
		{"user space, and no answer", spoil(userStamps(200), noLag, used(s/5), func(tr *trace.Trace) {
			for _, r := range tr.Records {
				r.Class = trace.Reset
			}
		}), trace.Invalid, "all 200 requests failed: connection reset by the server"},
		{"user space, for a moment", spoil(userStamps(200), noLag, used(s/5), func(tr *trace.Trace) { tr.Run.End = 900 * ms }), trace.Valid, ""},
		{"user space in part, prompt", spoil(userStamps(3), lag(750*time.Microsecond)), trace.Valid, ""},
		{"user space in part, late", spoil(userStamps(3), lag(800*time.Microsecond)), trace.Doubtful, "timestamps were taken in user space by a client that read late: P99 0.8 ms, the limit is 0.75 ms"},
		{"user space in part, late, and there are no gaps", spoil(closing, userStamps(3), lag(50*time.Millisecond)), trace.Valid, ""},
		{"user space, a hundredth", userStamps(2), trace.Valid, ""},

		{"processors", used(2 * s), trace.Valid, ""},
		{"processors, and merged", spoil(merged(3), used(19*s/10)), trace.Invalid, "this process used 95 % of 2 processors"},
		{"processors, and late", spoil(late(5, 20), used(19*s/10)), trace.Invalid, "this process used 95 % of 2 processors; requests were sent late: P99 20.0 ms, the limit is 10.0 ms"},
		{"processors, in user space", spoil(userStamps(200), noLag, used(19*s/10)), trace.Invalid, "this process used 95 % of 2 processors; timestamps"},
		{"processors, with the engine", spoil(used(19*s/10), func(tr *trace.Trace) { tr.Run.Env.Embedded = true }), trace.Invalid, "this process and the engine in it used 95 %"},
		{"processors, all that it may use", spoil(merged(20), used(19*s/20), func(tr *trace.Trace) { tr.Run.Client.Procs = 1 }), trace.Invalid, "this process used 95 % of the only processor available"},
		{"processors, half of what it may use", spoil(merged(20), used(19*s/20)), trace.Doubtful, "1 %"},
		{"processors, for a moment", spoil(merged(20), used(s), func(tr *trace.Trace) { tr.Run.End = 500 * ms }), trace.Doubtful, "1 %"},

		{"clock", func(tr *trace.Trace) { tr.Run.Client.ClockSteps, tr.Run.Client.ClockStep = 1, -s/8 }, trace.Invalid, "the wall clock was set during the run, by up to 125 ms: TTFT and E2EL are invalid"},
		{"clock, which nothing was read from", spoil(userStamps(200), noLag, func(tr *trace.Trace) { tr.Run.Client.ClockSteps = 1 }), trace.Valid, ""},
		{"killed", func(tr *trace.Trace) { tr.Run.End = trace.Never }, trace.Invalid, "the run has no end"},
		{"collector", func(tr *trace.Trace) { tr.Run.Client.GCMax = 11 * time.Millisecond }, trace.Doubtful, "the garbage collector paused the client for 11.0 ms"},
		{"files", func(tr *trace.Trace) { tr.Records[0].Class = trace.Files }, trace.Invalid, "one request failed: the client ran out of file descriptors"},
		{"ports", func(tr *trace.Trace) { tr.Records[0].Class = trace.Ports }, trace.Invalid, "one request failed: the client machine ran out of local ports"},
		{"server errors are not the client's", func(tr *trace.Trace) { tr.Records[0].Class = trace.Reset }, trace.Valid, ""},
		{"simulated", spoil(late(200, 500), merged(200), func(tr *trace.Trace) { tr.Run.Kind = trace.Simulated }), trace.Valid, ""},
	} {
		tt.check(t)
	}
}

// What a busy machine does to a run is told from what its client does.
func TestVerdictOnABusyMachine(t *testing.T) {
	const s = time.Second
	for _, tt := range []verdictCase{
		{"an engine that is late", engineLag(3), trace.Invalid, "the embedded engine itself was late: P99 3.0 ms after its tokens were due, the limit is 2.0 ms"},
		{"an engine that is nearly on time", engineLag(2), trace.Valid, ""},
		{"starved by others", spoil(late(10, 50), used(s/10), contended(300, 0.9, 0)), trace.Invalid, "this machine was busy: other programs used 90 % of it, and the client waited 75 % of its time for a processor (CPU pressure 40 %); " +
			"requests were sent late: P99 50.0 ms, the limit is 10.0 ms"},
		{"starved by a hypervisor", spoil(late(10, 50), used(s/10), contended(0, 0, 0.3)), trace.Invalid, "this machine was busy: other programs used 0 % of it, a hypervisor 30.0 %, and the client waited 0 % of its time for a processor (CPU pressure 40 %); " +
			"requests were sent late: P99 50.0 ms, the limit is 10.0 ms"},
		{"slow by itself", spoil(late(10, 50), used(s/10), contended(1, 0.9, 0)), trace.Invalid, "the client was too slow for this load: no other program kept it from its processors (it waited 1 % of its time for one); " +
			"requests were sent late: P99 50.0 ms, the limit is 10.0 ms"},
		{"in its own way", spoil(late(10, 50), used(s/10), contended(300, 0.01, 0)), trace.Invalid, "the client was too slow for this load: no other program kept it from its processors (it waited 75 % of its time for one); " +
			"requests were sent late: P99 50.0 ms, the limit is 10.0 ms"},
		{"late on a system that tells nothing", spoil(late(10, 50), used(s/10), contended(-1, -1, -1)), trace.Invalid, "requests were sent late: P99 50.0 ms, the limit is 10.0 ms"},
		{"waiting while the load of others is unknown", spoil(late(10, 50), used(s/10), contended(300, -1, -1)), trace.Invalid, "the client waited 75 % of the time in which it wanted a processor for one (CPU pressure 40 %); whether other programs had it is not known; " +
			"requests were sent late: P99 50.0 ms, the limit is 10.0 ms"},
		{"waiting for a few ticks", spoil(brief, lag(2*time.Millisecond), userStamps(200), used(s/100), contended(30, 0, 0)), trace.Doubtful, "the client waited 75 % of the time in which it wanted a processor for one (CPU pressure 40 %); whether other programs had it is not known; " +
			"timestamps were taken in user space by a client that read late: P99 2 ms, the limit is 0.75 ms; gaps contain its delay"},
		{"late without waiting, and steal is unknown", spoil(late(10, 50), used(s/10), contended(1, -1, -1)), trace.Invalid, "requests were sent late: P99 50.0 ms, the limit is 10.0 ms"},
		{"on time on a busy machine", spoil(used(s/10), contended(300, 0.9, 0)), trace.Valid, ""},
	} {
		tt.check(t)
	}
}

type verdictCase struct {
	name  string
	spoil spoiler
	want  trace.Validity
	why   string // the reasons begin with it
}

func (tt verdictCase) check(t *testing.T) {
	t.Helper()
	tr := healthy()
	tt.spoil(tr)
	v := Summarize(tr, Options{}).Health.Verdict
	if why := catalogue.In("en").SayAll("stop", v.Reasons); v.Validity != tt.want || !strings.HasPrefix(why, tt.why) || (why == "") != (tt.why == "") {
		t.Errorf("%s: %s, %q; want %s, %q", tt.name, v.Validity, why, tt.want, tt.why)
	}
}
