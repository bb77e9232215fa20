package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Objective is an upper limit on a latency: ttft, tpot, itl or e2el. Without a Statistic it is one of each
// request (itl: the mean of its gaps), which makes goodput; with one it is of the run.
//
//	ttft=200ms         each request has its first token within 200 ms
//	ttft.p99<=200ms    99 % of the requests have
//	tpot.mean<=40ms    the mean over the requests is at most 40 ms
//
// Files and flags write =, <=, ≤ or < alike.
type Objective struct {
	Metric    string
	Statistic string // mean or a percentile such as p99; empty: of each request
	Limit     Duration
}

// Latencies are those that objectives can limit.
var Latencies = []string{"ttft", "tpot", "itl", "e2el"}

// Name is that of the figure: ttft.p99; of each request ttft.
func (o Objective) Name() string { return Join(o.Metric, o.Statistic) }

// String is the text that ParseObjective reads.
func (o Objective) String() string { return o.Name() + "=" + o.Limit.String() }

// OfRun reports whether an objective is of the run, not of each request.
func (o Objective) OfRun() bool { return o.Statistic != "" }

// PerRequest are those of each request.
func PerRequest(all []Objective) []Objective {
	return slices.DeleteFunc(slices.Clone(all), Objective.OfRun)
}

// OfRun are those of the run.
func OfRun(all []Objective) []Objective {
	return slices.DeleteFunc(slices.Clone(all), func(o Objective) bool { return !o.OfRun() })
}

// MarshalText writes it.
func (o Objective) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads it.
func (o *Objective) UnmarshalText(text []byte) (err error) {
	if *o, err = ParseObjective(string(text)); err != nil {
		return fmt.Errorf("%q: %w", strings.TrimSpace(string(text)), err)
	}
	return nil
}

// UnmarshalJSON reads the text, and the object that stores of version 12 and before have.
func (o *Objective) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return o.UnmarshalText([]byte(text))
	}
	var old struct {
		Metric string        `json:"metric"`
		Limit  time.Duration `json:"limit_ns"`
	}
	err := json.Unmarshal(data, &old)
	o.Metric, o.Limit = old.Metric, Duration(old.Limit)
	return err
}

// ParseObjective reads one objective.
func ParseObjective(text string) (o Objective, err error) {
	at := strings.IndexAny(text, "=<≤")
	if at < 0 {
		return o, limitless(text)
	}
	limit := strings.TrimSpace(strings.TrimPrefix(strings.TrimLeft(text[at:], "<≤"), "="))
	metric, statistic, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text[:at])), ".")
	if !slices.Contains(Latencies, metric) {
		return o, fmt.Errorf("no latency is called %q%s; there are %s", metric, Suggest(metric, Latencies), strings.Join(Latencies, ", "))
	}
	if o.Statistic, err = statisticOf(statistic); err != nil {
		return o, fmt.Errorf("%s.%s: %w, as in %s.p99<=%s", metric, statistic, err, metric, limit)
	}
	v, err := time.ParseDuration(limit)
	if err != nil {
		return o, fmt.Errorf("the limit %s", cmp.Or(Units(limit, "ms", "s"), "must be a time such as 200ms"))
	}
	o.Metric, o.Limit = metric, Duration(v)
	return o, nil
}

// limitless is the error for an objective without a limit, such as the ttft:200 of vLLM's --goodput.
func limitless(text string) error {
	name, ms, ok := strings.Cut(strings.TrimSpace(text), ":")
	if _, err := finite(ms); ok && err == nil && slices.Contains(Latencies, name) {
		return fmt.Errorf("write %s=%sms", name, ms)
	}
	return errors.New("has no limit; write ttft=200ms for each request, ttft.p99<=200ms for the run")
}

// statisticOf is a statistic in its usual spelling: p50 for median, p99.9 for p99.90; empty for none.
func statisticOf(text string) (string, error) {
	digits, percentile := strings.CutPrefix(text, "p")
	switch {
	case text == "" || text == "mean":
		return text, nil
	case text == "median":
		return "p50", nil
	case percentile && strings.Trim(digits, "0123456789.") == "":
		if p, err := strconv.ParseFloat(digits, 64); err == nil && p > 0 && p <= 100 {
			return "p" + strconv.FormatFloat(p, 'f', -1, 64), nil
		}
	}
	return "", errors.New("must be mean, or a percentile above 0 and up to 100")
}

// ParseObjectives reads objectives with commas between. The error is Problems, one for each item that is wrong,
// without a path and with the item as its value.
func ParseObjectives(text string) (all []Objective, err error) {
	var wrong Problems
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		o, err := ParseObjective(item)
		if err == nil && slices.ContainsFunc(all, func(other Objective) bool { return other.Name() == o.Name() }) {
			err = errors.New(o.Name() + " has a limit already")
		}
		if err != nil {
			wrong = append(wrong, Problem{Value: strconv.Quote(item), Why: err.Error()})
			continue
		}
		all = append(all, o)
	}
	return all, wrong.Err()
}
