package workload

import (
	"fmt"
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Descriptions of datasets and arrivals that several packages use, in the words of
// show/words.
const (
	LoadOf         plan.Code = "load.of"     // kind, parts
	LoadTokens     plan.Code = "load.tokens" // input, output
	LoadInputs     plan.Code = "load.inputs" // input
	LoadPrefix     plan.Code = "load.prefix" // tokens
	loadAbout      plan.Code = "load.about"  // tokens, share
	ArriveAtOnce   plan.Code = "arrival.at-once"
	ArriveRecorded plan.Code = "arrival.recorded" // with the dataset
	ArriveAtRate   plan.Code = "arrival.at-rate"  // process, rate
	ArriveUnknown  plan.Code = "arrival.untold"   // rate, of an unknown process

	arrivePoisson   plan.Code = "arrival.poisson"  // rate
	arriveConstant  plan.Code = "arrival.constant" // rate
	arriveGamma     plan.Code = "arrival.gamma"    // burstiness, rate
	arriveRamp      plan.Code = "arrival.ramp"     // process, ramp, position
	processPoisson  plan.Code = "arrival.process-poisson"
	processConstant plan.Code = "arrival.process-constant"
	processGamma    plan.Code = "arrival.process-gamma" // burstiness
)

// Describe describes a dataset of a kind. Empty parts are left out.
func Describe(kind string, parts ...plan.Message) plan.Message {
	parts = slices.DeleteFunc(parts, plan.Message.IsZero)
	return plan.Msg(LoadOf, "kind", kind, "parts", parts)
}

// WithRange is a length with its relative range, as an argument of a message.
func WithRange(length any, share float64) any {
	if share == 0 {
		return length
	}
	return plan.Msg(loadAbout, "tokens", length, "share", share)
}

// Paced describes arrivals at a rate, in requests per second, with gaps of a gamma
// distribution of this shape: 1 is a Poisson process, 0 stands for even gaps.
func Paced(burstiness, rate float64) plan.Message {
	switch burstiness {
	case 0:
		return plan.Msg(arriveConstant, "rate", rate)
	case 1:
		return plan.Msg(arrivePoisson, "rate", rate)
	}
	return plan.Msg(arriveGamma, "burstiness", burstiness, "rate", rate)
}

// Ramped describes a rate that changes with time or with the position of a request:
// SHAPE:FROM..TO, in requests per second.
func Ramped(burstiness float64, ramp string, position bool) plan.Message {
	process := plan.Msg(processGamma, "burstiness", burstiness)
	switch burstiness {
	case 0:
		process = plan.Msg(processConstant)
	case 1:
		process = plan.Msg(processPoisson)
	}
	return plan.Msg(arriveRamp, "process", process, "ramp", ramp, "position", position)
}

// NeedText is the problem of prompts that would be token ids and must be text: several in a
// request, or for a protocol without token ids.
func (s *Source) NeedText(several bool) error {
	if s.Tokens != nil || !s.Ask.Text && !several {
		return nil
	}
	return plan.Problems{{
		Why: fmt.Sprintf("the protocol %s takes no token ids here, and there is no tokenizer to turn them into text",
			s.Ask.Protocol),
		Hint: "name a tokenizer, or use the protocol completions",
	}}
}
