package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// maxProbes is the largest rate of probes, which are sent one at a time.
const maxProbes = 1e6

// Check reports everything wrong with the form of a Spec. Settings of datasets,
// arrivals and dialects are checked by the packages that define their kinds.
func (s *Spec) Check() (p Problems) {
	p.If(s.Version > Version, "version", s.Version, "was written by a newer Pitot; this one reads version %d", Version)
	p.If(s.Version < 1, "version", s.Version, "must be %d", Version)
	p = append(p, s.Target.check()...)
	p = append(p, s.Request.check()...)
	p.Count("requests", s.Requests, 0)
	p.Span("duration", s.Duration)
	p.If(s.Seed > math.MaxUint32, "seed", s.Seed, "must be at most %d", uint32(math.MaxUint32))
	p = append(p, s.checkLoad()...)
	p.Count("gate.concurrency", s.Gate.Concurrency, 0)
	p.If(s.Gate.Hold && s.Gate.Concurrency == 0, "gate.hold", nil, "only applies to a gate with a concurrency")
	p.If(s.Tokens.Vocab < 0 || s.Tokens.Vocab == 1, "tokenizer.vocab", s.Tokens.Vocab, "must be at least 2")
	p.If(s.Tokens.Vocab > MaxVocab, "tokenizer.vocab", s.Tokens.Vocab, "must be at most %d", MaxVocab)
	p = append(p, s.Before.check()...)
	p = append(p, s.checkCache()...)
	p.If(!(s.Probe.Rate >= 0 && s.Probe.Rate <= maxProbes), "probe.rate", s.Probe.Rate, "must be from 0 to %v requests per second", maxProbes)
	p.Rate("probe.rate", s.Probe.Rate)
	p = append(p, s.checkReport()...)
	p = append(p, s.Telemetry.check()...)
	return append(p, s.Client.check(s.Target)...)
}

// Bounds of telemetry.
const (
	shortestPeriod = Duration(100 * time.Millisecond)
	longestPeriod  = Duration(time.Hour)
	mostSources    = 64
)

// NoTelemetry is the source that stands for none.
const NoTelemetry = "none"

func (t *Telemetry) check() (p Problems) {
	p.If(t.Every != 0 && (t.Every < shortestPeriod || t.Every > longestPeriod), "telemetry.every", t.Every, "must be from %s to %s", shortestPeriod, longestPeriod)
	p.If(len(t.Sources) > mostSources, "telemetry.sources", len(t.Sources), "are more than %d", mostSources)
	for i, s := range t.Sources {
		p.If(s == "", Item("telemetry.sources", i), nil, "is empty")
		p.If(s == NoTelemetry && len(t.Sources) > 1, Item("telemetry.sources", i), s, "does not go with other sources")
		p.If(slices.Contains(t.Sources[:i], s), Item("telemetry.sources", i), s, "is given twice")
	}
	for i, s := range t.Keep {
		_, err := path.Match(s, "")
		p.If(s == "" || err != nil, Item("telemetry.keep", i), strconv.Quote(s), "is no pattern")
		p.Hint(s == "" || err != nil, "write the name of a series with * for any part of it, such as vllm:*")
	}
	return p
}

// CheckSampled reports problems with the sources of telemetry in a Spec, and how they are reached.
func (s *Spec) CheckSampled() Problems { return append(s.Target.check(), s.Telemetry.check()...) }

func (t *Target) check() (p Problems) {
	if t.URL != "" {
		p = append(p, CheckURL("target.url", t.URL)...)
	}
	p.If(t.Route != "" && t.Route[0] != '/' && !strings.HasSuffix(t.URL, "/"), "target.route", strconv.Quote(t.Route), "must begin with /")
	p.If(t.URL != "" && t.Engine != nil, "target.engine", nil, "only applies to the embedded engine, and a server is to be measured")
	p.If(t.URL == "" && t.Site != nil && t.Site.String() != Nowhere, "target.site", t.Site, "only applies to a server, and none is named")
	p.If(t.URL == "" && t.Tree != "", "target.tree", t.Tree, "only applies to a server, and none is named")
	p.If(t.URL != "" && t.Simulated, "target.url", nil, "a simulation needs no server")
	return append(p, checkHeaders("target.headers", t.Headers)...)
}

