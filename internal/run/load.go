package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// atOnce is the kind of arrival of a closed loop, and of a burst.
const atOnce = "at-once"

// A stream is one of a Spec, with its kinds.
type stream struct {
	plan.Stream
	path    string
	arrival workload.Arrival
	parts   []*part // one where there is no mix
}

type part struct {
	plan.Part
	path    string // of the dataset
	kind    workload.Kind
	dataset workload.Dataset
	seed    uint64 // added to the run's, so that parts draw independently
}

// A load is that of a Spec, with its kinds.
type load struct {
	spec    *plan.Spec
	streams []*stream
	ask     workload.Ask
	enough  int // requests for its time; 0: by the Spec or the datasets
	spool   *workload.Spool
	window  int // requests beyond which they are made as they are due; 0: all are made before
}

// The seeds of parts lie beyond those that a Spec can have, and beyond the bit of the
// warm-up.
const (
	warmUpSeed = 1 << 32
	partSeed   = 1 << 33
)

// newLoad finds the kinds that a Spec names, decodes their settings and has them checked.
// In the Spec the settings are then complete, with their defaults.
func newLoad(spec *plan.Spec, kinds Kinds) (*load, plan.Problems) {
	protocol := endpoint.Protocol(spec.Request.Protocol)
	var p plan.Problems
	p.OneOf("request.protocol", spec.Request.Protocol, protocolNames()...)
	if p != nil {
		return nil, p
	}
	image := workload.Request{Text: "a", Media: []workload.Media{{MIME: "image/jpeg"}}}
	l := &load{spec: spec, ask: workload.Ask{
		Protocol: string(protocol), Text: !protocol.TakesTokens() || spec.Request.AsMessages, Messages: protocol.TakesMessages(), Silent: protocol.Silent(), Media: protocol.Takes(&image) == nil,
		Full: spec.Request.IgnoreEOS,
	}}
	for i := range spec.Load {
		s := &stream{Stream: spec.Load[i], path: plan.Item("load", i)}
		p = append(p, s.resolve(kinds)...)
		p = append(p, l.parts(s, i, kinds)...)
		p = append(p, s.checkTimes()...)
		spec.Load[i] = s.Stream
		l.streams = append(l.streams, s)
	}
	if p == nil {
		p = l.findEnough()
	}
	return l, p
}

func protocolNames() (names []string) {
	for _, p := range endpoint.Protocols() {
		names = append(names, string(p))
	}
	return names
}

func (s *stream) resolve(kinds Kinds) (p plan.Problems) {
	at := plan.Join(s.path, "arrival")
	create := kinds.Arrivals[s.Arrival.Kind]
	if create == nil {
		return unknownKind(at, s.Arrival.Kind, slices.Sorted(maps.Keys(kinds.Arrivals)))
	}
	s.arrival = create()
	p = settings(s.Arrival, s.arrival)
	if p == nil {
		p = s.arrival.Check()
		s.Arrival = plan.Make(s.Arrival.Kind, s.arrival)
	}
	return p.Below(at)
}

func (l *load) parts(s *stream, i int, kinds Kinds) (p plan.Problems) {
	if len(s.Mix) == 0 {
		one := &part{
			Part: plan.Part{Name: s.Name, Dataset: s.Dataset, Override: s.Override},
			path: plan.Join(s.path, "dataset"),
		}
		if len(l.spec.Load) > 1 {
			one.seed = uint64(i+1) * partSeed
		}
		p = l.resolve(one, kinds)
		s.Dataset, s.parts = one.Dataset, []*part{one}
		return p
	}
	for j := range s.Mix {
		one := &part{Part: s.Mix[j], path: plan.Join(plan.Item(plan.Join(s.path, "mix"), j), "dataset"), seed: uint64(j+1) * partSeed}
		p = append(p, l.resolve(one, kinds)...)
		s.Mix[j] = one.Part
		s.parts = append(s.parts, one)
	}
	return p
}

// followsData reports whether requests are sent at times from the data.
func (s *stream) followsData() bool {
	timed, ok := s.arrival.(interface{ FollowsData() bool })
	return ok && timed.FollowsData()
}

