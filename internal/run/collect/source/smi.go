package source

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
)

type smiKind struct {
	name  string
	means bool // power is a mean of some time
	// answers asks whether there are devices; its output is not read.
	answers []string
	// forms are those to try in turn. ask runs a short command where the program runs.
	forms func(every time.Duration, ask func(args ...string) string) []form
}

// A form is a command line with how its output is read.
type form struct {
	args   []string
	period time.Duration // between two samples of a device
	read   func(text string) row
	// question is a command that asks for more, from time to time, on the same connection; nil: there is none.
	question func() string
	// answer reads the answer to it.
	answer func(text string) row
}

type row struct {
	stamp  time.Time // by the wall clock of the host; zero: none
	values []collect.Value
	// strange means that it should have values, known that it is a heading, or of a
	// device of which perhaps nothing is known.
	strange, known bool
	unread         string // of an answer: a line of unknown form
}

var kinds = []smiKind{nvidia, ascend, smiAmd}

// Programs are the names of the programs.
func Programs() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// Devices samples the devices of one host through one program.
type Devices struct {
	kind smiKind
	host string
	// Start and Ask run the program and short commands; nil: here or through ssh.
	Start func(args []string) (collect.Process, error)
	Ask   func(ctx context.Context, args ...string) (string, error)
	Feed  collect.Feed // its waits; those that are 0 have defaults
}

// NewSMI samples through a program on a host, which is empty for this machine.
func NewSMI(program, host string) (*Devices, error) {
	for _, k := range kinds {
		if k.name == program {
			return &Devices{kind: k, host: host}, nil
		}
	}
	return nil, errors.New("no such program: " + program + "; known are " + strings.Join(Programs(), ", "))
}

// Answers reports whether the program is there and knows of devices. It asks for at most 5 s.
func (d *Devices) Answers(ctx context.Context) bool {
	return strings.TrimSpace(d.ask(ctx, d.kind.answers...)) != ""
}

// OptionalDevices samples Devices if there are some. Where there are none, or the program does not answer
// in time, it ends without an error. The run does not wait for it: the source joins late.
type OptionalDevices struct{ *Devices }

// Collect asks whether there are devices, and then is that of Devices.
func (d OptionalDevices) Collect(ctx context.Context, every time.Duration, give func(collect.Reading)) error {
	if !d.Answers(ctx) {
		return nil
	}
	return d.Devices.Collect(ctx, every, give)
}

// ask is the output of a short command, empty if it fails.
func (d *Devices) ask(ctx context.Context, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, collect.AskLimit)
	defer cancel()
	ask := d.Ask
	if ask == nil {
		ask = func(ctx context.Context, args ...string) (string, error) { return collect.Ask(ctx, d.host, args...) }
	}
	out, err := ask(ctx, args...)
	if err != nil {
		return ""
	}
	return out
}

// Describe is the source.
func (d *Devices) Describe() telemetry.Source {
	s := telemetry.Source{Name: collect.Name(d.kind.name, d.host), Via: d.kind.name, Host: d.host, Means: d.kind.means}
	if d.host != "" {
		s.Via = "ssh " + d.host + ": " + d.kind.name
	}
	return s
}

// rounds are how often all forms are tried before a program is given up: that one gave nothing
// may be due to the connection, or to a driver that is being loaded.
const rounds = 3

// Collect runs the program. It reads at least once in the period, where the program can.
func (d *Devices) Collect(ctx context.Context, every time.Duration, give func(collect.Reading)) (err error) {
	wait := max(d.Feed.Wait, collect.FirstWait)
	for round := range rounds {
		if round > 0 {
			give(collect.Reading{Trouble: collect.Why(err)})
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return nil
			}
			wait *= 2
		}
		for _, f := range d.kind.forms(every, func(args ...string) string { return d.ask(ctx, args...) }) {
			if err = d.follow(ctx, f, give); err == nil || ctx.Err() != nil {
				return nil
			}
		}
	}
	return err
}

// follow runs one form. Its error says that the form gave nothing.
func (d *Devices) follow(ctx context.Context, f form, give func(collect.Reading)) error {
	feed := d.Feed
	feed.Name, feed.Every = collect.Name(d.kind.name, d.host), collect.ClockEvery
	if feed.Between == 0 {
		feed.Between = collect.SilenceLimit(f.period)
	}
	feed.Tries = 1
	l := listener{form: f, name: feed.Name, clock: collect.Clock{Same: d.host == ""}, give: give}
	feed.Start = func() (collect.Process, error) {
		l.asking = false
		if d.Start != nil {
			return d.Start(f.args)
		}
		return collect.StartProcess(collect.Watched, d.host, f.args)
	}
	return feed.Follow(ctx, collect.Handler{
		Line:    l.line,
		Trouble: func(m plan.Message) { give(collect.Reading{Trouble: m, Clock: l.last}) },
		Tick: func(send func(string) error) {
			l.clock.Ask(send)
			if f.question != nil && !l.asking { // one that does not come is a gap
				l.asking = send("ask aside "+f.question()) == nil
			}
		},
	})
}

type listener struct {
	form
	name   string
	clock  collect.Clock
	give   func(collect.Reading)
	asking bool            // the question aside has no answer yet
	first  time.Time       // of the first line with values; zero: there was none
	early  collect.Line    // an answer that came before the first complete sample: it waits for the next one
	last   telemetry.Clock // of the last line that did
}

