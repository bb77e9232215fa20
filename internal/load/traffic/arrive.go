package traffic

import (
	"errors"
	"io"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// ReplayData is the file of a replay that takes the times of the dataset.
const ReplayData = "data"

// Arrivals are the kinds of arrival that are Pitot's own.
func Arrivals() map[string]func() workload.Arrival {
	return map[string]func() workload.Arrival{
		"at-once":  func() workload.Arrival { return new(atOnce) },
		"constant": func() workload.Arrival { return &paced{process: evenly} },
		"poisson":  func() workload.Arrival { return &paced{process: randomly, burstiness: 1} },
		"gamma":    func() workload.Arrival { return &gamma{Burstiness: 1} },
		"replay":   func() workload.Arrival { return &replayed{Speed: 1} },
	}
}

// arriveReplay says how requests arrive, in the words of show/words.
const arriveReplay plan.Code = "arrival.replay" // file, speed

// atOnce sends everything at the start.
type atOnce struct{}

// Check finds nothing wrong.
func (*atOnce) Check() plan.Problems { return nil }

func (*atOnce) Read(workload.Files) error { return nil }

// Arrange makes everything due at 0.
func (*atOnce) Arrange(w *workload.Workload, _ workload.Arranging) (workload.Arrangement, error) {
	return workload.Arrangement{Schedule: arrival.Burst(), Requests: w.All().N}, nil
}

// Describe says that all arrive at once.
func (*atOnce) Describe() plan.Message { return plan.Msg(workload.ArriveAtOnce) }

// A paced arrival has a rate, or one that changes.
type paced struct {
	Rate float64 `json:"rate,omitempty"` // requests per second, or conversations
	Ramp string  `json:"ramp,omitempty"` // linear:FROM..TO or exponential:FROM..TO, in requests per second

	process    func(arrival.Source) arrival.Process
	burstiness float64 // of the process, 0 for even gaps
}

func evenly(arrival.Source) arrival.Process { return arrival.Regular() }

func randomly(rng arrival.Source) arrival.Process { return arrival.Poisson(rng) }

// Check reports mistakes in the settings.
func (a *paced) Check() (p plan.Problems) {
	p.If(a.Rate == 0 && a.Ramp == "", "rate", nil, "a rate or a ramp is needed")
	p.If(a.Rate != 0 && a.Ramp != "", "rate", nil, "a ramp is given too; give one of them")
	if a.Ramp != "" {
		_, err := parseRamp(a.Ramp, 1)
		p.If(err != nil, "ramp", strconv.Quote(a.Ramp), "%v", err)
		return p
	}
	p.If(a.Rate != 0 && (!(a.Rate > 0) || math.IsInf(a.Rate, 1)), "rate", a.Rate,
		"must be a positive number of requests per second")
	p.Rate("rate", a.Rate)
	return p
}

func (*paced) Read(workload.Files) error { return nil }

// Arrange draws the times.
func (a *paced) Arrange(w *workload.Workload, with workload.Arranging) (out workload.Arrangement, err error) {
	out = workload.Arrangement{Requests: w.All().N, Rate: a.Rate, Ramp: a.Ramp != ""}
	var rate arrival.Rate = arrival.Constant(a.Rate)
	if a.Ramp != "" {
		rate, err = parseRamp(a.Ramp, w.All().Starts())
	}
	if err == nil {
		out.Schedule = arrival.New(a.process(pyrand.NewLegacy(uint32(with.Seed))), rate)
	}
	return out, err
}

// Describe says the process and the rate.
func (a *paced) Describe() plan.Message {
	if a.Ramp != "" {
		return workload.Ramped(a.burstiness, a.Ramp, false)
	}
	return workload.Paced(a.burstiness, a.Rate)
}

// DueBefore is how many requests are due before d. A ramp is spread over so many that it ends
// then.
func (a *paced) DueBefore(d time.Duration, seed uint64) int {
	if a.Ramp == "" {
		return before(d, plan.MaxRequests+1, arrival.New(a.process(pyrand.NewLegacy(uint32(seed))), arrival.Constant(a.Rate)))
	}
	return sort.Search(plan.MaxRequests, func(n int) bool {
		rate, err := parseRamp(a.Ramp, n+1)
		return err != nil || before(d, n+1, arrival.New(arrival.Regular(), rate)) <= n
	})
}

// before counts the requests due before d, up to most.
func before(d time.Duration, most int, s arrival.Schedule) (n int) {
	for due := range s {
		if due >= d || n == most {
			break
		}
		n++
	}
	return n
}

// A gamma arrival is paced, with gaps of any burstiness.
type gamma struct {
	paced
	Burstiness float64 `json:"burstiness"` // shape: 1 is Poisson, less is burstier
}

// Check reports mistakes in the settings.
func (a *gamma) Check() plan.Problems {
	p := a.paced.Check()
	_, err := arrival.Gamma(a.Burstiness, nil)
	p.If(err != nil, "burstiness", a.Burstiness, "must be a positive number")
	a.burstiness = a.Burstiness
	a.process = func(rng arrival.Source) arrival.Process {
		process, _ := arrival.Gamma(a.Burstiness, rng) // checked
		return process
	}
	return p
}

// parseRamp parses SHAPE:FROM..TO for a run of n requests.
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
		return nil, errors.New("must be linear:FROM..TO or exponential:FROM..TO, in requests per second")
	}
	return rate, rate.Validate()
}