func (s *stream) checkTimes() (p plan.Problems) {
	for _, o := range s.parts {
		dateless := o.kind.New != nil && !o.kind.Dated && !o.kind.Timed
		p.If(dateless && s.followsData(), plan.Join(s.path, "arrival.file"), traffic.ReplayData, "the dataset %s has no times", o.Dataset.Kind)
		p.Hint(dateless && s.followsData(), "name a file of times, or a rate")
	}
	return p
}

func (l *load) resolve(o *part, kinds Kinds) (p plan.Problems) {
	kind, ok := kinds.Datasets[o.Dataset.Kind]
	if !ok {
		return unknownKind(o.path, o.Dataset.Kind, slices.Sorted(maps.Keys(kinds.Datasets)))
	}
	o.kind, o.dataset = kind, kind.New()
	p = settings(o.Dataset, o.dataset)
	recognize(p, o.Dataset)
	if p == nil {
		p = o.dataset.Check(&workload.Source{Requests: l.spec.Requests, Ask: l.ask})
		o.Dataset = plan.Make(o.Dataset.Kind, o.dataset)
	}
	return p.Below(o.path)
}

// settings decodes the settings of a thing. The error for one that the kind does not have
// names the kind.
func settings(t plan.Typed, dst any) plan.Problems {
	if t.Settings == nil {
		return nil
	}
	p := plan.DecodeJSON(t.Settings, dst)
	for i := range p {
		if strings.HasPrefix(p[i].Why, "unknown field") {
			p[i].Why = "does not apply to " + t.Kind + strings.TrimPrefix(p[i].Why, "unknown field")
		}
	}
	return p
}

// recognize adds to problems of a dataset's file which dataset of Pitot's own reads it, if that is another one.
func recognize(p plan.Problems, dataset plan.Typed) {
	var of struct {
		Data string `json:"data"`
	}
	if strings.Contains(dataset.Kind, ".") || json.Unmarshal(dataset.Settings, &of) != nil || of.Data == "" {
		return
	}
	for i := range p {
		if p[i].Path != "data" || p[i].Hint != "" {
			continue
		}
		if kind := recognized(of.Data); kind != "" && kind != dataset.Kind {
			p[i].Hint = fmt.Sprintf("%s looks like %s: add --workload %[2]s", filepath.Base(of.Data), kind)
		}
	}
}

func recognized(name string) string {
	file, err := files.OpenRegular(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	return traffic.Recognize(name, file)
}

// unknownKind lists the kinds of Pitot's own; those of other tools have a name with a dot.
func unknownKind(path, kind string, names []string) (p plan.Problems) {
	suggestion := plan.Suggest(kind, names)
	own := slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, ".") })
	p.If(true, plan.Join(path, "kind"), strconv.Quote(kind), "unknown kind%s; allowed: %s", suggestion, strings.Join(own, ", "))
	hint := ""
	if strings.HasSuffix(path, "dataset") {
		hint = traffic.Meant(kind)
	}
	if hint != "" {
		p[0].Why, p[0].Hint = "unknown kind", hint
	}
	return p
}

func (l *load) source(o *part, files workload.Files) *workload.Source {
	return &workload.Source{
		Requests: l.requests(), Seed: l.spec.Seed | o.seed, IDPrefix: l.spec.Request.IDs, Files: files, Ask: l.ask, NeedTime: l.timed(), Spool: l.spool, Window: l.window,
	}
}

// timed reports whether requests are sent at times from the data.
func (l *load) timed() bool { return slices.ContainsFunc(l.streams, (*stream).followsData) }

// read reads the files that datasets and arrivals name.
func (l *load) read(ctx context.Context, files workload.Files) error {
	var problems plan.Problems
	var errs []error
	add := func(path string, err error) {
		var p plan.Problems
		if errors.As(err, &p) {
			problems = append(problems, p.Below(path)...)
		} else if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
		}
	}
	for _, s := range l.streams {
		add(plan.Join(s.path, "arrival"), s.arrival.Read(files))
		for _, o := range s.parts {
			err := o.dataset.Read(ctx, l.source(o, files))
			var p plan.Problems
			if errors.As(err, &p) {
				recognize(p, o.Dataset)
			}
			add(o.path, err)
		}
	}
	return errors.Join(append(errs, problems.Err())...)
}

// drawn reports whether more requests of the same kind can be drawn.
func (l *load) drawn() bool {
	return len(l.streams) == 1 && len(l.streams[0].parts) == 1 && l.streams[0].parts[0].kind.Drawn
}
