package experiment

import (
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// How long a load is sent where neither its requests nor its time are given.
//
// A load of a rate shows what the rate does to a server once the requests that are in flight have come at that
// rate, and not before: a hundred requests at 200 per second are half a second of load, over before the first
// answer ends. So it is sent for several times the duration of an answer:
//
//	ramp    2 answers   the server becomes as busy as it will be
//	count   3 answers   what counts
//	rest    1 answer    the server stays as busy while the last that count are answered
//
// A light run, one request at a time, measures that duration. Under load it takes longer, which slower allows for.

// LoadParts are those of a load, as above.
type LoadParts struct{ Ramp, Count, Rest time.Duration }

// PartsFor are the parts of a load in which most answers take so long.
func PartsFor(long time.Duration) LoadParts { return LoadParts{2 * long, 3 * long, long} }

const (
	slower       = 2                // times an answer of a light run
	least        = 30 * time.Second // of any load, but for
	mostRequests = 10_000           // which are enough, and
	fewRequests  = 100              // which are always sent
	mostNeeded   = 30_000           // at most, although too short for an absurd rate; noted
	mostRate     = 1e6              // with distinct times of requests
	lightSent    = 6                // requests of a light run
	tick         = 100 * time.Millisecond
)

// timeOf is how long to send a load of a rate, in requests per second, in which answers of a light run take long; 0:
// unknown.
func timeOf(long time.Duration, rate float64) time.Duration {
	due := func(requests float64) time.Duration {
		return time.Duration(min(requests/rate, plan.MaxSpan.Seconds()) * float64(time.Second))
	}
	p := PartsFor(slower * long)
	d := max(p.Ramp+p.Count+p.Rest, min(least, due(mostRequests)), due(fewRequests))
	return min(max(d.Round(tick), tick), due(mostNeeded))
}

// OpenEnded reports whether neither the requests nor the time of a load are given, and it has a rate: one that
// a clock can tell from all at once. A dataset of a file has as many requests as the file.
func OpenEnded(s *plan.Spec) bool {
	if s.Requests > 0 || s.Duration > 0 || s.Rate() == 0 || s.Rate() > mostRate {
		return false
	}
	known := traffic.Datasets()
	for _, stream := range s.Load {
		parts := stream.Mix
		if parts == nil {
			parts = []plan.Part{{Dataset: stream.Dataset}}
		}
		if stream.Requests > 0 || slices.ContainsFunc(parts, func(p plan.Part) bool { return !known[p.Dataset.Kind].Drawn }) {
			return false
		}
	}
	return true
}

// LightLoad is a load sent one request at a time, a few in all: a run of it measures how long its answers take without
// waiting.
func LightLoad(s plan.Spec) plan.Spec {
	s.Requests, s.Duration, s.Gate = lightSent, 0, plan.Gate{Concurrency: 1}
	s.Load = slices.Clone(s.Load)
	for i := range s.Load {
		s.Load[i].Arrival = plan.Typed{Kind: "at-once"}
	}
	s.Objectives = nil
	return s
}

// AnswerTime is how long most answers of a run took; 0 if there are none.
func AnswerTime(records []*trace.Record) time.Duration {
	var took []float64
	for _, r := range records {
		if r.OK() {
			took = append(took, r.Done.Sub(r.Sent).Seconds())
		}
	}
	if took == nil {
		return 0
	}
	return time.Duration(stats.Sort(took).Percentile(90) * float64(time.Second))
}

// Lengthened is a load that is OpenEnded, with the time that it is sent.
func Lengthened(s plan.Spec, long time.Duration) plan.Spec {
	s.Duration = plan.Duration(timeOf(long, s.Rate()))
	return s
}

// counted is a load that is OpenEnded, with as many requests as are due in the time that it should be sent,
// of which no light run says more: where runs are compared, all have the same requests.
func counted(s plan.Spec) plan.Spec {
	s.Requests = int(math.Ceil(timeOf(0, s.Rate()).Seconds() * s.Rate()))
	return s
}

// NeedsTime is how long a load should be sent of which a run was too short, and not so long that it has
// more requests than anybody waits for; 0: it was long enough.
func NeedsTime(t *trace.Trace, s *plan.Spec) time.Duration {
	if t == nil {
		return 0
	}
	d := metrics.NeedsTime(metrics.Unsettled(t))
	return min(d, time.Duration(mostNeeded/s.Rate()*float64(time.Second)))
}
