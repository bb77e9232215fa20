package cli

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// defaultRate is the load when nothing says when to send, in requests/s.
const defaultRate = 10

// A load is a schedule, in words as well.
type load struct {
	schedule    arrival.Schedule
	description string
	rate        float64 // constant mean rate, 0 if there is none
	requests    int     // of the workload, that have a place in the schedule
}

// kind is what decides when requests are due.
func (s loadSettings) kind() string {
	switch {
	case s.Replay != "":
		return "replay"
	case s.Ramp != "":
		return "ramp"
	case s.Rate != 0:
		return "rate"
	case s.Arrival == "at-once" || s.Concurrency > 0 && s.Arrival == "":
		return "at-once"
	}
	return "default"
}

// check reports settings that do not go together.
func (s loadSettings) check(data bool) error {
	var errs []error
	bad := func(cond bool, format string, a ...any) {
		if cond {
			errs = append(errs, usagef(format, a...))
		}
	}
	given := 0
	for _, is := range []bool{s.Rate != 0, s.Ramp != "", s.Replay != ""} {
		if is {
			given++
		}
	}
	bad(given > 1, "--rate, --ramp and --replay each say when to send: give one of them")
	bad(s.Arrival == "at-once" && given > 0, "--arrival at-once sends everything at the start: leave out --rate, --ramp and --replay")
	bad(s.Replay != "" && s.Arrival != "", "--replay has its own times: leave out --arrival")
	bad(s.Replay == "data" && !data, "--replay data needs a workload from a file with times, and --data FILE")
	bad(!(s.Speed > 0) || math.IsInf(s.Speed, 1), "--speed %v: must be a positive number", s.Speed)
	bad(s.Speed != 1 && s.Replay == "", "--speed belongs to --replay")
	bad(s.Burstiness != 1 && s.Arrival != "gamma", "--burstiness belongs to --arrival gamma")
	bad(!(s.Burstiness > 0) || math.IsInf(s.Burstiness, 1), "--burstiness %v: must be a positive number", s.Burstiness)
	bad(s.Hold && s.Concurrency == 0, "--hold belongs to --concurrency")
	bad(s.Concurrency < 0, "--concurrency %d: must not be negative", s.Concurrency)
	if s.Rate != 0 {
		if err := arrival.Constant(s.Rate).Validate(); err != nil {
			errs = append(errs, usagef("--rate: %w", err))
		}
	}
	if s.Ramp != "" {
		_, err := parseRamp(s.Ramp, 1)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// schedule decides when the requests are due.
func (s loadSettings) schedule(requests []workload.Request, seed uint32) (load, error) {
	all, n := len(requests), starts(requests)
	switch s.kind() {
	case "at-once":
		return load{schedule: arrival.Burst(), description: "all at once", requests: all}, nil
	case "replay":
		return s.replay(requests)
	case "ramp":
		ramp, err := parseRamp(s.Ramp, n)
		if err != nil {
			return load{}, err
		}
		process, name, err := s.process(seed)
		return load{schedule: arrival.New(process, ramp), description: fmt.Sprintf("%s, %s req/s", name, s.Ramp), requests: all}, err
	}
	rate := s.Rate
	if rate == 0 {
		rate = defaultRate
	}
	process, name, err := s.process(seed)
	return load{schedule: arrival.New(process, arrival.Constant(rate)), description: fmt.Sprintf("%s %g req/s", name, rate), rate: rate, requests: all}, err
}

// process is how arrivals scatter around their rate.
func (s loadSettings) process(seed uint32) (arrival.Process, string, error) {
	src := pyrand.NewLegacy(seed)
	switch s.Arrival {
	case "constant":
		return arrival.Regular(), "constant", nil
	case "gamma":
		p, err := arrival.Gamma(s.Burstiness, src)
		return p, fmt.Sprintf("gamma (burstiness %g)", s.Burstiness), err
	}
	return arrival.Poisson(src), "Poisson", nil
}

// parseRamp reads SHAPE:FROM..TO for a run of n requests.
func parseRamp(s string, n int) (arrival.Rate, error) {
	shape, limits, ok := strings.Cut(s, ":")
	fromText, toText, ok2 := strings.Cut(limits, "..")
	from, err1 := strconv.ParseFloat(fromText, 64)
	to, err2 := strconv.ParseFloat(toText, 64)
	var rate arrival.Rate
	switch {
	case !ok || !ok2 || err1 != nil || err2 != nil:
	case shape == "linear":
		rate = arrival.Linear{From: from, To: to, Requests: n}
	case shape == "exponential":
		rate = arrival.Exponential{From: from, To: to, Requests: n}
	}
	if rate == nil {
		return nil, usagef("--ramp %q: must be linear:FROM..TO or exponential:FROM..TO, in requests per second", s)
	}
	if err := rate.Validate(); err != nil {
		return nil, usagef("--ramp %q: %w", s, err)
	}
	return rate, nil
}

// load is when the requests of a workload are due.
func (c *benchCmd) load(requests []workload.Request) (load, error) {
	if c.arrivals != nil {
		return *c.arrivals, nil
	}
	return c.schedule(requests, c.Seed)
}

// starts is how many requests wait for no other: those that the schedule is for.
func starts(requests []workload.Request) int {
	n := 0
	for i := range requests {
		if requests[i].After == 0 {
			n++
		}
	}
	return n
}

// upTo is how many requests come before start n.
func upTo(requests []workload.Request, n int) int {
	for i := range requests {
		if requests[i].After != 0 {
			continue
		}
		if n--; n < 0 {
			return i
		}
	}
	return len(requests)
}

// replay takes the times from a file, or from the workload itself. Requests and
// times beyond the shorter of both are left out.
func (s loadSettings) replay(requests []workload.Request) (load, error) {
	var at []time.Duration
	if s.Replay == "data" {
		for _, r := range requests {
			if r.After == 0 {
				at = append(at, r.At)
			}
		}
	} else {
		var err error
		if at, err = readTimes(s.Replay); err != nil {
			return load{}, named("--replay", s.Replay, err)
		}
	}
	n := min(len(at), starts(requests))
	schedule, err := arrival.Replay(at[:n], s.Speed)
	if err != nil {
		return load{}, usagef("--replay %s: %w", s.Replay, err)
	}
	description := fmt.Sprintf("replay of %s", s.Replay)
	if s.Speed != 1 {
		description += fmt.Sprintf(" at %g× speed", s.Speed)
	}
	return load{schedule: schedule, description: description, requests: upTo(requests, n)}, nil
}

// readTimes reads a number of seconds from each line of a file.
func readTimes(name string) ([]time.Duration, error) {
	file, err := openFile(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var at []time.Duration
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil || !(math.Abs(seconds) < math.MaxInt64/1e9) {
			return nil, fmt.Errorf("line %d: %q is not a number of seconds", n, text)
		}
		at = append(at, time.Duration(math.Round(seconds*1e9)))
	}
	if len(at) == 0 && lines.Err() == nil {
		return nil, errors.New("no times in it")
	}
	return at, lines.Err()
}

// parseSLOs reads METRIC=TIME pairs.
func parseSLOs(items []string) ([]trace.SLO, error) {
	var slos []trace.SLO
	var errs []error
	for _, item := range items {
		metric, text, ok := strings.Cut(item, "=")
		limit, err := time.ParseDuration(text)
		if !ok || err != nil || limit < 0 || !slices.Contains([]string{"ttft", "tpot", "itl", "e2el"}, metric) {
			errs = append(errs, usagef("--slo %q: must be METRIC=TIME such as ttft=200ms, with ttft, tpot, itl or e2el", item))
			continue
		}
		if slices.ContainsFunc(slos, func(o trace.SLO) bool { return o.Metric == metric }) {
			errs = append(errs, usagef("--slo %s is given twice", metric))
			continue
		}
		slos = append(slos, trace.SLO{Metric: metric, Limit: limit})
	}
	return slos, errors.Join(errs...)
}
