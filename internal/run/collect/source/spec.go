package source

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/run/collect"
)

// Auto is the source that stands for those that are found: the target's /metrics, this machine
// and, if the target is on it, its devices. Those that do not answer are not mentioned.
const Auto = "auto"

// server is the name of the target's source.
const server = "server"

// Check reports the faults of the sources of a Spec.
func Check(t plan.Telemetry) (p plan.Problems) {
	for i, text := range t.Sources {
		if text == plan.NoTelemetry || text == Auto || text == "" { // plan reports the last one
			continue
		}
		_, err := Parse(text, func(u string) (collect.Collector, error) { return NewScraper(Config{URL: u}) })
		p.If(err != nil, plan.Item("telemetry.sources", i), nil, "%v", err)
	}
	return p
}

// For are the collectors of a run, by a Spec that Check has no problem with. They have different
// names. Nothing is asked yet.
func For(t plan.Telemetry, target collect.Target) (all []collect.Collector) {
	sources := t.Sources
	if len(sources) == 0 {
		sources = []string{Auto}
	}
	for _, text := range sources {
		switch text {
		case plan.NoTelemetry:
		case Auto:
			all = append(all, found(t, target)...)
		default:
			c, err := Parse(text, func(u string) (collect.Collector, error) { return ofURL(u, t, target) })
			if err == nil {
				all = append(all, c)
			}
		}
	}
	return distinct(all)
}

// distinct leaves out duplicate sources, preferring named ones to found ones, and renames different sources of one
// name, such as two pages of one server.
func distinct(all []collect.Collector) (out []collect.Collector) {
	at, taken := map[string]int{}, map[string]bool{}
	for _, c := range all {
		s := c.Describe()
		key := s.Name + "\n" + s.Via
		if i, had := at[key]; had {
			if _, optional := out[i].(collect.Optional); optional {
				out[i] = rename(c, out[i].Describe().Name)
			}
			continue
		}
		name := s.Name
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", s.Name, n)
		}
		at[key], taken[name] = len(out), true
		out = append(out, rename(c, name))
	}
	return out
}

// renamed is a collector under another name.
type renamed struct {
	collect.Collector
	name string
}

func rename(c collect.Collector, name string) collect.Collector {
	if c.Describe().Name == name {
		return c
	}
	if o, optional := c.(collect.Optional); optional {
		return collect.Optional{Collector: renamed{o.Collector, name}}
	}
	return renamed{c, name}
}

func (r renamed) Describe() telemetry.Source {
	s := r.Collector.Describe()
	s.Name = r.name
	return s
}

// found are the sources of Auto.
func found(t plan.Telemetry, target collect.Target) (all []collect.Collector) {
	if c, err := ofTarget(target.URL, t, target); err == nil {
		all = append(all, collect.Optional{Collector: c})
	}
	here := []collect.Collector{}
	switch {
	case Local(target.URL) && !target.Embedded:
		here = Here()
	case Known():
		here = append(here, Host{})
	}
	for _, c := range here {
		all = append(all, collect.Optional{Collector: c})
	}
	return all
}

func ofTarget(address string, t plan.Telemetry, target collect.Target) (collect.Collector, error) {
	config := Config{
		Name: server, URL: address, Header: target.Header, Secrets: target.Secrets, Keep: t.Keep,
		Dial: target.Dial, Proxy: target.Proxy, HTTP2: target.HTTP2, Live: target.Live,
	}
	if address == target.URL {
		config.URL = strings.TrimRight(address, "/") + "/metrics"
	}
	if target.TLS != nil {
		config.TLS = target.TLS.Clone()
	}
	return NewScraper(config)
}

// ofURL is the target's /metrics, or another exporter, which does not get the target's key.
func ofURL(address string, t plan.Telemetry, target collect.Target) (collect.Collector, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if of, err := url.Parse(target.URL); err == nil && of.Host == u.Host && of.Scheme == u.Scheme {
		return ofTarget(address, t, target)
	}
	return NewScraper(Config{
		Name: nameOf(u), URL: address, Secrets: target.Secrets, Keep: t.Keep, Dial: target.Dial, Proxy: target.Proxy, Live: target.Live,
	})
}

// nameOf is host:port, with the path where it is not the usual one.
func nameOf(u *url.URL) string {
	name := u.Host
	if u.Path != "" && u.Path != "/" && u.Path != "/metrics" {
		name += u.Path
	}
	return name
}

// Local reports whether a URL is of this machine.
func Local(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
