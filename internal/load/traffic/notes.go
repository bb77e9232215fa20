package traffic

import "github.com/pitot-bench/pitot/internal/plan"

// Notes on Pitot's own workloads.
const (
	promptsInexact   plan.Code = "traffic.prompts-inexact"
	promptsUncovered plan.Code = "traffic.prompts-uncovered"
	promptsCut       plan.Code = "traffic.prompts-cut"
	answersCut       plan.Code = "traffic.answers-cut"
	turnsCut         plan.Code = "traffic.turns-cut"
	talksCut         plan.Code = "traffic.talks-cut"
	talksShort       plan.Code = "traffic.talks-short"
	turnsShort       plan.Code = "traffic.turns-short"
	talksOpen        plan.Code = "traffic.talks-open"
	toolResults      plan.Code = "traffic.tool-results"
	traceSorted      plan.Code = "traffic.trace-sorted"
	traceUnit        plan.Code = "traffic.trace-unit"
	traceUnitOdd     plan.Code = "traffic.trace-unit-odd"
	traceShort       plan.Code = "traffic.trace-short"
	traceEmptyRows   plan.Code = "traffic.trace-empty-rows"
	traceThinned     plan.Code = "traffic.trace-thinned"
)
