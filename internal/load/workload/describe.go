package workload

import (
	"fmt"
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
)

// What is sent and when, in the words of show/words, as far as kinds of several packages
// say it.
const (
	LoadOf         plan.Code = "load.of"     // kind, parts
	LoadTokens     plan.Code = "load.tokens" // input, output
	LoadInputs     plan.Code = "load.inputs" // input
	LoadPrefix     plan.Code = "load.prefix" // tokens
	ArriveAtOnce   plan.Code = "arrival.at-once"
	ArriveAtRate   plan.Code = "arrival.at-rate" // process, rate
	ArriveUntold   plan.Code = "arrival.untold"  // rate, of a process that nobody told
	ArriveOwnTimes plan.Code = "arrival.own-times"
	ArrivePoisson  plan.Code = "arrival.poisson"
	ArriveConstant plan.Code = "arrival.constant"
	ArriveGamma    plan.Code = "arrival.gamma" // burstiness
)

// Describe says what a dataset of a kind sends. Parts that say nothing are left out.
func Describe(kind string, parts ...plan.Message) plan.Message {
	parts = slices.DeleteFunc(parts, plan.Message.IsZero)
	return plan.Say(LoadOf, "kind", kind, "parts", parts)
}

// Within is a length with the share by which it may differ.
func Within(length any, share float64) string {
	if share == 0 {
		return fmt.Sprint(length)
	}
	return fmt.Sprintf("%v±%.4g %%", length, 100*share)
}

// NeedText is the error of prompts that would be token ids where they must be text: several
// in a request, or of a protocol that takes nothing else.
func (s *Source) NeedText(several bool) error {
	if s.Tokens != nil || !s.Ask.Text && !several {
		return nil
	}
	return fmt.Errorf("the protocol %s takes no token ids here, and there is no tokenizer to turn them into text; name a tokenizer, or use the protocol completions", s.Ask.Protocol)
}
