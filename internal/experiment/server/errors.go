package server

import (
	"fmt"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

func notInstalled(program string) error {
	return fmt.Errorf("%s is not installed here: not found on PATH", program)
}

// A TakenError is a port that something answers on before the server is started.
type TakenError struct {
	URL, Port string
	Holder    string // the process, empty if the system does not tell
}

func (e *TakenError) Error() string {
	text := fmt.Sprintf("port %s is taken: something answers at %s before the server is started", e.Port, e.URL)
	if e.Holder != "" {
		text += ": " + e.Holder
	}
	return text + "; end it, or choose another port"
}

// Message is the error for a catalogue.
func (e *TakenError) Message() plan.Message {
	return plan.Msg("server.port-taken", "port", e.Port, "url", e.URL, "holder", e.Holder)
}

// An End is how a server ended by itself.
type End struct {
	Exit  *proc.Exit    `json:"exit,omitempty"` // nil: it has not ended
	After time.Duration `json:"after_ns,omitempty"`
	Lines []string      `json:"lines,omitempty"` // the last of its log, at most ten
	// Left is the number of processes that it left behind.
	Left int `json:"left,omitempty"`
}

// Message is the end for a catalogue.
func (e End) Message() plan.Message {
	if e.Exit == nil {
		return plan.Message{}
	}
	how := plan.Msg("server.exit-code", "code", e.Exit.Code)
	if e.Exit.Signal != "" {
		how = plan.Msg("server.exit-signal", "signal", e.Exit.Signal)
	}
	return plan.Msg("server.ended", "how", how, "after", rounded(e.After), "left", e.Left, "lines", e.Lines)
}

// An EndedError is a server that ended by itself.
type EndedError struct{ End }

func (e *EndedError) Error() string {
	text := fmt.Sprintf("the server ended by itself after %s with %s", rounded(e.After), e.Exit)
	if e.Left > 0 {
		text += fmt.Sprintf(", and left %d processes behind: its command must stay in the foreground", e.Left)
	}
	return text + logged(e.Lines)
}

// A NotReadyError is a server that was not ready in its time.
type NotReadyError struct {
	URL    string // the route that was asked
	Limit  time.Duration
	Answer string // the last one, or why there was none
	Lines  []string
}

func (e *NotReadyError) Error() string {
	return fmt.Sprintf("the server was not ready within %s (ready_timeout): %s: %s%s", e.Limit, e.URL, e.Answer, logged(e.Lines))
}

// Message is the error for a catalogue.
func (e *NotReadyError) Message() plan.Message {
	return plan.Msg("server.not-ready", "url", e.URL, "limit", e.Limit, "answer", e.Answer, "lines", e.Lines)
}

// logged is the end of a log in an error.
func logged(lines []string) string {
	if len(lines) == 0 {
		return "; its log is empty"
	}
	return "; the last lines of its log:\n\t" + strings.Join(lines, "\n\t")
}

func rounded(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}
