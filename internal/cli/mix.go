package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// parts are those of the mix, or the tenants.
func (c *benchCmd) parts() []part {
	if len(c.Tenants) > 0 {
		return c.Tenants
	}
	return c.Mix
}

// manyParts tells whether there are any.
func (c *benchCmd) manyParts() bool { return len(c.Mix)+len(c.Tenants) > 0 }

// partFlag is the flag that parts are given by.
func (c *benchCmd) partFlag() string {
	if len(c.Tenants) > 0 {
		return "tenant"
	}
	return "mix"
}

// partCommand is the command line of one part, as if it were all there is.
func (c *benchCmd) partCommand(i int) *benchCmd {
	p := c.parts()[i]
	sub := *c
	sub.workloadSettings, sub.Mix, sub.Tenants = p.workloadSettings, nil, nil
	sub.loadSettings = loadSettings{Rate: p.Rate, Ramp: p.Ramp, Replay: p.Replay, Speed: p.Speed, Arrival: p.Arrival, Burstiness: p.Burstiness}
	sub.partSeed = uint64(i+1) << 33 // beyond the seeds that can be asked for, and the bit of the warm-up
	sub.files = files{}
	if i < len(c.partFiles) {
		sub.files = c.partFiles[i]
	}
	sub.completeWorkload()
	return &sub
}

// checkParts reports everything wrong with the parts, and reads their files.
func (c *benchCmd) checkParts() error {
	if len(c.Mix) > 0 && len(c.Tenants) > 0 {
		return usagef("--mix and --tenant each say who sends what: give one of them; a tenant has one workload")
	}
	var errs []error
	names := map[string]bool{}
	for i := range c.parts() {
		p := &c.parts()[i]
		bad := func(cond bool, format string, a ...any) {
			if cond {
				errs = append(errs, usagef("--%s %s: %s", c.partFlag(), p, fmt.Sprintf(format, a...)))
			}
		}
		bad(p.Name == "" && len(c.Tenants) > 0, "needs a name=NAME")
		if p.Name == "" {
			p.Name = p.Workload
			for n := 2; names[p.Name]; n++ {
				p.Name = fmt.Sprintf("%s-%d", p.Workload, n)
			}
		}
		bad(names[p.Name], "the name %s is there twice", p.Name)
		names[p.Name] = true
		bad(!(p.Weight > 0), "weight %v: must be a positive number", p.Weight)
		bad(len(c.Tenants) > 0 && p.says("weight"), "weight belongs to --mix: a tenant has a rate")
		bad(p.says("requests") && len(c.Mix) > 0, "requests belongs to --requests, which is that of the whole mix")
		bad(p.says("conversations"), "conversations: how many there are is decided by --requests and by when they begin")
		for _, name := range []string{"rate", "ramp", "replay", "speed", "arrival", "burstiness"} {
			bad(len(c.Mix) > 0 && p.says(name), "%s belongs to the whole mix, or to --tenant", name)
		}
		if _, err := parseHeaders(p.Header); err != nil {
			bad(true, "%v", inPart(err.Error()))
		}
		sub := c.partCommand(i)
		err := errors.Join(sub.idleWords(p), sub.checkWorkload(), sub.check(sub.Data != ""))
		if err == nil {
			err = sub.checkFiles()
		}
		c.partFiles = append(c.partFiles, sub.files)
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				bad(true, "%s", inPart(line))
			}
		}
	}
	return errors.Join(errs...)
}

// idleWords reports settings of a part that have no effect.
func (c *benchCmd) idleWords(p *part) error {
	var errs []error
	for _, w := range p.words {
		name, _, _ := strings.Cut(w, "=")
		if why := c.idle(name); why != "" {
			errs = append(errs, usagef("%s %s", name, why))
		}
	}
	return errors.Join(errs...)
}

// buildMix deals the arrivals to the parts by weight.
func (c *benchCmd) buildMix(ctx context.Context, s *session, tok tokens) (workload.Workload, error) {
	weights := make([]float64, len(c.Mix))
	for i, p := range c.Mix {
		weights[i] = p.Weight
	}
	return c.together(ctx, s, tok, traffic.Deal(weights, c.Requests, c.seed()))
}

