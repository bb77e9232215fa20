package sglang

import (
	"cmp"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// Kinds are the datasets by the names that Specs have for them: the tool's own names
// behind its name.
func Kinds() map[string]workload.Kind {
	drawn := func(create func() workload.Dataset) workload.Kind {
		return workload.Kind{New: create, Drawn: true, Unwritten: true}
	}
	file := func(create func() workload.Dataset) workload.Kind { return workload.Kind{New: create} }
	chats := func(create func() workload.Dataset) workload.Kind { return workload.Kind{New: create, Chats: true} }
	return map[string]workload.Kind{
		"sglang.random":     drawn(func() workload.Dataset { return &random{lengths: usual} }),
		"sglang.random-ids": drawn(func() workload.Dataset { return &random{lengths: usual, ids: true} }),
		"sglang.generated-shared-prefix": drawn(func() workload.Dataset {
			return &sharedPrefix{Groups: 64, PerGroup: 16, System: 2048, Question: 128, Output: 256, Ratio: 1, Turns: 1}
		}),
		"sglang.image": drawn(func() workload.Dataset {
			return &noise{lengths: usual, Count: 1, Content: "random", Format: "jpeg", Resolution: "1080p"}
		}),
		"sglang.sharegpt":      file(func() workload.Dataset { return &talks{data: data{kind: "sharegpt"}} }),
		"sglang.custom":        file(func() workload.Dataset { return &talks{data: data{kind: "custom"}, lines: true} }),
		"sglang.longbench_v2":  file(func() workload.Dataset { return &longBench{data: data{kind: "longbench_v2"}} }),
		"sglang.speed-bench":   file(func() workload.Dataset { return &speedBench{data: data{kind: "speed-bench"}, Output: 512} }),
		"sglang.mmmu":          file(func() workload.Dataset { return &mmmu{data: data{kind: "mmmu"}, Output: usual.Output} }),
		"sglang.openai":        chats(func() workload.Dataset { return &datasetOpenAI{data: data{kind: "openai"}} }),
		"sglang.agentic-trace": chats(func() workload.Dataset { return &agentic{data: data{kind: "agentic-trace"}} }),
		"sglang.mooncake": {New: func() workload.Dataset {
			return &mooncake{data: data{kind: "mooncake"}, Workload: "conversation", Rounds: 1, Slowdown: 1}
		}, Timed: true},
	}
}

// usualRequests is how many the tool sends where nothing says how many.
const usualRequests = 1000

func wanted(s *workload.Source) int { return cmp.Or(s.Requests, usualRequests) }

// January is the version of January 2026, 0.5.6.post2, from which that of mid-2026
// differs.
const January = "2026-01"

// A common has the settings of every dataset.
type common struct {
	Version string `json:"version,omitempty"` // of the tool; empty: the newest
}

func (c *common) SetVersion(version string) { c.Version = version }

func (c *common) check() (p plan.Problems) {
	p.OneOf("version", c.Version, "main", January)
	return p
}

// A source is what a dataset draws from.
type source struct {
	*workload.Source
	january bool
	numpy   *pyrand.Legacy // numpy.random
	python  *pyrand.Random // random
}

func (c *common) source(s *workload.Source) *source {
	return &source{Source: s, january: c.Version == January, numpy: pyrand.NewLegacy(uint32(s.Seed)), python: pyrand.NewRandom(int64(s.Seed))}
}

// finished is a workload with what follows from its requests: what to warm up with, the
// generators as they stand now, and pictures in the way of the protocol.
func (s *source) finished(w workload.Workload) workload.Workload {
	if w.Warmup == nil {
		w.Warmup = firstRound(&w)
	}
	s.sendPictures(w.Requests)
	s.sendPictures(w.Warmup)
	w.Numpy, w.Python = s.numpy, s.python
	return w
}

// firstRound is the first request, or the first conversation, without anything that is
// the request's alone.
func firstRound(w *workload.Workload) (out []workload.Request) {
	for i, bare := range w.All().All() {
		r := *bare
		if i > 0 && (!w.Turns || r.After != i) {
			break
		}
		r.Extra, r.Header = nil, nil
		out = append(out, r)
	}
	return out
}

// sendPictures puts pictures into a field of their own where the protocol has no place
// for them, and drops them where the tool does.
func (s *source) sendPictures(requests []workload.Request) {
	for i := range requests {
		r := &requests[i]
		if len(r.Media) == 0 {
			continue
		}
		switch s.Ask.Protocol {
		case "completions":
			r.Amend(asImageData)
		case "trt", "truss":
			r.Amend(func(whole *workload.Request) { whole.Media = nil })
		default:
			continue
		}
		r.Media = nil
	}
}

func asImageData(r *workload.Request) {
	r.Set("image_data", python.JSONList(len(r.Media), func(b []byte, i int) []byte { return python.AppendString(b, r.Media[i].Address()) }))
	r.Media = nil
}

// needText is the error of prompts that cannot be made without a tokenizer.
func (s *source) needText(why string) error {
	if s.Tokens != nil {
		return nil
	}
	return plan.Problems{{Why: why + ", and there is no tokenizer", Hint: "name one"}}
}

// requests is how many are wanted, 0 where the dataset says it, or all are.
func (a *Args) requests() int {
	switch a.DatasetName {
	case "generated-shared-prefix":
		return 0
	case "openai", "agentic-trace":
		return max(0, a.NumPrompts)
	}
	return max(1, a.NumPrompts) // less is refused
}

// conversations tells whether requests are turns that wait for each other.
func (a *Args) conversations() bool {
	return a.DatasetName == "agentic-trace" || a.DatasetName == "generated-shared-prefix" && a.GSPNumTurns > 1
}

// dataset is what --dataset-name names, with the flags of its settings. run begins the
// routing keys of a run.
func (a *Args) dataset(run string) (workload.Dataset, map[string]string) {
	d := Kinds()["sglang."+a.DatasetName].New()
	flags := python.Assign(d, a.options)
	flags["version"] = "--dialect-version"
	if !a.main() {
		d.(interface{ SetVersion(string) }).SetVersion(January)
	}
	if d, ok := d.(interface{ SetRoutingKey(string) }); ok && a.GSPSendRoutingKey {
		d.SetRoutingKey(run)
	}
	return d, flags
}
