package result

import (
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Args returns the arguments of its tool that a result reports, by name, formatted as in tables
// (Python writes numbers one way in JSON and another in a Namespace).
func (f *PartialRun) Args(requests int) map[string]string {
	told := map[string]string{}
	for name, text := range f.Origin.Setup {
		if text == "Infinity" {
			text = "inf"
		}
		told[strings.TrimPrefix(name, "args.")] = text
	}
	told["num_prompts"] = strconv.Itoa(requests)
	return told
}

// Synthetic says what is sent of prompts and answers of these lengths, 0 where they are
// not told.
func Synthetic(kind string, input, output int) plan.Message {
	switch {
	case kind == "":
		return plan.Message{}
	case input > 0 && output > 0:
		return workload.Describe(kind, plan.Msg(workload.LoadTokens, "input", input, "output", output))
	}
	return workload.Describe(kind)
}

// At says when requests are sent: at a rate, 0 for all at once, by a process that may not
// be told.
func At(process string, rate float64) plan.Message {
	switch {
	case rate <= 0:
		return plan.Msg(workload.ArriveAtOnce)
	case process == "":
		return plan.Msg(workload.ArriveUnknown, "rate", rate)
	}
	return plan.Msg(workload.ArriveAtRate, "process", plan.Text(process), "rate", rate)
}
