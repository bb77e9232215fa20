package source

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/sys/machine"
	"github.com/pitot-bench/pitot/internal/wire/exposition"
)

// Codes of messages about a source that is scraped. The first of a kind counts: since is how
// long after sampling had begun that was, in seconds.
const (
	NoAnswer  plan.Code = "telemetry.no-answer"      // why, since
	Slow      plan.Code = "telemetry.slow"           // limit in seconds, since
	Status    plan.Code = "telemetry.http-status"    // status, since
	Elsewhere plan.Code = "telemetry.redirected"     // to
	Nothing   plan.Code = "telemetry.nothing-known"  // series, how many
	NoDate    plan.Code = "telemetry.no-date"        //
	Stepped   plan.Code = "telemetry.clock-set"      //
	Misdated  plan.Code = "telemetry.sample-ahead"   // series
	Stale     plan.Code = "telemetry.sample-too-old" // series, age in seconds
	Costly    plan.Code = "telemetry.costly"         // busy and every, in seconds
)

// absent are the troubles of a server that has no /metrics.
var absent = map[plan.Code]bool{NoAnswer: true, Status: true, Elsewhere: true}

// Config names a page to scrape, and how it is reached.
type Config struct {
	Name    string      // of the source, unique in a run
	Host    string      // the machine of the quantities; empty: that of the URL, if it is not this machine
	URL     string      // http or https; without a path it is /metrics
	Header  http.Header // of each request, such as a key
	Secrets *secret.Set // hidden in all messages
	Keep    []string    // patterns of foreign series to store under their own names: vllm:*
	Dial    func(ctx context.Context, network, addr string) (net.Conn, error)
	TLS     *tls.Config
	Proxy   func(*url.URL) (*url.URL, error) // nil: none
	HTTP2   bool                             // only HTTP/2
	Live    bool                             // as that of a collect.Target
}

// An Exporter is a collector of one /metrics. It is used by one goroutine.
type Exporter struct {
	cfg    Config
	url    *url.URL
	client *http.Client
	// The last page: the next one is read into it.
	body, unpacked bytes.Buffer
	unpacker       gzip.Reader
}

// NewScraper checks a configuration. It makes no connection.
func NewScraper(cfg Config) (*Exporter, error) {
	u, err := url.Parse(cfg.URL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("metrics URL %q: %w", cfg.Secrets.Hide(secret.Mask(cfg.URL)), cfg.Secrets.Error(err))
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("metrics URL %q: must begin with http:// or https:// and a host", cfg.Secrets.Hide(secret.Mask(cfg.URL)))
	case !portOK(u.Port()):
		return nil, fmt.Errorf("metrics URL %q: no such port; ports are 1 to 65535", cfg.Secrets.Hide(secret.Mask(cfg.URL)))
	}
	for _, pattern := range cfg.Keep {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("pattern %q of series: it is not closed; write vllm:* or [ab]*", pattern)
		}
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/metrics"
	}
	if password, ok := u.User.Password(); ok && cfg.Secrets != nil {
		cfg.Secrets.Add(password)
	}
	return &Exporter{cfg: cfg, url: u, client: newClient(cfg)}, nil
}