// buildTenants lets the tenants arrive, and builds what they send.
func (c *benchCmd) buildTenants(ctx context.Context, s *session, tok tokens) (workload.Workload, error) {
	var schedules []arrival.Schedule
	var words []string
	for i, p := range c.Tenants {
		sub := c.partCommand(i)
		of, text, err := sub.arrivalsOf(c.Requests, p.Requests)
		if err != nil {
			return workload.Workload{}, fmt.Errorf("tenant %s: %w", p.Name, err)
		}
		schedules, words = append(schedules, of), append(words, p.Name+" "+text)
	}
	at, of := traffic.Superpose(schedules, c.Requests)
	w, err := c.together(ctx, s, tok, of)
	times := func(yield func(time.Duration) bool) {
		for _, t := range at {
			if !yield(t) {
				return
			}
		}
	}
	c.arrivals = &load{schedule: times, description: strings.Join(words, ", "), requests: len(w.Requests)}
	return w, err
}

// arrivalsOf are those of a tenant: at most n, and if most is not 0, at most as many.
func (c *benchCmd) arrivalsOf(n, most int) (arrival.Schedule, string, error) {
	requests := make([]workload.Request, n)
	switch {
	case c.kind() == "replay" && c.Replay == "data" && c.Workload == "trace":
		for i := range min(n, len(c.files.rows)) {
			requests[i].At = c.files.rows[i].At
		}
		requests = requests[:min(n, len(c.files.rows))]
	case c.kind() == "replay" && c.Replay == "data":
		return nil, "", usagef("replay=data: of a tenant it is for workload=trace alone; give a file of times, or a rate")
	}
	l, err := c.schedule(requests, c.Seed^uint32(c.partSeed>>33)<<16)
	limit := min(cmp.Or(most, n), l.requests)
	limited := func(yield func(time.Duration) bool) {
		left := limit
		for t := range l.schedule {
			if left--; left < 0 || !yield(t) {
				return
			}
		}
	}
	return limited, l.description, err
}

// together builds as much of each part as it is to have of the arrivals, and puts them
// together.
func (c *benchCmd) together(ctx context.Context, s *session, tok tokens, of []int) (workload.Workload, error) {
	counts := perPart(of, len(c.parts()))
	var w workload.Workload
	parts := make([]traffic.Part, len(counts))
	for i, p := range c.parts() {
		parts[i].Name = p.Name
		if counts[i] == 0 {
			continue
		}
		sub := c.partCommand(i)
		sub.arrive(counts[i])
		built, err := sub.buildOne(ctx, tok)
		if err != nil {
			return w, usagef("--%s %s: %w", c.partFlag(), p, err)
		}
		for _, n := range built.Notes {
			w.Notes = append(w.Notes, p.Name+": "+n)
		}
		if parts[i].Requests, err = c.own(s, p, built.Requests); err != nil {
			return w, err
		}
	}
	var arrivals int
	w.Requests, arrivals = traffic.Together(parts, of, c.idPrefix)
	c.dealt = map[string]int{}
	for i, n := range perPart(of[:arrivals], len(parts)) {
		c.dealt[parts[i].Name] = n
	}
	if arrivals < len(of) {
		w.Notes = append(w.Notes, fmt.Sprintf("a file has fewer requests than its part was to have: of %d arrivals the first %d are sent", len(of), arrivals))
	}
	if arrivals == 0 {
		return w, errors.New("no tenant sends anything")
	}
	return w, nil
}

// perPart is how many arrivals are of each part.
func perPart(of []int, parts int) []int {
	counts := make([]int, parts)
	for _, i := range of {
		counts[i]++
	}
	return counts
}

// arrive makes a part as large as to arrive n times.
func (c *benchCmd) arrive(n int) {
	switch c.Workload {
	case "chat", "agent", "conversations":
		c.Conversations, c.Requests = n, 0
	default:
		c.Requests = n
	}
}

// own adds to requests what a part says of its own: a model, headers, a key.
func (c *benchCmd) own(s *session, p part, requests []workload.Request) ([]workload.Request, error) {
	header := map[string]string{}
	pairs, err := parseHeaders(p.Header)
	if err != nil {
		return nil, err
	}
	for name := range pairs {
		header[name] = pairs.Get(name)
		if secretHeader(name) {
			s.target.secrets = append(s.target.secrets, secretsIn(header[name])...)
		}
	}
	if p.APIKeyEnv != "" {
		key := s.getenv(p.APIKeyEnv)
		if key == "" {
			return nil, usagef("--%s %s: api-key-env %s: the variable is not set", c.partFlag(), p, p.APIKeyEnv)
		}
		header["Authorization"] = "Bearer " + key
		s.target.secrets = append(s.target.secrets, secretsIn(key)...)
	}
	for i := range requests {
		requests[i].Model = p.Model
		if len(header) > 0 {
			requests[i].Header = header
		}
	}
	return slices.Clip(requests), nil
}
