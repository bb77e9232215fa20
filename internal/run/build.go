package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// partRequests is the default number of requests of several datasets together.
const partRequests = 100

// A builder makes the requests of a load and their schedule.
type builder struct {
	*load
	source  workload.Source // of all parts, except for their seeds
	headers func(path string, own plan.Override) (map[string]string, error)
	// noTokens is why there is no tokenizer, nil where there is one or none was wanted.
	noTokens error
}

// A built load is ready to be sent.
type built struct {
	work       workload.Workload
	due        workload.Arrangement
	what, when plan.Message
}

// build builds the workload and its schedule.
func (b *builder) build(ctx context.Context) (out built, err error) {
	path := "load"
	if len(b.streams) > 1 {
		out, err = b.tenants(ctx)
	} else {
		path = plan.Join(b.streams[0].path, "arrival")
		out, err = b.one(ctx)
	}
	if err == nil {
		err = plan.Below(path, out.settle())
	}
	if err == nil {
		err = out.cut(b.spec.Duration.Std())
	}
	return out, err
}

// one makes the load of a single stream.
func (b *builder) one(ctx context.Context) (out built, err error) {
	switch {
	case len(b.streams[0].parts) > 1 || len(b.streams[0].Mix) > 0:
		out, err = b.mix(ctx)
	default:
		one := b.streams[0].parts[0]
		out.work, err = b.part(ctx, one, b.of(one))
		out.what = one.dataset.Describe()
	}
	if err != nil {
		return out, err
	}
	if out.work.All().N == 0 {
		return out, plan.Problems{{Path: b.streams[0].path, Why: "gives no requests"}}
	}
	s := b.streams[0]
	out.due, err = s.arrival.Arrange(&out.work, workload.Arranging{Seed: b.spec.Seed, Adapters: b.spec.Adapters})
	if short := out.work.All().N - out.due.Requests; err == nil && short > 0 {
		out.work.Notes = append(out.work.Notes, plan.Msg(shortReplay, "unsent", short))
	}
	out.work.Cut(out.due.Requests)
	out.when = s.arrival.Describe()
	return out, plan.Below(plan.Join(s.path, "arrival"), err)
}

func (b *builder) of(o *part) *workload.Source {
	s := b.source
	s.Seed |= o.seed
	return &s
}

// part builds the requests of one part, with its own model and headers.
func (b *builder) part(ctx context.Context, o *part, s *workload.Source) (workload.Workload, error) {
	w, err := o.dataset.Build(ctx, s)
	err = b.withoutTokens(err)
	if err == nil {
		err = plan.Below(o.file(), b.suit(&w))
	}
	if err != nil {
		return w, plan.Below(o.path, err)
	}
	header, err := b.headers(plan.Parent(o.path), o.Override)
	if err != nil {
		return w, err
	}
	if o.Model != "" || len(header) > 0 {
		w.Amend(func(_ int, r *workload.Request) {
			if o.Model != "" {
				r.Model = o.Model
			}
			if len(header) > 0 {
				r.Header = header
			}
		})
	}
	return w, nil
}

// withoutTokens adds to the error of a dataset why it had no tokenizer.
func (b *builder) withoutTokens(err error) error {
	var problems plan.Problems
	switch {
	case err == nil || b.noTokens == nil:
		return err
	case errors.As(err, &problems):
		problems[0].Why += " (" + b.noTokens.Error() + ")"
		return problems
	}
	return fmt.Errorf("%w (%w)", err, b.noTokens)
}

// file is the setting that names the file of the dataset, empty if there is none.
func (o *part) file() string {
	var settings struct{ Data string }
	if json.Unmarshal(o.Dataset.Settings, &settings) != nil || settings.Data == "" {
		return ""
	}
	return "data"
}

// suit adapts requests to the protocol, and refuses those that it cannot express. Those that are drawn
// as they are due are all of one form.
func (b *builder) suit(w *workload.Workload) error {
	protocol, all := endpoint.Protocol(b.ask.Protocol), w.All()
	if w.List != nil {
		if b.ask.Silent {
			silent := all.Silence()
			w.List = &silent
		}
		if !all.Mixed {
			all = all.Cut(1)
		}
	}
	for i, r := range all.All() {
		if b.ask.Silent && w.List == nil {
			r.OutputTokens = 0
		}
		if err := protocol.Takes(r); err != nil {
			return plan.Problems{{Why: fmt.Sprintf("request %d, with the protocol %s: %v", i+1, protocol, err)}}
		}
	}
	return nil
}

func (b *builder) mix(ctx context.Context) (built, error) {
	parts := b.streams[0].parts
	weights := make([]float64, len(parts))
	for i, o := range parts {
		weights[i] = o.Weight
	}
	n := cmp.Or(b.requests(), partRequests)
	return b.mergeParts(ctx, parts, traffic.Deal(weights, n, b.spec.Seed), loadMix)
}