func portOK(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// Describe is the source.
func (x *Exporter) Describe() telemetry.Source {
	host := x.cfg.Host
	if name := x.url.Hostname(); host == "" && !isHere(name) {
		host = name
	}
	bare := *x.url
	bare.User = nil
	return telemetry.Source{Name: x.cfg.Name, Via: x.cfg.Secrets.Hide(secret.Mask(bare.String())), Host: host}
}

// isHere reports whether a name is that of this machine.
func isHere(name string) bool {
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.IsLoopback()
}

// Pauses between requests.
const (
	leastLimit  = time.Second      // for an answer
	mostPause   = 10 * time.Second // to a source that does not answer
	mostPending = 20               // readings that wait for the bound of a clock
	narrow      = 50 * time.Millisecond
	sweep       = time.Second / 16
	mostAge     = 10 * time.Minute // of a sample
	dateAge     = time.Second      // of a Date header: it has whole seconds
	dateAgeSlow = 2 * time.Second
)

// cadence is the pause between two requests. While the bound of a clock is wide, they come a
// little sooner, so that they fall on other fractions of a second: where the seconds of the
// source's clock begin shows there.
func cadence(every time.Duration, wide bool) time.Duration {
	if wide && every >= 4*sweep {
		return every - sweep
	}
	return every
}

// Collect asks until ctx ends. It never ends by itself: a server may come back.
func (x *Exporter) Collect(ctx context.Context, every time.Duration, give func(collect.Reading)) error {
	defer x.client.CloseIdleConnections()
	s := session{x: x, begun: time.Now(), limit: max(every, leastLimit), reported: map[plan.Code]bool{}, give: give, mapping: mapping{keep: x.cfg.Keep}, free: x.cfg.Live}
	s.reader.Wanted = s.mapping.wants
	defer s.release()
	due, failures := s.begun, 0
	for {
		if s.round(ctx) {
			failures = 0
		} else {
			failures++
		}
		pause := cadence(every, s.own && s.skew.bound() > narrow)
		if least := s.cost.pause(); least > pause {
			pause = least
			s.restrained(least)
		}
		if failures > 1 {
			pause = max(pause, min(mostPause, pause<<min(failures-1, 10)))
		}
		if due = due.Add(pause); due.Before(time.Now()) {
			due = time.Now() // a request that took long is not made up for
		}
		if !wait(ctx, due) {
			return nil
		}
	}
}

// restrained says once that a source is asked less often than it should be.
func (s *session) restrained(pause time.Duration) {
	if s.reported[Costly] {
		return
	}
	s.reported[Costly] = true
	s.give(collect.Reading{
		Trouble: plan.Msg(Costly, "busy", s.cost.least().Round(time.Millisecond), "every", pause.Round(time.Second/10)), Clock: telemetry.Clock{Own: s.own},
	})
}

// A cost is the time to read the last pages. The least of three counts: others may have had the processor
// meanwhile.
type cost struct {
	last [3]time.Duration
	n    int
}

func (c *cost) add(busy time.Duration) {
	c.last[c.n%len(c.last)] = busy
	c.n++
}

func (c *cost) least() time.Duration { return slices.Min(c.last[:]) }

// pause is how long the next request waits, so that reading takes a twentieth of a processor at
// most: 0 for pages of an ordinary size.
func (c *cost) pause() time.Duration {
	const ordinary = 20 * time.Millisecond
	if c.least() < ordinary {
		return 0
	}
	return min(mostPause, 20*c.least())
}

// wait waits until an instant. It reports false if ctx ended before.
func wait(ctx context.Context, until time.Time) bool {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// A session is the state of a source while it is collected.
type session struct {
	x        *Exporter
	begun    time.Time
	limit    time.Duration
	give     func(collect.Reading)
	reader   exposition.Reader
	mapping  mapping
	reported map[plan.Code]bool
	own      bool // it stamps its samples itself
	skew     skew
	pending  []pendingReading
	free     bool // no reading waits any more
	cost     cost
}

// A pendingReading reading waits until the clock of its source is known well enough.
type pendingReading struct {
	collect.Reading
	stamped []bool // the values with instants still by that clock
}

// round makes one request and hands on the result. It reports whether there was an answer.
func (s *session) round(ctx context.Context) bool {
	asked, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	a, trouble := s.x.ask(asked, s.limit, s.since())
	if ctx.Err() != nil {
		return false
	}
	if !trouble.IsZero() {
		s.give(collect.Reading{Trouble: trouble, Absent: absent[trouble.Code], Clock: telemetry.Clock{Own: s.own}})
		return false
	}
	parsing := time.Now()
	doubts, err := s.parse(asked, a)
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		trouble = exposition.ErrorMessage(err)
		if asked.Err() != nil {
			trouble = slow(s.limit, s.since())
		}
		trouble = trouble.Map(s.x.cfg.Secrets.Hide)
		s.cost.add(time.Since(parsing))
		s.give(collect.Reading{Trouble: trouble, Busy: time.Since(parsing), Clock: telemetry.Clock{Own: s.own}})
		return false
	}
	s.reading(a, doubts, parsing)
	return true
}

// since is how long ago sampling began, as messages say it.
func (s *session) since() time.Duration { return time.Since(s.begun).Round(time.Second / 10) }

// Garbage of a page with its exchange, and of a new place in it, in bytes.
const (
	perPage  = 32 << 10
	perPlace = 1 << 10
)

func (s *session) reading(a answer, doubts []plan.Message, parsing time.Time) {
	found, more := s.mapping.values()
	machine.Discard(perPage + perPlace*s.mapping.made)
	doubts = append(doubts, more...)
	if len(found) == 0 {
		doubts = append(doubts, plan.Msg(Nothing, "series", s.mapping.samples))
	}
	r := pendingReading{Reading: collect.Reading{Clock: telemetry.Clock{Bound: (a.received.Sub(a.sent) + 1) / 2}}}
	middle := a.sent.Add(a.received.Sub(a.sent) / 2)
	learned := false
	r.Values, r.stamped = make([]collect.Value, 0, len(found)), make([]bool, 0, len(found))
	for _, v := range found {
		if v.At = middle; !v.stamp.IsZero() {
			if !learned {
				doubts = append(doubts, s.learn(a))
				learned = true
			}
			if why := s.judge(v, a.received); !why.IsZero() {
				doubts = append(doubts, why)
				continue
			}
			v.At = v.stamp
		}
		r.Values, r.stamped = append(r.Values, v.Value), append(r.stamped, !v.stamp.IsZero())
	}
	r.Trouble = s.choose(doubts).Map(s.x.cfg.Secrets.Hide)
	r.Busy, r.Absent = time.Since(parsing), len(found) == 0
	s.cost.add(r.Busy)
	if s.own = s.own || learned; !s.own {
		s.give(r.Reading)
		return
	}
	s.pending = append(s.pending, r)
	if s.free || !s.skew.known || s.skew.bound() <= narrow || len(s.pending) >= mostPending {
		s.release()
	}
}

// learn reads the source's clock from the Date of an answer, and reports an unusable one.
func (s *session) learn(a answer) plan.Message {
	switch {
	case a.date.IsZero() && s.skew.known:
		s.skew.drift(s.skew.on(a.received))
	case a.date.IsZero():
		return plan.Msg(NoDate)
	case !s.skew.date(a.sent, a.received, a.date, a.age):
		s.pending = nil // by a clock that is no more
		return plan.Msg(Stepped)
	}
	return plan.Message{}
}

// judge says why a sample with a stamp cannot be placed in the run.
func (s *session) judge(v *value, received time.Time) plan.Message {
	switch {
	case !s.skew.known:
		return plan.Msg(NoDate)
	case !s.skew.sample(v.stamp, received):
		return plan.Msg(Misdated, "series", v.Name)
	}
	if age := s.skew.age(v.stamp, received); age > mostAge {
		return plan.Msg(Stale, "series", v.Name, "age", age.Round(time.Second))
	}
	return plan.Message{}
}

// choose is the first doubt that was not reported yet, else the first.
func (s *session) choose(doubts []plan.Message) (first plan.Message) {
	for _, d := range doubts {
		if d.IsZero() {
			continue
		}
		if first.IsZero() {
			first = d
		}
		if !s.reported[d.Code] {
			s.reported[d.Code] = true
			return d
		}
	}
	return first
}

// release hands on the held values, by the source's clock as it is known now.
func (s *session) release() {
	if len(s.pending) == 0 {
		return
	}
	s.free = true
	var c telemetry.Clock
	if s.skew.known {
		c = s.skew.clock()
	}
	for _, r := range s.pending {
		bound := r.Clock.Bound
		for i, v := range r.Values {
			if r.stamped[i] {
				at := s.skew.here(v.At, c)
				r.Values[i].At, bound = at, max(bound, c.Bound+s.skew.drifted(at))
			}
		}
		r.Clock = telemetry.Clock{Own: c.Own, Offset: c.Offset, Bound: bound}
		s.give(r.Reading)
	}
	s.pending = nil
}

// count is the number in a label, 0 if it is none.
func count(label string) float64 {
	n, err := strconv.ParseUint(cmp.Or(label, "0"), 10, 31)
	if err != nil {
		return 0
	}
	return float64(n)
}
