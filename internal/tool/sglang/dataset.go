package sglang

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/argparse"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/sglang/dataset"
)

// Dataset is what --dataset-name names. files are those of --dataset-path, or where
// the tool keeps that dataset; run begins the routing keys of this run, with the time
// at which they are made.
func (a *Args) Dataset(files []*dataset.File, run string, now time.Time) dataset.Dataset {
	var file *dataset.File
	if len(files) > 0 {
		file = files[0]
	}
	switch a.DatasetName {
	case "random", "random-ids":
		return dataset.Random{
			Requests: a.NumPrompts, Input: a.RandomInputLen, Output: a.RandomOutputLen, Ratio: a.RandomRangeRatio,
			IDs: a.DatasetName == "random-ids", AsIDs: a.TokenizePrompt, File: file,
		}
	case "sharegpt":
		return dataset.ShareGPT{Talks: a.talks(file)}
	case "custom":
		return dataset.Custom{Talks: a.talks(file)}
	case "openai":
		return dataset.OpenAI{File: file, Requests: a.NumPrompts, Output: a.ShareGPTOutputLen}
	case "generated-shared-prefix":
		return a.sharedPrefix(run, now)
	case "image":
		return dataset.Image{
			Requests: a.NumPrompts, Count: a.ImageCount, RandomCount: a.RandomImageCount, Input: a.RandomInputLen, Output: a.RandomOutputLen,
			Ratio: a.RandomRangeRatio, Content: a.ImageContent, Format: a.ImageFormat, Resolution: a.ImageResolution, Backend: a.Backend,
		}
	case "mmmu":
		return dataset.MMMU{Files: files, Requests: a.NumPrompts, Output: a.RandomOutputLen, Backend: a.Backend}
	case "mooncake":
		return dataset.Mooncake{File: file, Requests: a.NumPrompts, Rounds: a.MooncakeNumRounds, Slowdown: a.MooncakeSlowdownFactor}
	case "agentic-trace":
		return dataset.Agentic{File: file, Requests: a.NumPrompts, Output: a.ShareGPTOutputLen, Offset: a.DatasetOffset, MaxTurns: a.AgenticMaxTurns}
	case "longbench_v2":
		return dataset.LongBench{File: file, Requests: a.NumPrompts, Output: a.ShareGPTOutputLen, Context: a.ShareGPTContextLen}
	}
	s := dataset.SpeedBench{File: file, Requests: a.NumPrompts, Output: a.SpeedBenchOutputLen}
	if a.SpeedBenchCategory != nil {
		s.Category = *a.SpeedBenchCategory
	}
	return s
}

func (a *Args) talks(file *dataset.File) dataset.Talks {
	return dataset.Talks{
		File: file, Requests: a.NumPrompts, Output: a.ShareGPTOutputLen, Context: a.ShareGPTContextLen,
		Suffix: a.PromptSuffix, ChatTemplate: a.ApplyChatTemplate,
	}
}

func (a *Args) sharedPrefix(run string, now time.Time) dataset.SharedPrefix {
	return dataset.SharedPrefix{
		Groups: a.GSPNumGroups, PerGroup: a.GSPPromptsPerGroup, System: a.GSPSystemPromptLen, Question: a.GSPQuestionLen, Output: a.GSPOutputLen,
		Ratio: a.GSPRangeRatio, Turns: a.GSPNumTurns, Ordered: a.GSPOrdered, Fast: a.GSPFastPrepare, Zipf: a.GSPZipfAlpha,
		AsIDs: a.TokenizePrompt, RoutingKey: a.GSPSendRoutingKey, Run: run, Start: now.Local().Format("20060102150405"),
	}
}

// Form is the state of the tool that its datasets follow.
func (a *Args) Form() dataset.Form {
	if a.DialectVersion.Since(Main) {
		return dataset.Main
	}
	return dataset.January
}

// Finish gives the requests of a dataset what the tool adds when it sends them: it asks
// for usage in conversations, and sends pictures in the way of the backend.
func (a *Args) Finish(requests []workload.Request, turns bool) {
	extra, _ := a.extra() // checked
	for i := range requests {
		r := &requests[i]
		switch {
		case len(r.Media) == 0:
		case a.Protocol() == "completions":
			r.Amend(func(r *workload.Request) {
				put(r, "image_data", addresses(r.Media))
				r.Media = nil
			})
		case a.Backend == "trt" || a.Backend == "truss":
			r.Amend(func(r *workload.Request) { r.Media = nil }) // it leaves them out
		}
		if turns && a.Streams() {
			askUsage(r, extra["stream_options"])
		}
	}
}

// put sets a body field of one request.
func put(r *workload.Request, name string, value json.RawMessage) {
	r.Extra = maps.Clone(r.Extra)
	if r.Extra == nil {
		r.Extra = map[string]json.RawMessage{}
	}
	r.Extra[name] = value
}

// askUsage asks for usage at the end of a stream, unless the options say otherwise.
func askUsage(r *workload.Request, options json.RawMessage) {
	if own := r.Extra["stream_options"]; own != nil {
		options = own
	}
	var all map[string]json.RawMessage
	_ = json.Unmarshal(options, &all) // what is no object is none
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	if all["include_usage"] == nil {
		all["include_usage"] = json.RawMessage("true")
	}
	b, _ := json.Marshal(all) // of what was read
	put(r, "stream_options", b)
}

// addresses are pictures as a list of their URLs.
func addresses(media []workload.Media) json.RawMessage {
	return python.JSONList(len(media), func(b []byte, i int) []byte {
		if media[i].URL != "" {
			return python.AppendString(b, media[i].URL)
		}
		b = append(b, `"data:`+media[i].MIME+`;base64,`...)
		return append(base64.StdEncoding.AppendEncode(b, media[i].Data), '"')
	})
}

// Describe says what is sent, and when, for n requests.
func (a *Args) Describe(n int) (what, when string) {
	s := argparse.Settings{}
	for name, v := range a.Settings() {
		s[strings.ReplaceAll(name, "-", "_")] = python.Unquote(v)
	}
	p := trace.Plan{Dialect: "sglang", Requests: n, Rate: a.ConstantRate()}
	if a.DatasetName == "mooncake" {
		return s.Workload(p), "as recorded in the dataset"
	}
	delete(s, "use_trace_timestamps") // changes nothing but a label
	return s.Workload(p), s.Arrival(p)
}
