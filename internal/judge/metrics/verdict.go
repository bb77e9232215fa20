package metrics

import (
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Limits beyond which the client counts as in the way. Lateness matters in
// proportion to what is measured, and below 10 ms it does not matter.
const (
	maxCPU           = 0.90        // of the processors usable
	minCPUTime       = time.Second // over less the share says nothing
	maxLateness      = 10 * time.Millisecond
	maxLatenessShare = 0.05 // of the median E2EL
	maxGCPause       = 10 * time.Millisecond
	maxWidth         = 0.01 // of the bounds of a percentile, relative to it
)

// Limits for instants taken in user space. A step of an engine brings a token to
// every stream at once, and the client reads one after the other: a gap is off by
// as much of the step as that takes, which is the share of one processor it uses.
const (
	maxUserShare = 0.01 // of the answers with such instants; fewer move no percentile
	maxUserCPU   = 0.10 // of one processor
	maxUserLag   = 0.05 // of the median ITL, where the kernel's stamps of other answers tell
)

// A judgement gathers what speaks against a run.
type judgement struct {
	Health
	s               Summary
	invalid, doubts []plan.Message
}

// judge is the verdict on a run: invalid where the client decided some of its
// figures, doubtful where they are less sure than they look.
func judge(h Health, s Summary) trace.Verdict {
	j := &judgement{Health: h, s: s}
	j.sending()
	j.merging()
	j.stamps()
	j.processors()
	j.process()
	v := trace.Verdict{Validity: trace.Valid, Reasons: append(j.invalid, j.doubts...)}
	switch {
	case len(j.invalid) > 0:
		v.Validity = trace.Invalid
	case len(j.doubts) > 0:
		v.Validity = trace.Doubtful
	}
	return v
}

func (j *judgement) invalidf(cond bool, format string, a ...any) {
	if cond {
		j.invalid = append(j.invalid, plan.Text(fmt.Sprintf(format, a...)))
	}
}

func (j *judgement) doubtf(cond bool, format string, a ...any) {
	if cond {
		j.doubts = append(j.doubts, plan.Text(fmt.Sprintf(format, a...)))
	}
}

// late is whether requests left late, and the limit.
func (j *judgement) late() (late bool, limit float64) {
	limit = max(maxLateness.Seconds(), maxLatenessShare*j.s.Service.E2EL.Median)
	return j.Lateness.At(99) > limit, limit
}

func (j *judgement) sending() {
	late, limit := j.late()
	j.invalidf(late, "requests left late: P99 %.1f ms, the limit is %.1f ms", 1e3*j.Lateness.At(99), 1e3*limit)
	for _, c := range j.s.Requests.Classes {
		j.invalidf(c.Class == trace.Files || c.Class == trace.Ports, "%d requests failed since %s", c.Count, c.Class.Explain())
	}
}

// merging judges the chunks without an instant of their own. Without the kernel's
// stamps a client that has little to do cannot tell whether it was late or the
// server wrote them together.
func (j *judgement) merging() {
	share := j.s.Chunks.MergedShare
	const words = "%.3g %% of the chunks are merged"
	switch {
	case !j.s.Run.Plan.Stream || share <= boundedFrom:
	case share > invalidFrom && (!j.inUserSpace() || j.busyUser()):
		j.invalidf(true, words+", read too late to be told apart: the percentiles of ITL are void", 100*share)
	case j.inUserSpace():
		j.doubtf(true, words+", by a late client or a server that writes them so: their gaps of 0 may be the client's", 100*share)
	default:
		j.doubtf(j.s.Service.ITL.wide(), words+", read too late to be told apart: the percentiles of ITL are known within bounds", 100*share)
	}
	j.doubtf(j.s.Service.TTFT.wide(), "the percentiles of TTFT are known within bounds: of some answers the first chunk was read together with the next")
	j.doubtf(j.s.Service.TPOT.wide(), "the percentiles of TPOT are known within bounds: of some answers the first or the last chunk was read together with another")
}

// stamps judges whose the instants are.
func (j *judgement) stamps() {
	j.invalidf(j.Stamps.ClockSteps > 0 && j.Stamps.Kernel > 0,
		"the wall clock was set during the run, by up to %.3g ms: TTFT and E2EL are void", 1e3*j.Stamps.ClockStep)
	if !j.s.Run.Plan.Stream || j.s.Chunks.Output == 0 || !j.inUserSpace() {
		return
	}
	const words = "instants were taken in user space by a client that "
	switch limit := maxUserLag * j.s.Service.ITL.Median; {
	case j.Lag.Reads > 0:
		j.doubtf(j.Lag.P99 > limit, words+"read late: P99 %.3g ms, the limit is %.3g ms: gaps contain its delay", 1e3*j.Lag.P99, 1e3*limit)
	default:
		j.doubtf(j.busyUser(), words+"used %.0f %% of a processor: gaps contain its delay, which is not known", 100*j.oneCPU())
	}
}

// inUserSpace reports whether enough answers have instants taken in user space to
// matter. Where nothing is said of any, they were.
func (j *judgement) inUserSpace() bool {
	all := j.Stamps.Kernel + j.Stamps.User
	return all == 0 || float64(j.Stamps.User) > maxUserShare*float64(all)
}

// oneCPU is what the process used, in processors.
func (j *judgement) oneCPU() float64 { return j.CPU * float64(j.CPUs) }

func (j *judgement) lasted() bool { return j.s.Duration >= minCPUTime.Seconds() }

func (j *judgement) busyUser() bool { return j.lasted() && j.oneCPU() > maxUserCPU }

// processors judges their use. A client that is busy and yet neither late nor
// dependent on when it reads has spoilt nothing.
func (j *judgement) processors() {
	if j.CPU <= maxCPU || !j.lasted() {
		return
	}
	whose := "this process used"
	embedded := j.s.Run.Env.Embedded
	if embedded {
		whose = "this process and the engine in it used"
	}
	late, _ := j.late()
	merged := j.s.Run.Plan.Stream && j.s.Chunks.MergedShare > boundedFrom
	j.invalidf(late || merged || j.inUserSpace() || embedded, "%s %.0f %% of %s", whose, 100*j.CPU, j.processorsInWords())
}

func (j *judgement) processorsInWords() string {
	if j.CPUs == 1 {
		return "the one processor it could use"
	}
	return fmt.Sprintf("%d processors", j.CPUs)
}

// process judges what else is known of the process.
func (j *judgement) process() {
	j.invalidf(!j.Measured, "the run has no end, so what the client used is not known")
	j.doubtf(j.GCMax > maxGCPause.Seconds(), "the garbage collector paused the client for %.1f ms", 1e3*j.GCMax)
}