// CheckURL reports problems with the URL of a server. It does not repeat text
// that may be a password.
func CheckURL(path, s string) (p Problems) {
	u, err := url.Parse(s)
	lower := strings.ToLower(s)
	quoted := strconv.Quote(s)
	switch {
	case !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://"):
		p.If(true, path, quoted, "must begin with http:// or https://")
		whole, err := url.Parse("http://" + s)
		p.Hint(err == nil && CheckURL(path, whole.String()) == nil && !strings.Contains(s, "://"), "write http://%s", s)
	case err != nil && !strings.Contains(s, "@"):
		p.If(true, path, nil, "%v", err)
	case err != nil || u.User != nil:
		p.If(true, path, nil, "must not contain a user name and a password; send them as a header named Authorization")
	case u.Host == "":
		p.If(true, path, quoted, "has no host")
	case u.RawQuery != "" || u.Fragment != "":
		p.If(true, path, quoted, "must not have a query or a fragment")
	default:
		port := u.Port()
		n, err := strconv.Atoi(port)
		p.If(port != "" && (err != nil || n < 1 || n > 65535), path, quoted, "the port must be between 1 and 65535")
	}
	return p
}

func checkHeaders(path string, headers []Header) (p Problems) {
	for i, h := range headers {
		at := Item(path, i)
		p.If(!httpguts.ValidHeaderFieldName(h.Name), Join(at, "name"), strconv.Quote(h.Name), "is not a name that HTTP allows")
		p.If(!httpguts.ValidHeaderFieldValue(h.Value), at, h.Name, "the value has characters that no header can carry")
		p.If(h.From != nil && h.Value != "", at, h.Name, "has a value and a source; give one of them")
	}
	return p
}

func (r *Request) check() (p Problems) {
	p.If(r.Protocol == "", "request.protocol", nil, "is missing")
	p.OneOf("request.usage", string(r.Usage), string(UsageAtEnd), string(UsageEach))
	p.If(r.Usage == UsageEach && !r.Stream, "request.usage", nil, "only applies to streams")
	for _, object := range []struct {
		path string
		raw  json.RawMessage
	}{{"request.body", r.Body}, {"request.sampling", r.Sampling}} {
		var fields map[string]json.RawMessage
		err := json.Unmarshal(object.raw, &fields)
		p.If(object.raw != nil && (err != nil || fields == nil), object.path, nil, "must be an object such as {\"temperature\": 0}")
	}
	return append(p, checkHeaders("request.headers", r.Headers)...)
}

func (s *Spec) checkLoad() (p Problems) {
	p.If(len(s.Load) == 0, "load", nil, "is missing: nothing would be sent")
	names := map[string]bool{}
	for i, stream := range s.Load {
		at := Item("load", i)
		p.If(len(s.Load) > 1 && stream.Name == "", at, nil, "needs a name, as one of several")
		p.If(stream.Name != "" && names[stream.Name], Join(at, "name"), stream.Name, "names two streams")
		names[stream.Name] = true
		p.If(stream.Arrival.Kind == "", Join(at, "arrival"), nil, "is missing")
		p.Count(Join(at, "requests"), stream.Requests, 0)
		p.If((stream.Dataset.Kind != "") == (len(stream.Mix) > 0), at, nil, "needs either a dataset or a mix of several")
		p.If(len(s.Load) > 1 && len(stream.Mix) > 0, Join(at, "mix"), nil, "only applies to a load of one stream")
		p = append(p, stream.check(at)...)
		p = append(p, checkMix(Join(at, "mix"), stream.Mix)...)
	}
	return p
}

func checkMix(path string, mix []Part) (p Problems) {
	names := map[string]bool{}
	for i, part := range mix {
		at := Item(path, i)
		p.If(part.Name == "", at, nil, "needs a name")
		p.If(part.Name != "" && names[part.Name], Join(at, "name"), part.Name, "names two parts")
		names[part.Name] = true
		p.If(!(part.Weight > 0) || math.IsInf(part.Weight, 1), Join(at, "weight"), part.Weight, "must be a positive number")
		p.If(part.Dataset.Kind == "", Join(at, "dataset"), nil, "is missing")
		p = append(p, part.check(at)...)
	}
	return p
}

func (o *Override) check(path string) Problems { return checkHeaders(Join(path, "headers"), o.Headers) }