// tenants merges the arrivals of the tenants, and builds their requests.
func (b *builder) tenants(ctx context.Context) (built, error) {
	n := cmp.Or(b.requests(), partRequests)
	var schedules []arrival.Schedule
	var parts []*part
	var when []plan.Message
	for i, s := range b.streams {
		schedule, err := b.arrivals(s, i, n)
		if err != nil {
			return built{}, plan.Below(plan.Join(s.path, "arrival"), err)
		}
		schedules, parts = append(schedules, schedule), append(parts, s.parts[0])
		when = append(when, plan.Msg(arriveTenant, "name", s.Name, "arrival", s.arrival.Describe()))
	}
	at, of := traffic.Superpose(schedules, n)
	out, err := b.mergeParts(ctx, parts, of, loadTenants)
	out.due = workload.Arrangement{Schedule: slices.Values(at), Requests: out.work.All().N}
	out.when = plan.Msg(arriveTenants, "tenants", when)
	return out, err
}

// arrivals are those of tenant i: at most n, or its own limit.
func (b *builder) arrivals(s *stream, i, n int) (arrival.Schedule, error) {
	var times []time.Duration
	if s.followsData() {
		timed, ok := s.parts[0].dataset.(interface{ Times() []time.Duration })
		if !ok {
			return nil, plan.Problems{{Path: "file", Value: traffic.ReplayData, Why: "of a tenant only a trace has times; give a file of times, or a rate"}}
		}
		times = timed.Times()
		n = min(n, len(times))
	}
	starts := workload.List{N: n, Brief: func(j int) (of workload.Brief) {
		if times != nil {
			of.At = times[j]
		}
		return of
	}}
	a, err := s.arrival.Arrange(&workload.Workload{List: &starts}, workload.Arranging{Seed: tenantSeed(b.spec.Seed, i)})
	if err != nil {
		return nil, err
	}
	most := min(cmp.Or(s.Requests, n), a.Requests)
	return func(yield func(time.Duration) bool) {
		left := most
		for t := range a.Schedule {
			if left--; left < 0 || !yield(t) {
				return
			}
		}
	}, nil
}

// mergeParts builds each part's share of the arrivals, and merges them.
func (b *builder) mergeParts(ctx context.Context, parts []*part, of []int, code plan.Code) (out built, err error) {
	counts := perPart(of, len(parts))
	some := make([]traffic.Part, len(parts))
	var late []func() []plan.Message
	for i, o := range parts {
		some[i].Name = o.Name
		if counts[i] == 0 {
			continue
		}
		s := b.of(o)
		s.Requests, s.Arrivals = counts[i], true
		w, err := b.part(ctx, o, s)
		if err != nil {
			return out, err
		}
		some[i].Requests = w.All()
		out.work.Notes = append(out.work.Notes, ofPart(o.Name, w.Notes)...)
		if w.Late != nil {
			late = append(late, func() []plan.Message { return ofPart(o.Name, w.Late()) })
		}
	}
	merged, arrivals := traffic.MergeParts(some, of, b.source.IDPrefix)
	out.work.List = &merged
	if late != nil {
		out.work.Late = func() (notes []plan.Message) {
			for _, of := range late {
				notes = append(notes, of()...)
			}
			return notes
		}
	}
	if arrivals < len(of) {
		out.work.Notes = append(out.work.Notes, plan.Msg(fewArrivals, "asked", len(of), "sent", arrivals))
	}
	if arrivals == 0 {
		return out, plan.Problems{{Path: "load", Why: "no part of it sends anything"}}
	}
	out.what = shares(code, parts, perPart(of[:arrivals], len(parts)))
	return out, nil
}

// ofPart are the notes of a part as those of the load.
func ofPart(name string, notes []plan.Message) (out []plan.Message) {
	for _, n := range notes {
		out = append(out, plan.Msg(partNote, "part", name, "note", n))
	}
	return out
}

func perPart(of []int, parts int) []int {
	counts := make([]int, parts)
	for _, i := range of {
		counts[i]++
	}
	return counts
}

// shares says how many arrivals each part has, in the order of their names.
func shares(code plan.Code, parts []*part, counts []int) plan.Message {
	all := make([]plan.Message, len(parts))
	for i, o := range parts {
		all[i] = plan.Msg(loadShare, "name", o.Name, "arrivals", counts[i])
	}
	slices.SortFunc(all, func(a, b plan.Message) int { return cmp.Compare(a.Args["name"].(string), b.Args["name"].(string)) })
	return plan.Msg(code, "parts", all)
}
