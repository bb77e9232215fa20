package server

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// Options are for the start of a server, in addition to its settings.
type Options struct {
	URL string // where it will answer
	// Log is the file for its output, which is appended to and bounded. Each start has another one: processes are
	// also found by the file that they write to.
	Log string
	// TrimCommand is the command line of this program that calls proc.TrimLog; nil: nothing keeps the log
	// short after this process was killed.
	TrimCommand []string
	// Baseline is the state before the first start, so that leftovers of one start do not count as the state before
	// the next; nil: Start looks.
	Baseline *Baseline
	// SaveHandle stores the handle, in place of an earlier one of the same start. It is called before the server begins,
	// and again with more details.
	SaveHandle func(Handle) error
	// OnWait receives the current wait; may be nil.
	OnWait func(plan.Message)
	// Hurry ends all waiting when it is closed: a second interrupt. Processes are killed
	// without being asked, and nothing is verified.
	Hurry <-chan struct{}
	// Secrets are those known so far, to which Start adds those of the server; nil: none yet.
	Secrets *secret.Set
	HTTP    *http.Client // for the route that answers when it is up; nil: a direct one
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	Waits   Waits
}

// Waits are intervals and limits, for those that are not settings of a server. Zero values
// stand for the ones given here.
type Waits struct {
	Poll    time.Duration // between two looks: 100 ms
	Verify  time.Duration // for port and device memory after the end: 1 min, and 5 s if ctx has ended
	Killed  time.Duration // for processes to be gone that were killed: 10 s
	Command time.Duration // for a command such as `docker rm`: 2 min
	Respond time.Duration // for a connection, and for an answer of a route: 10 s
}

// The waits that are settings of a server.
const (
	readyTimeout = 30 * time.Minute
	stopTimeout  = time.Minute
)

func (o Options) withDefaults() Options {
	w := &o.Waits
	w.Poll = cmp.Or(w.Poll, 100*time.Millisecond)
	w.Verify = cmp.Or(w.Verify, time.Minute)
	w.Killed = cmp.Or(w.Killed, 10*time.Second)
	w.Command = cmp.Or(w.Command, 2*time.Minute)
	w.Respond = cmp.Or(w.Respond, 10*time.Second)
	if o.Secrets == nil {
		o.Secrets = &secret.Set{}
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{Transport: &http.Transport{DialContext: o.Dial, DisableKeepAlives: true}}
	}
	return o
}

func (o Options) warn(code plan.Code, args ...any) {
	if o.OnWait != nil {
		o.OnWait(plan.Msg(code, args...).Map(o.clean))
	}
}

// clean is a text of others without secrets, those that are known and those that look like
// one.
func (o Options) clean(text string) string { return secret.Mask(o.Secrets.Hide(text)) }

func (o Options) cleanAll(lines []string) []string {
	for i := range lines {
		lines[i] = o.clean(lines[i])
	}
	return lines
}

// Secrets are those in the settings of a server.
func Secrets(s design.ServerSetup) (all []string) {
	for name, value := range s.Env {
		if secret.Setting(name) {
			all = append(all, secret.InHeader(value)...)
		}
		all = append(all, secret.Find(value)...)
	}
	for _, line := range []string{s.Command, s.Options} {
		all = append(all, secret.InArgs(Words(line))...)
	}
	return all
}

// output runs a short command.
func (o Options) output(ctx context.Context, q proc.Question) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Waits.Command)
	defer cancel()
	out, err := proc.Ask(ctx, q)
	return out, o.Secrets.Error(err)
}

// until polls until done reports true; false if the limit ended, or the user is in a hurry.
func (o Options) until(limit time.Duration, done func() bool) bool {
	end := time.NewTimer(limit)
	defer end.Stop()
	tick := time.NewTicker(o.Waits.Poll)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-end.C:
			return done()
		case <-o.Hurry:
			return done()
		}
	}
	return true
}

func (o Options) hurried() bool {
	select {
	case <-o.Hurry:
		return true
	default:
		return false
	}
}

func address(base string) (host, port string, err error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", "", err
	}
	ports := map[string]string{"http": "80", "https": "443"}
	return u.Hostname(), cmp.Or(u.Port(), ports[u.Scheme]), nil
}
