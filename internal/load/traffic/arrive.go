package traffic

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// ReplayData is what a replay names for the times of the dataset.
const ReplayData = "data"

// Arrivals are the kinds of arrival that are Pitot's own.
func Arrivals() map[string]func() workload.Arrival {
	at := func(process string) func() workload.Arrival {
		return func() workload.Arrival { return &paced{process: process} }
	}
	return map[string]func() workload.Arrival{
		"at-once": func() workload.Arrival { return &atOnce{} }, "constant": at("constant"), "poisson": at("poisson"),
		"gamma":  func() workload.Arrival { return &gamma{paced{process: "gamma"}, 1} },
		"replay": func() workload.Arrival { return &replayed{Speed: 1} },
	}
}

// arriveReplay is how requests arrive, in the words of show/words.
const arriveReplay plan.Code = "arrival.replay" // file, speed

// atOnce sends everything at the start.
type atOnce struct{}

// Check finds nothing wrong.
func (atOnce) Check() plan.Problems { return nil }

// Read reads nothing.
func (atOnce) Read(workload.Files) error { return nil }

// Arrange makes everything due at 0.
func (atOnce) Arrange(w *workload.Workload, _ workload.Arranging) (workload.Arrangement, error) {
	return workload.Arrangement{Schedule: arrival.Burst(), Requests: len(w.Requests)}, nil
}

// Describe says so.
func (atOnce) Describe() plan.Message { return plan.Say(workload.ArriveAtOnce) }

// A paced arrival has a rate, or one that changes.
type paced struct {
	Rate float64 `json:"rate,omitempty"` // requests per second, or conversations that begin
	Ramp string  `json:"ramp,omitempty"` // linear:FROM..TO or exponential:FROM..TO, in requests per second

	process string
}

// A gamma arrival has gaps of a shape of their own.
type gamma struct {
	paced
	Burstiness float64 `json:"burstiness"` // shape: 1 is Poisson, less is burstier
}

// Check reports what is wrong.
func (a *paced) Check() (p plan.Problems) {
	p.If(a.Rate == 0 && a.Ramp == "", "rate", nil, "a rate or a ramp is needed")
	p.If(a.Rate != 0 && a.Ramp != "", "rate", nil, "a ramp is given too; give one of them")
	if a.Ramp != "" {
		_, err := parseRamp(a.Ramp, 1)
		p.If(err != nil, "ramp", strconv.Quote(a.Ramp), "%v", err)
		return p
	}
	p.If(a.Rate != 0 && arrival.Constant(a.Rate).Validate() != nil, "rate", a.Rate, "must be a positive number of requests per second")
	return p
}

// Check reports what is wrong.
func (a *gamma) Check() plan.Problems {
	p := a.paced.Check()
	p.If(!(a.Burstiness > 0) || math.IsInf(a.Burstiness, 1), "burstiness", a.Burstiness, "must be a positive number")
	return p
}

// Read reads nothing.
func (*paced) Read(workload.Files) error { return nil }

// Arrange draws the times.
func (a *paced) Arrange(w *workload.Workload, with workload.Arranging) (workload.Arrangement, error) {
	if a.process == "constant" {
		return a.arrange(w, arrival.Regular())
	}
	return a.arrange(w, arrival.Poisson(pyrand.NewLegacy(uint32(with.Seed))))
}

// Arrange draws the times.
func (a *gamma) Arrange(w *workload.Workload, with workload.Arranging) (workload.Arrangement, error) {
	process, err := arrival.Gamma(a.Burstiness, pyrand.NewLegacy(uint32(with.Seed)))
	if err != nil {
		return workload.Arrangement{}, err
	}
	return a.arrange(w, process)
}

func (a *paced) arrange(w *workload.Workload, process arrival.Process) (out workload.Arrangement, err error) {
	out = workload.Arrangement{Requests: len(w.Requests), Rate: a.Rate, Ramp: a.Ramp != ""}
	var rate arrival.Rate = arrival.Constant(a.Rate)
	if a.Ramp != "" {
		rate, err = parseRamp(a.Ramp, w.Starts())
	}
	if err == nil {
		out.Schedule = arrival.New(process, rate)
	}
	return out, err
}

// Describe says the process and the rate.
func (a *paced) Describe() plan.Message {
	if a.process == "constant" {
		return a.describe(0)
	}
	return a.describe(1)
}

// Describe says the process and the rate.
func (a *gamma) Describe() plan.Message { return a.describe(a.Burstiness) }

func (a *paced) describe(burstiness float64) plan.Message {
	if a.Ramp != "" {
		return workload.Ramped(burstiness, a.Ramp, false)
	}
	return workload.Paced(burstiness, a.Rate)
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

// Check reports what is wrong.
func (a *replayed) Check() (p plan.Problems) {
	p.If(a.File == "", "file", nil, "is missing; name a file of times, or data for the times of the dataset")
	p.If(!(a.Speed > 0) || math.IsInf(a.Speed, 1), "speed", a.Speed, "must be a positive number")
	return p
}

// Read reads the file.
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
	at := a.at
	if a.File == ReplayData {
		for _, r := range w.Requests {
			if r.After == 0 {
				at = append(at, r.At)
			}
		}
	}
	n := min(len(at), w.Starts())
	schedule, err := arrival.Replay(at[:n], a.Speed)
	return workload.Arrangement{Schedule: schedule, Requests: w.Before(n)}, workload.Blame("file", a.File, err)
}

// Describe says whose times they are.
func (a *replayed) Describe() plan.Message {
	if a.Speed != 1 {
		return plan.Say(arriveReplay, "file", a.File, "speed", a.Speed)
	}
	return plan.Say(arriveReplay, "file", a.File)
}

// readTimes reads a number of seconds from each line.
func readTimes(file io.Reader) ([]time.Duration, error) {
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

// FollowsData reports whether the times are those of the dataset.
func (a *replayed) FollowsData() bool { return a.File == ReplayData }