func (b *Before) check() (p Problems) {
	const at = "before."
	p.Span(at+"ready.connect", b.Ready.Connect)
	p.Span(at+"ready.timeout", b.Ready.Timeout)
	p.Count(at+"warm_up.requests", b.WarmUp.Requests, 0)
	p.OneOf(at+"warm_up.from", b.WarmUp.From, WarmOther, WarmMeasured, WarmFirst)
	p.If(b.WarmUp.Steady && b.WarmUp.From == WarmMeasured, at+"warm_up.steady", nil, "a warm-up until steady has prompts of its own, and the measured ones are asked for")
	p.If(b.WarmUp.Brief && !b.WarmUp.Steady, at+"warm_up.brief", nil, "only applies to a warm-up until steady")
	p.Span(at+"settle", b.Settle)
	for i, w := range b.Profiler.Workers {
		p = append(p, CheckURL(Join(Item(at+"profiler.workers", i), "url"), w.URL)...)
	}
	return p
}

// checkCache checks the declared state of the cache.
func (s *Spec) checkCache() (p Problems) {
	p.OneOf("cache", string(s.Cache), string(ColdCache), string(PrimedCache), string(WarmCache))
	primed := s.Cache == PrimedCache
	p.If(primed && s.Target.Simulated, "cache", s.Cache, "a simulation begins with an empty cache")
	p.Hint(primed && s.Target.Simulated, "only cold applies; `pitot bench` without a URL measures the same engine, and can prime it")
	open := primed && s.Requests == 0 && s.Duration > 0
	p.If(open, "cache", s.Cache, "needs a number of requests: a duration alone does not tell which prompts will be sent")
	p.Hint(open, "give the number of requests too")
	return p
}

// checkReport checks names, objectives and percentiles.
func (s *Spec) checkReport() (p Problems) {
	p.If(s.Name == "last", "name", s.Name, "is reserved for the newest run")
	p = append(p, CheckObjectives("objectives", s.Objectives)...)
	for i, o := range s.Objectives {
		p.If(!s.Request.Stream && o.Metric != "e2el", Item("objectives", i), o.Metric, "without a stream there is only e2el")
	}
	return append(p, CheckPercentiles("percentiles", s.Percentiles)...)
}

// CheckObjectives reports problems with objectives.
func CheckObjectives(path string, all []Objective) (p Problems) {
	for i, o := range all {
		p.If(o.Limit < 0, Item(path, i), o.Limit, "must not be negative")
		p.If(slices.ContainsFunc(all[:i], func(other Objective) bool { return other.Name() == o.Name() }), Item(path, i), o.Name(), "is given twice")
		p.If(o.OfRun() && o.Limit == 0, Item(path, i), o.Limit, "must be above 0")
	}
	return p
}

// CheckPercentiles reports problems with percentiles.
func CheckPercentiles(path string, all []float64) (p Problems) {
	for i, v := range all {
		p.If(!(v >= 0 && v <= 100), Item(path, i), v, "must be between 0 and 100")
		p.If(slices.Contains(all[:i], v), Item(path, i), v, "is given twice")
	}
	return p
}

// mostMiB is more than any answer has, and fits into memory.
const mostMiB = 4096

func (c *Client) check(t Target) (p Problems) {
	p.OneOf("client.engine", c.Engine, "h1", "nethttp")
	p.If(c.Engine == "h1" && t.HTTP2, "client.engine", c.Engine, "only speaks HTTP/1.1; leave out HTTP/2, or use nethttp")
	p.IntegerIn("client.procs", c.Procs, 0, MaxProcs)
	p.IntegerIn("client.max_event", c.MaxEvent, 0, mostMiB)
	p.IntegerIn("client.max_body", c.MaxBody, 0, mostMiB)
	for _, d := range []struct {
		name  string
		value Duration
	}{{"keep_alive", c.KeepAlive}, {"timeout", c.Timeout}, {"idle_timeout", c.IdleTimeout}} {
		p.Span("client."+d.name, d.value)
	}
	return p
}

// Read reads and checks a Spec from a file, and reports every mistake at its place.
func Read(file string, data []byte) (*Spec, *Document, error) {
	doc, err := Parse(file, data)
	if err != nil {
		return nil, nil, err
	}
	if v := doc.Root.Member("version"); v != nil {
		if n, err := ParseInteger(v.Text); err == nil && n > Version {
			return nil, nil, doc.Explain(Problems{{Path: "version", Value: v.Text, Why: fmt.Sprintf("was written by a newer Pitot; this one reads version %d", Version)}})
		}
	}
	s := &Spec{Request: Request{Stream: true}}
	misread := Decode(doc.Root, s)
	return s, doc, doc.Explain(misread, s.Check())
}
