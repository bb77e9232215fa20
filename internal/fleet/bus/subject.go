package bus

import (
	"fmt"
	"strings"
)

// Everybody is the subject of questions to all workers.
const Everybody = "pitot.fleet.who"

// A Verb is a kind of question to one worker.
type Verb string

// The verbs, each a subject of a worker.
const (
	Order Verb = "order" // fleet.Order
	Poll  Verb = "poll"  // answered by fleet.Readiness
	Start Verb = "start" // fleet.Start
	Beat  Verb = "beat"  // fleet.Beat, answered by fleet.Pulse
)

// SubjectOf is the subject of a verb of one worker: pitot.worker.ID.VERB.
func SubjectOf(worker string, verb Verb) string {
	return "pitot.worker." + worker + "." + string(verb)
}

// checkSubject refuses a subject that is none, or one of several: the id of a worker comes from
// the network.
func checkSubject(subject string) error {
	ok := len(subject) <= 256
	for token := range strings.SplitSeq(subject, ".") {
		ok = ok && token != "" && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '*' || r == '>' })
	}
	if !ok {
		return fmt.Errorf("%q is not the subject of one receiver", short(subject))
	}
	return nil
}