// line takes a line. Unreadable lines are skipped until the first one with values: programs have greetings.
func (l *listener) line(in collect.Line) collect.Verdict {
	began := time.Now()
	if answer, ok := strings.CutPrefix(in.Text, collect.Answer+" "); ok {
		l.answered(answer, in.At, began)
		return collect.Part
	}
	r := l.read(in.Text)
	if r.strange && l.ever() {
		l.give(collect.Reading{Trouble: plan.Msg(collect.Unreadable, "program", l.name, "line", collect.Short(in.Text)), Clock: l.last, Busy: time.Since(began)})
	}
	switch {
	case len(r.values) > 0:
	case r.known && l.ever(): // a device that has gone, among others
		return collect.Good
	case r.strange:
		return collect.Odd
	default:
		return collect.Part
	}
	if !l.ever() {
		l.first = in.At
	}
	at, clock := l.clock.Instant(r.stamp, in.At, l.period)
	l.last = clock
	l.hand(r.values, at, clock, began)
	if l.early.Text != "" && l.isComplete(in.At) {
		l.aside(l.early.Text, l.early.At, began)
		l.early = collect.Line{}
	}
	return collect.Good
}

func (l *listener) ever() bool { return !l.first.IsZero() }

// isComplete reports whether all devices have had values by an instant, each in its own line.
func (l *listener) isComplete(at time.Time) bool { return l.ever() && at.Sub(l.first) >= l.period/2 }

func (l *listener) hand(values []collect.Value, at time.Time, clock telemetry.Clock, began time.Time) {
	for i := range values {
		values[i].At = at
	}
	l.give(collect.Reading{Values: values, Clock: clock, Busy: time.Since(began)})
}

// answered takes an answer of the shell around the program.
func (l *listener) answered(text string, at, began time.Time) {
	what, rest, _ := strings.Cut(text, " ")
	switch {
	case what == "clock":
		_ = l.clock.Answer(rest, at) // without one, instants are those of arrivals
	case strings.HasSuffix(rest, collect.Failed):
		l.asking = false
		if l.answer != nil {
			l.unread(l.answer(strings.TrimSuffix(rest, collect.Failed)))
		}
	case l.answer != nil && !l.isComplete(at):
		l.asking, l.early = false, collect.Line{Text: rest, At: at}
		l.unread(l.answer(rest)) // a sample may never come
	case l.answer != nil:
		l.asking = false
		l.aside(rest, at, began)
	}
}

// aside hands on what an answer says; a count of programs is no matter of milliseconds.
func (l *listener) aside(text string, at, began time.Time) {
	r := l.answer(text)
	l.unread(r)
	if len(r.values) > 0 {
		l.hand(r.values, at, l.last, began)
	}
}

// unread reports a line of an answer that is of unknown form.
func (l *listener) unread(r row) {
	if r.unread != "" {
		l.give(collect.Reading{Trouble: plan.Msg(unreadTable, "program", l.name, "line", r.unread), Clock: l.last})
	}
}

// unreadTable is for tables of unknown form: program, line.
const unreadTable plan.Code = "telemetry.unread-table"

// number is a number in a cell, with a factor; false if the cell does not hold one.
func number(cell string, factor float64) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
	v *= factor
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// unknown reports whether a cell says that there is no value.
func unknown(cell string) bool {
	cell = strings.TrimSpace(cell)
	return strings.HasPrefix(cell, "[") || cell == "" || cell == "N/A" || cell == "NA" || cell == "-"
}

// Factors to SI units.
const (
	smiPercent = 0.01
	smiMega    = 1e6
	smiMebi    = 1 << 20
)

// A column is a quantity that a cell holds.
type column struct {
	name   string
	factor float64
}

type device struct {
	label    telemetry.Labels
	throttle map[string]telemetry.Labels // by reason
	health   map[string]telemetry.Labels // by state
}

// labels are devices by their name, made once each.
type labels map[string]*device

func (all labels) get(id string) *device {
	d := all[id]
	if d == nil {
		d = &device{telemetry.Labels{"device": id}, map[string]telemetry.Labels{}, map[string]telemetry.Labels{}}
		if len(all) < mostDevices {
			all[id] = d
		}
	}
	return d
}

// mostDevices bounds the devices of a program that invents names.
const mostDevices = 1024

func (d *device) value(name string, v float64) collect.Value {
	return collect.Value{Name: name, Labels: d.label, Value: v}
}

// throttled is whether the clocks are held down by a reason.
func (d *device) throttled(reason string, on bool) collect.Value {
	l := d.throttle[reason]
	if l == nil {
		l = telemetry.Labels{"device": d.label["device"], "reason": reason}
		d.throttle[reason] = l
	}
	return collect.Value{Name: telemetry.DeviceThrottled, Labels: l, Value: truth(on)}
}

// unhealthy has a value for each state other than OK; none where the state is not known.
func (d *device) unhealthy(health string) (all []collect.Value) {
	health = strings.ToLower(health)
	if health != telemetry.HealthOK && !slices.Contains(telemetry.Unhealthy, health) {
		return nil
	}
	for _, state := range telemetry.Unhealthy {
		if d.health[state] == nil {
			d.health[state] = telemetry.Labels{"device": d.label["device"], "state": state}
		}
		v := collect.Value{Name: telemetry.DeviceUnhealthy, Labels: d.health[state], Value: truth(state == health)}
		all = append(all, v)
	}
	return all
}
