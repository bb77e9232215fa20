package metrics

import (
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Limits beyond which the client counts as in the way. Lateness matters in proportion to the
// measured latencies, and not below 10 ms.
const (
	maxCPU           = 0.90        // of the processors usable
	minCPUTime       = time.Second // over less the share says nothing
	maxLateness      = 10 * time.Millisecond
	maxLatenessShare = 0.05 // of the median E2EL
	maxGCPause       = 10 * time.Millisecond
	maxUnmade        = 0.01 // of the requests, of a client that was late: as many as make the P99 of lateness
	maxWidth         = 0.01 // of the bounds of a percentile, relative to it
)

// Limits for the embedded engine: a token that is late is a gap that is wrong by as much,
// and the next one too.
const (
	maxEngineLag      = 2 * time.Millisecond
	maxEngineLagShare = 0.10 // of the median ITL
)

// Limits beyond which a machine starves the client: it waited in the run queue for so much
// of the time in which it wanted a processor, and others used so many, or had so much of it
// stolen.
const (
	maxStarved = 0.20
	minOthers  = 0.5 // of one processor
	maxSteal   = 0.05
	minSteal   = 0.005 // less is not worth a word
	// The kernel counts in ticks of 10 ms what programs used: over less time than this their share says
	// nothing.
	minTicks = 100 * time.Millisecond
)

// Limits for instants taken in user space. A step of an engine brings a token to
// every stream at once, and the client reads one after the other: a gap is off by
// as much of the step as that takes, which is the share of one processor it uses.
const (
	maxUserShare = 0.01 // of the answers with such instants; fewer move no percentile
	maxUserCPU   = 0.10 // of one processor
	maxUserLag   = 0.05 // of the median ITL, where the kernel's stamps of other answers tell
)

// HeldBack is the reason of a run if most of its answers were buffered on the way.
const HeldBack plan.Code = "verdict.held-back"

// A judgement gathers what speaks against a run.
type judgement struct {
	Health
	s               Summary
	worker          bool // of one machine of a fleet: without doubts about the server
	invalid, doubts []plan.Message
}

// judge is the verdict on a run: invalid where it has no figures, or where the client or
// somebody between it and the server decided some of them, doubtful where they are less
// sure than they look.
func judge(h Health, s Summary) trace.Verdict {
	j := &judgement{Health: h, s: s}
	j.answers()
	j.incomplete()
	j.tokens()
	j.stalls()
	j.conditions()
	j.resources()
	j.fleet()
	j.client()
	j.engine()
	j.blame()
	return j.verdict()
}

// client judges the load generator.
func (j *judgement) client() {
	j.sending()
	j.merging()
	j.stamps()
	j.processors()
	j.process()
}

// verdict is what the reasons come to.
func (j *judgement) verdict() trace.Verdict {
	v := trace.Verdict{Validity: trace.Valid, Reasons: append(j.invalid, j.doubts...)}
	switch {
	case len(j.invalid) > 0:
		v.Validity = trace.Invalid
	case len(j.doubts) > 0:
		v.Validity = trace.Doubtful
	}
	e := Explain(v)
	v.Reasons = append(e.Causes, e.Effects...)
	return v
}

func (j *judgement) invalidIf(cond bool, code plan.Code, args ...any) {
	if cond {
		j.invalid = append(j.invalid, plan.Msg(code, args...))
	}
}

func (j *judgement) doubtIf(cond bool, code plan.Code, args ...any) {
	if cond {
		j.doubts = append(j.doubts, plan.Msg(code, args...))
	}
}

// answers judges a run without any.
func (j *judgement) answers() {
	if q := j.s.Requests; q.Unanswered() {
		j.invalidIf(true, "verdict.none-answered", "requests", q.Failed, "why", plan.Msg(q.Classes[0].Class.Code()), "status", q.Classes[0].Status)
	}
}

// maxHarm is the share by which a standstill of the first wave may move throughput or waits, and
// by which the share of a run that stalls make up may differ between runs.
const maxHarm = 0.05

// maxUnseen is the share of answers with unseen tokens above which TPOT is in doubt.
const maxUnseen = 0.05

// tokens judges the counts of the output, and whether all of it was read.
func (j *judgement) tokens() {
	if j.worker {
		return
	}
	t := j.s.Tokens
	j.doubtIf(t.Lost > 0, "verdict.tokens-lost", "requests", t.Lost)
	j.doubtIf(t.Unread > 0, "verdict.output-unread", "answers", t.Unread, "member", t.UnreadName)
	j.doubtIf(float64(t.Unseen) > maxUnseen*float64(j.s.Requests.OK), "verdict.tokens-unseen", "answers", t.Unseen)
}

// stalls judges figures of the whole run that contain the start of the server, or what chance
// decides: stalls that are few and long.
func (j *judgement) stalls() {
	for _, s := range j.s.Standstills {
		j.doubtIf(s.Harm > maxHarm, "verdict.first-wave", s.args()...)
	}
	if u := j.s.Unstalled; u != nil && !j.HeldBack && !j.worker {
		c := u.Chance
		j.doubtIf(u.random() > maxHarm, "verdict.stalled", "times", c.Times, "length", c.Length, "share", c.Share, "rate", c.Rate)
	}
}

// late is whether requests left late, and the limit.
func (j *judgement) late() (late bool, limit float64) {
	limit = max(maxLateness.Seconds(), maxLatenessShare*j.s.Service.E2EL.Median)
	return j.Lateness.At(99) > limit, limit
}

func (j *judgement) sending() {
	late, limit := j.late()
	j.invalidIf(late, "verdict.sent-late", "p99", j.Lateness.At(99), "limit", limit)
	unmade := j.s.Run.Client.Unmade
	j.doubtIf(late && float64(unmade) > maxUnmade*float64(j.s.Requests.Sent), "verdict.made-late", "requests", unmade, "longest", j.s.Run.Client.UnmadeMax.Seconds())
	for _, c := range j.s.Requests.Classes {
		j.invalidIf(c.Class == trace.Files || c.Class == trace.Ports, "verdict.ran-out", "requests", c.Count, "why", plan.Msg(c.Class.Code()))
	}
}

// merging judges the chunks without an instant of their own. Without the kernel's
// stamps a client that has little to do cannot tell whether it was late or the
// server wrote them together.
func (j *judgement) merging() {
	if j.HeldBack {
		j.invalidIf(!j.worker, HeldBack, "share", j.s.Buffering.share(), "chunks", j.s.Buffering.Burst, "by", j.s.Run.Env.ServedBy)
		return
	}
	j.doubtIf(j.arriveUnstreamed(), "verdict.arrive-whole", "share", j.s.Buffering.unstreamedShare(), "by", j.s.Run.Env.ServedBy)
	share := j.s.Chunks.MergedShare
	switch {
	case !j.s.Run.Plan.Stream || share <= boundedFrom:
	case share > invalidFrom && (!j.inUserSpace() || j.busyUser()):
		j.invalidIf(true, "verdict.itl-void", "share", share)
	case j.inUserSpace():
		j.doubtIf(true, "verdict.merged-somewhere", "share", share)
	default:
		j.doubtIf(j.s.Service.ITL.wide(), "verdict.itl-bounded", "share", share)
	}
	j.doubtIf(j.s.Service.TTFT.wide(), "verdict.ttft-bounded")
	j.doubtIf(j.s.Service.TPOT.wide(), "verdict.tpot-bounded")
}

// stamps judges the source of the instants: kernel or user space.
func (j *judgement) stamps() {
	j.invalidIf(j.clockSet() && j.Stamps.Kernel > 0, "verdict.clock-set", "step", j.Stamps.ClockStep)
	if !j.s.Run.Plan.Stream || j.s.Chunks.Output == 0 || !j.inUserSpace() {
		return
	}
	switch limit := maxUserLag * j.s.Service.ITL.Median; {
	case j.s.Service.ITL.N == 0: // no gap that could contain it
	case j.Lag.Reads > 0:
		j.doubtIf(j.Lag.P99 > limit, "verdict.user-late", "p99", j.Lag.P99, "limit", limit)
	default:
		j.doubtIf(j.busyUser(), "verdict.user-busy", "share", j.oneCPU())
	}
}

// inUserSpace reports whether enough answers have instants taken in user space to
// matter. If unknown, they were.
func (j *judgement) inUserSpace() bool {
	all := j.Stamps.Kernel + j.Stamps.User
	return all == 0 || float64(j.Stamps.User) > maxUserShare*float64(all)
}

// oneCPU is what the process used, in processors; of a fleet its busiest.
func (j *judgement) oneCPU() float64 {
	if j.s.Run.Fleet != nil {
		return j.busiest()
	}
	return j.CPU * float64(j.CPUs)
}

func (j *judgement) lasted() bool { return j.s.Duration >= minCPUTime.Seconds() }

func (j *judgement) busyUser() bool { return j.lasted() && j.oneCPU() > maxUserCPU }

// processors judges their use. A client that is busy and yet neither late nor
// dependent on when it reads has spoilt nothing.
func (j *judgement) processors() {
	if j.CPU <= maxCPU || !j.lasted() {
		return
	}
	embedded := j.s.Run.Env.Embedded
	late, _ := j.late()
	merged := j.s.Run.Plan.Stream && j.s.Chunks.MergedShare > boundedFrom
	switch visible := late || merged || j.inUserSpace() || embedded; {
	case j.s.Run.Fleet != nil:
		j.invalidIf(visible, "verdict.workers-busy", "share", j.CPU, "processors", j.CPUs)
	default:
		j.invalidIf(visible, "verdict.processors-busy", "engine", embedded, "share", j.CPU, "processors", j.CPUs)
	}
}

// process judges what else is known of the process.
func (j *judgement) process() {
	j.invalidIf(!j.Measured, "verdict.no-end")
	j.doubtIf(j.GCMax > maxGCPause.Seconds() && j.s.Run.Fleet == nil, "verdict.collector-paused", "pause", j.GCMax)
}

// engine judges how late the embedded engine wrote its tokens.
func (j *judgement) engine() {
	limit := max(maxEngineLag.Seconds(), maxEngineLagShare*j.s.Service.ITL.Median)
	p99 := j.s.Run.Client.EngineLag.P99.Seconds()
	j.invalidIf(p99 > limit, "verdict.engine-late", "p99", p99, "limit", limit)
}

// slow are the reasons that a client gives that came too late to a processor, whether it was
// busy or had to wait for one.
var slow = []plan.Code{
	"verdict.sent-late", "verdict.itl-void", "verdict.merged-somewhere", "verdict.itl-bounded", "verdict.ttft-bounded", "verdict.tpot-bounded",
	"verdict.user-late", "verdict.engine-late",
}

// blame says of a client that was late whether others starved it, if that is known. Of a fleet
// the verdicts of the workers say it.
func (j *judgement) blame() {
	late := func(m plan.Message) bool { return slices.Contains(slow, m.Code) }
	c, starved := j.s.Run.Client.Contention, starvation(j.s.Run.Client)
	if j.s.Run.Fleet != nil || starved < 0 || !slices.ContainsFunc(append(j.invalid, j.doubts...), late) {
		return
	}
	others, steal := c.Others*float64(max(1, j.s.Run.Env.CPUs)), c.Steal
	if steal < minSteal {
		steal = 0
	}
	switch known := c.Others >= 0 && c.Steal >= 0 && j.s.Duration >= minTicks.Seconds(); {
	case known && (starved > maxStarved && others > minOthers || c.Steal > maxSteal):
		j.doubtIf(true, "verdict.starved", "share", starved, "others", c.Others, "steal", steal, "pressure", max(0, c.Pressure))
	case known:
		j.doubtIf(true, "verdict.not-starved", "share", starved)
	default:
		j.doubtIf(starved > maxStarved, "verdict.starved-unknown", "share", starved, "pressure", max(0, c.Pressure))
	}
}

// starvation is the share of the time in which the client wanted a processor that it waited
// for one, negative if that is not known.
func starvation(c trace.Client) float64 {
	if c.Contention == nil || c.Contention.Waited < 0 || c.CPU <= 0 {
		return -1
	}
	return c.Contention.Waited.Seconds() / (c.Contention.Waited + c.CPU).Seconds()
}
