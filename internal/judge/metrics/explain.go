package metrics

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// An Explanation is a verdict in the order in which a reader needs it: why, what to do, and what it did to
// the figures.
type Explanation struct {
	Causes   []plan.Message `json:"causes"`
	Remedies []plan.Message `json:"remedies,omitempty"`
	Effects  []plan.Message `json:"effects,omitempty"`
}

// Explain puts the reasons of a verdict in order. What a late client did to the figures is an effect where
// something says why it was late, and else all that is known.
func Explain(v trace.Verdict) (e Explanation) {
	known := slices.ContainsFunc(v.Reasons, func(m plan.Message) bool { return slices.Contains(whySlow, m.Code) })
	for _, m := range v.Reasons {
		switch {
		case known && slices.Contains(slow, m.Code):
			e.Effects = append(e.Effects, m)
			continue
		case slices.Contains(whySlow, m.Code) && known:
			e.Causes = slices.Insert(e.Causes, 0, m)
		default:
			e.Causes = append(e.Causes, m)
		}
	}
	for _, m := range e.Causes {
		remedy := plan.Message{Code: remedies[m.Code]}
		if remedy.Code != "" && !slices.ContainsFunc(e.Remedies, func(m plan.Message) bool { return m.Code == remedy.Code }) {
			e.Remedies = append(e.Remedies, remedy)
		}
	}
	return e
}

// Invalid is why a run with this verdict is no evidence, as data: causes, remedies and effects apart.
func Invalid(v trace.Verdict) plan.Message {
	e := Explain(v)
	return plan.Msg(invalidRun, "causes", e.Causes, "remedies", e.Remedies, "effects", e.Effects)
}

// ExplainLoss puts in order why a leg, or a run of a search, is no evidence.
func ExplainLoss(why plan.Message) Explanation {
	list := func(name string) (all []plan.Message) {
		switch of := why.Args[name].(type) {
		case []plan.Message:
			return of
		case []string:
			for _, text := range of {
				all = append(all, plan.Text(text))
			}
		}
		return all
	}
	switch {
	case why.Code != invalidRun:
		return Explain(trace.Verdict{Reasons: []plan.Message{why}})
	case why.Args["reasons"] != nil: // of a run stored without remedies
		return ExplainLoss(Invalid(trace.Verdict{Reasons: list("reasons")}))
	}
	e := Explanation{Remedies: list("remedies"), Effects: list("effects")}
	e.Causes = []plan.Message{plan.Msg(invalidRun, "causes", list("causes"))}
	return e
}

const invalidRun plan.Code = "experiment.leg-invalid"

// whySlow are the reasons for which a client, or the engine in it, comes late to a processor.
var whySlow = []plan.Code{
	"verdict.starved", "verdict.starved-unknown", "verdict.not-starved", "verdict.processors-busy", "verdict.workers-busy",
	"verdict.collector-paused", "verdict.made-late",
}

// remedies are what a reader can do about reasons; empty: nothing but to know it.
var remedies = map[plan.Code]plan.Code{
	"experiment.leg-unanswered": "remedy.failures",
	"experiment.server-failed":  "remedy.server-log",
	"experiment.server-died":    "remedy.server-log",
	"verdict.none-answered":     "remedy.failures",
	"verdict.sent-late":         "remedy.client",
	"verdict.ran-out":           "remedy.sockets",
	"verdict.itl-void":          "remedy.client",
	HeldBack:                    "remedy.buffering",
	"verdict.arrive-whole":      "remedy.buffering",
	"verdict.tokens-lost":       "remedy.tokenizer",
	"verdict.output-unread":     "",
	"verdict.tokens-unseen":     "",
	"verdict.merged-somewhere":  "remedy.client",
	"verdict.itl-bounded":       "remedy.client",
	"verdict.ttft-bounded":      "remedy.client",
	"verdict.tpot-bounded":      "remedy.client",
	"verdict.clock-set":         "remedy.clock",
	"verdict.user-late":         "remedy.client",
	"verdict.user-busy":         "remedy.client",
	"verdict.processors-busy":   "remedy.client",
	"verdict.engine-late":       "remedy.engine",
	"verdict.starved":           "remedy.machine",
	"verdict.starved-unknown":   "remedy.machine",
	"verdict.not-starved":       "remedy.client",
	"verdict.cache-not-cold":    "remedy.cold",
	"verdict.cache-not-primed":  "remedy.primed",
	"verdict.first-wave":        "remedy.warm",
	"verdict.stalled":           "remedy.stalled",
	"verdict.never-steady":      "remedy.warm-longer",
	"verdict.throttled":         "remedy.device",
	"verdict.unhealthy":         "remedy.device",
	"verdict.device-shared":     "remedy.device-shared",
	"verdict.preempted":         "remedy.fewer",
	"verdict.server-restarted":  "remedy.server",
	"verdict.no-end":            "remedy.again",
	trace.Incomplete:            "",
	"verdict.collector-paused":  "remedy.machine",
	"verdict.made-late":         "remedy.made-late",
	"verdict.workers-busy":      "remedy.workers",
	"verdict.workers-lost":      "remedy.worker-table",
	"verdict.workers-invalid":   "remedy.worker-table",
	"verdict.workers-doubtful":  "remedy.worker-table",
	"verdict.workers-stepped":   "remedy.again",
	"verdict.workers-apart":     "",
}
