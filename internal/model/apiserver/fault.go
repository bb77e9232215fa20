package apiserver

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/plan"
)

// The fatal faults: at most one strikes a request, and it never ends well.
// "After" marks those that strike once AfterTokens tokens have been written,
// or all of them if there are fewer; until then no finish reason is sent.
const (
	FaultRefuse      = "refuse"       // the listener is closed for Share of every 50 ms: ECONNREFUSED
	FaultReset       = "reset"        // After: the connection is reset; at 0, before any response byte
	FaultStall       = "stall"        // After: nothing more comes until the client leaves or StallLimit
	FaultTruncate    = "truncate"     // After: the response ends cleanly, but unfinished
	FaultCut         = "cut"          // After: the connection closes in the middle of an event
	FaultStreamError = "stream-error" // After: an error event, then [DONE]
	FaultMalformed   = "malformed"    // After: one event is broken JSON, then the stream goes on
	FaultHTTP429     = "http-429"     // refused with this status and a JSON error
	FaultHTTP500     = "http-500"
	FaultHTTP503     = "http-503"
)

// The variations: unusual but correct, to be survived. They combine.
const (
	FaultComments   = "comments"    // SSE comment lines between events
	FaultCRLF       = "crlf"        // lines end in CR LF
	FaultSplit      = "split"       // each write is cut at random bytes into several flushed ones
	FaultBatch      = "batch"       // several events in one write
	FaultNoUsage    = "no-usage"    // no usage, though it was asked for
	FaultNoDone     = "no-done"     // no [DONE]
	FaultMultiToken = "multi-token" // several tokens in one event
	FaultEarlyRole  = "early-role"  // chat: the role chunk comes before the first token
)

// A Fault makes a share of the requests go wrong. Which ones depends only on
// the server's seed, the fault's name and AfterTokens, and the request's
// arrival number; each fault is drawn on its own. FaultRefuse is the exception:
// it concerns connections, not requests.
//
// Its text form is name=share or name=share@tokens, as in reset=0.05@10.
type Fault struct {
	Name        string
	Share       float64 // of the requests, 0 to 1
	AfterTokens int     // see the constants; 0 where it has no meaning
}

// ParseFault reads the text form of a Fault and checks it.
func ParseFault(s string) (Fault, error) {
	name, rest, ok := strings.Cut(s, "=")
	if !ok {
		return Fault{}, fmt.Errorf("fault %q: want name=share or name=share@tokens", s)
	}
	f := Fault{Name: strings.TrimSpace(name)}
	share, tokens, after := strings.Cut(rest, "@")
	var err error
	if f.Share, err = strconv.ParseFloat(strings.TrimSpace(share), 64); err != nil {
		return Fault{}, fmt.Errorf("fault %q: share %q is not a number", s, share)
	}
	if after {
		if f.AfterTokens, err = strconv.Atoi(strings.TrimSpace(tokens)); err != nil {
			return Fault{}, fmt.Errorf("fault %q: tokens %q is not a whole number", s, tokens)
		}
	}
	return f, f.Validate()
}

// Validate reports everything wrong with f.
func (f Fault) Validate() error {
	k, ok := kindOf(f.Name)
	if !ok {
		names := FaultNames()
		return fmt.Errorf("unknown fault %q%s; allowed: %s", f.Name, plan.Suggest(f.Name, names), strings.Join(names, ", "))
	}
	var errs []error
	if f.Share < 0 || f.Share > 1 || math.IsNaN(f.Share) {
		errs = append(errs, fmt.Errorf("fault %s: share %v is not between 0 and 1", f.Name, f.Share))
	}
	switch {
	case f.AfterTokens < 0:
		errs = append(errs, fmt.Errorf("fault %s: tokens %d is negative", f.Name, f.AfterTokens))
	case f.AfterTokens > 0 && !k.after:
		errs = append(errs, fmt.Errorf("fault %s: it does not strike a stream, so it takes no @tokens", f.Name))
	}
	return errors.Join(errs...)
}

// String is the text form.
func (f Fault) String() string {
	s := f.Name + "=" + strconv.FormatFloat(f.Share, 'g', -1, 64)
	if f.AfterTokens != 0 {
		s += "@" + strconv.Itoa(f.AfterTokens)
	}
	return s
}

// MarshalText gives the text form.
func (f Fault) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads the text form.
func (f *Fault) UnmarshalText(text []byte) (err error) {
	*f, err = ParseFault(string(text))
	return err
}

// FaultNames lists every fault, the fatal ones first.
func FaultNames() (names []string) {
	for _, k := range faultKinds {
		names = append(names, k.name)
	}
	return names
}

type faultKind struct {
	name   string
	fatal  bool
	after  bool // AfterTokens has a meaning
	status int  // of HTTP, with which the request is refused; 0: it is not
}

var faultKinds = []faultKind{
	{FaultRefuse, true, false, 0},
	{FaultReset, true, true, 0},
	{FaultStall, true, true, 0},
	{FaultTruncate, true, true, 0},
	{FaultCut, true, true, 0},
	{FaultStreamError, true, true, 0},
	{FaultMalformed, true, true, 0},
	{FaultHTTP429, true, false, http.StatusTooManyRequests},
	{FaultHTTP500, true, false, http.StatusInternalServerError},
	{FaultHTTP503, true, false, http.StatusServiceUnavailable},
	{FaultComments, false, false, 0},
	{FaultCRLF, false, false, 0},
	{FaultSplit, false, false, 0},
	{FaultBatch, false, false, 0},
	{FaultNoUsage, false, false, 0},
	{FaultNoDone, false, false, 0},
	{FaultMultiToken, false, false, 0},
	{FaultEarlyRole, false, false, 0},
}

func kindOf(name string) (faultKind, bool) {
	i := slices.IndexFunc(faultKinds, func(k faultKind) bool { return k.name == name })
	if i < 0 {
		return faultKind{}, false
	}
	return faultKinds[i], true
}

// hits tells whether f falls on the request with this number of arrival.
func (f Fault) hits(seed, number uint64) bool {
	dice := arrival.Dice(seed, f.Name+"@"+strconv.Itoa(f.AfterTokens), number)
	return arrival.Unit(dice.Uint64()) < f.Share
}

// A drawnFaults is what the draw dealt one request.
type drawnFaults struct {
	fatal      *Fault // nil for none
	variations []string
}

// deal draws the faults of one request; refuse is not among them.
func deal(faults []Fault, seed, arrival uint64) drawnFaults {
	var l drawnFaults
	for i, f := range faults {
		if f.Name == FaultRefuse || !f.hits(seed, arrival) {
			continue
		}
		switch k, _ := kindOf(f.Name); {
		case !k.fatal:
			l.variations = append(l.variations, f.Name)
		case l.fatal == nil:
			l.fatal = &faults[i]
		}
	}
	return l
}

// refuseShare is the share of time during which connections are refused.
func refuseShare(faults []Fault) float64 {
	var share float64
	for _, f := range faults {
		if f.Name == FaultRefuse {
			share = max(share, f.Share)
		}
	}
	return share
}