// A replayed arrival takes its times from a file, or from the dataset.
type replayed struct {
	File  string  `json:"file"`  // one number of seconds per line, or data
	Speed float64 `json:"speed"` // the times are divided by it

	at []time.Duration
}

// minSpeed makes eleven days of a second.
const minSpeed = 1e-6

// Check reports mistakes in the settings.
func (a *replayed) Check() (p plan.Problems) {
	p.If(a.File == "", "file", nil, "is missing; name a file of times, or data for the times of the dataset")
	p.If(!(a.Speed > 0) || math.IsInf(a.Speed, 1), "speed", a.Speed, "must be a positive number")
	p.If(a.Speed > 0 && a.Speed < minSpeed, "speed", a.Speed, "must be at least %v", minSpeed)
	return p
}

func (a *replayed) Read(files workload.Files) error {
	if a.File == ReplayData {
		return nil
	}
	return files.With("file", a.File, func(file io.Reader) (err error) {
		a.at, err = readTimes(file)
		return err
	})
}

// Arrange leaves out requests and times beyond the shorter of both.
func (a *replayed) Arrange(w *workload.Workload, _ workload.Arranging) (workload.Arrangement, error) {
	at, all := a.at, w.All()
	if a.File == ReplayData {
		for i := range all.N {
			if r := all.Brief(i); r.After == 0 {
				at = append(at, r.At)
			}
		}
	}
	n := min(len(at), all.Starts())
	schedule, err := arrival.Replay(at[:n], a.Speed)
	return workload.Arrangement{Schedule: schedule, Requests: all.Before(n)}, workload.Blame("file", a.File, err)
}

// Describe says where the times are from.
func (a *replayed) Describe() plan.Message {
	if a.Speed != 1 {
		return plan.Msg(arriveReplay, "file", a.File, "speed", a.Speed)
	}
	return plan.Msg(arriveReplay, "file", a.File)
}

// FollowsData reports whether the times are those of the dataset.
func (a *replayed) FollowsData() bool { return a.File == ReplayData }

// readTimes reads a number of seconds from each line. It skips lines that begin with #.
func readTimes(file io.Reader) (at []time.Duration, err error) {
	err = rows.Lines(file, func(_ int, line []byte) error {
		if line[0] == '#' {
			return nil
		}
		due, err := seconds(string(line))
		at = append(at, due)
		return err
	})
	if err == nil && len(at) == 0 {
		err = errors.New("no times in it")
	}
	return at, err
}
