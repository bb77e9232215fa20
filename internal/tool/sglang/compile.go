package sglang

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// What the tool warms up by: its rest before the run, and the most tokens of an answer.
const (
	settlePause  = time.Second
	warmUpOutput = 32
)

// arrivalKind is the kind of the tool's arrivals.
const arrivalKind = "sglang"

// The notes on a command line.
const (
	sameClient  plan.Code = "sglang.same-client"
	headersLost plan.Code = "sglang.headers-left-out" // lost, of
)

// Checked is Compile, or what Check finds.
func (a *Args) Checked(env tool.Env) (*tool.Compiled, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	return a.Compile(env)
}

// Compile makes a Spec of a command line that Check accepts.
func (a *Args) Compile(env tool.Env) (*tool.Compiled, error) {
	d, flags := a.dataset(env.Random + "_" + env.Now.Local().Format("20060102150405"))
	c := &tool.Compiled{Front: tool.Names(tool.Flags(a.DatasetName, python.Value(a.BaseURL) != "", ownFlags, flags)), Given: map[string]string{}}
	base, _ := a.urls()
	arrival := a.arrival()
	c.Spec = plan.Spec{
		Version: plan.Version, Name: python.Value(a.Tag), Target: plan.Target{URL: base, Route: paths[a.protocol()], Direct: true},
		Requests: a.requests(), Seed: uint64(a.Seed),
		Load: []plan.Stream{{Arrival: plan.Make(arrivalKind, &arrival), Dataset: plan.Make("sglang."+a.DatasetName, d)}},
		Gate: plan.Gate{Concurrency: python.Value(a.MaxConcurrency)}, Tokens: a.tokens(env), Before: a.before(env),
		After: plan.After{Account: a.infoRoute(), Tail: true}, KeepText: a.OutputDetails,
		Client: plan.Client{Timeout: tool.RequestTimeout, NewConnections: true},
	}
	if len(a.LoraName) > 0 {
		c.Spec.Adapters = plan.Adapters{Names: a.LoraName, Assign: a.LoraRequestDistribution, Alpha: a.LoraZipfAlpha}
	}
	if a.toSGLang() {
		c.Spec.After.Info = a.infoRoute()
	}
	a.keys(c, env)
	a.report(&c.Spec)
	a.note(c)
	return c, a.request(&c.Spec.Request)
}

// keys are the key of requests and questions, and the headers of requests alone, which
// also may replace the key.
func (a *Args) keys(c *tool.Compiled, env tool.Env) {
	t := &c.Spec.Target
	if env.Getenv != nil && env.Getenv("OPENAI_API_KEY") == "" && env.Getenv("API_KEY") != "" {
		t.Headers = []plan.Header{{Name: "Authorization", From: &plan.Source{Env: "API_KEY"}}}
	} else {
		t.Key = &plan.Source{Env: "OPENAI_API_KEY", Optional: true}
	}
	if a.Backend != "trt" {
		c.Spec.Request.Headers = c.Headers("request.headers", a.headers())
	}
}

func (a *Args) note(c *tool.Compiled) {
	if a.RustClient {
		c.Notes = append(c.Notes, plan.Msg(sameClient))
	}
	if lost := len(a.Header) - len(a.headers()); lost > 0 {
		c.Notes = append(c.Notes, plan.Msg(headersLost, "lost", lost, "of", len(a.Header)))
	}
}

func (a *Args) request(r *plan.Request) error {
	body, sampling, err := a.bodyFields()
	if err != nil {
		return err
	}
	if a.conversations() && a.streams() {
		body["stream_options"] = withUsage(body["stream_options"])
	}
	headers := r.Headers
	*r = plan.Request{
		Protocol: a.protocol(), Model: a.served(), Root: python.Value(a.Model), Stream: a.streams(), IgnoreEOS: a.Backend == "trt" && !a.DisableIgnoreEOS,
		Headers: headers, Bare: a.Backend == "trt", MediaFirst: true,
		Recount: plan.Recount{Answer: true, Reasoning: a.main(), Last: a.native()},
	}
	if a.Backend == "sglang-oai" || a.Backend == "sglang-oai-chat" {
		r.Recount.Drafts = a.infoRoute()
	}
	if len(body) > 0 {
		if r.Body, err = json.Marshal(body); err != nil {
			return err
		}
	}
	if sampling != nil {
		r.Sampling, err = json.Marshal(sampling)
	}
	return err
}

// withUsage asks for usage at the end of a stream, unless the options say otherwise.
func withUsage(options json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(options, &all) // anything but an object is ignored
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	if all["include_usage"] == nil {
		all["include_usage"] = json.RawMessage("true")
	}
	b, _ := json.Marshal(all) // of what was read
	return b
}

func (a *Args) arrival() Arrival {
	arrival := Arrival{Rate: a.RequestRate, OwnTimes: a.DatasetName == "mooncake", AdapterFields: a.adapterFields()}
	if math.IsInf(a.RequestRate, 1) {
		arrival.Rate = 0
	}
	return arrival
}

// adapterFields are the fields of a body that name an adapter. To the backends for
// OpenAI's API they lie over those that are given.
func (a *Args) adapterFields() (fields []string) {
	extra, _ := a.extra() // checked
	free := func(name string) bool { return extra[name] == nil }
	switch {
	case len(a.LoraName) == 0 || a.Backend == "trt" || a.Backend == "truss":
		return nil
	case a.native():
		fields = []string{"lora_path"}
	case a.embedding():
		fields = []string{"lora_path", "model"}
	default:
		return []string{"lora_path", "model"}
	}
	return slices.DeleteFunc(fields, func(name string) bool { return !free(name) })
}

func (a *Args) tokens(env tool.Env) plan.Tokenizer {
	t := env.Tokenizer(a.Tokenizer)
	if a.Tokenizer == nil && a.main() {
		t.Info = "/model_info"
	}
	return t
}

// before is what precedes the run.
func (a *Args) before(env tool.Env) plan.Before {
	b := plan.Before{
		WarmUp: plan.WarmUp{Requests: max(0, a.WarmupRequests), From: plan.WarmFirst, MaxOutput: warmUpOutput, Ungated: !a.main(), Required: true},
		Settle: plan.Duration(settlePause), Profiler: a.profiler(env),
	}
	if a.ReadyCheckTimeoutSec > 0 {
		b.Ready = plan.Ready{Timeout: plan.Duration(a.ReadyCheckTimeoutSec) * plan.Duration(time.Second), Ask: a.readyRoute()}
	}
	inCI := env.Getenv != nil && slices.Contains([]string{"true", "1"}, strings.ToLower(env.Getenv("SGLANG_IS_IN_CI")))
	if a.FlushCache || inCI && a.toSGLang() {
		b.Flush = plan.Flush{Route: a.flushRoute(), Required: a.main()}
	}
	return b
}

// profiler has the requests to profilers. They stop by themselves if given a number of steps.
func (a *Args) profiler(env tool.Env) (p plan.Profiler) {
	if !a.Profile || a.noWorkers() {
		return p
	}
	if a.PDSeparated {
		for i, url := range a.ProfilePrefillURL {
			p.Workers = append(p.Workers, plan.Worker{Name: "Prefill-" + strconv.Itoa(i), URL: url})
		}
		for i, url := range a.ProfileDecodeURL {
			p.Workers = append(p.Workers, plan.Worker{Name: "Decode-" + strconv.Itoa(i), URL: url})
		}
	}
	p.Start = plan.Call{Route: "/start_profile", Body: a.profilerBody(a.startBody(profilerDir(a, env)))}
	p.Stamp = a.main()
	if a.ProfileSteps == nil && (a.PDSeparated || a.ProfileNumSteps == nil) {
		body := map[string]any{}
		if !a.main() {
			body = a.startBody("")
		}
		p.Stop = plan.Call{Route: "/stop_profile", Body: a.profilerBody(body)}
	}
	return p
}

// noWorkers tells whether the profilers of workers are asked for, and none is named.
func (a *Args) noWorkers() bool {
	return a.PDSeparated && len(a.ProfilePrefillURL)+len(a.ProfileDecodeURL) == 0
}

func profilerDir(a *Args, env tool.Env) string {
	dir := env.Temp
	if a.ProfileOutputDir != nil {
		dir = *a.ProfileOutputDir
	} else if env.Getenv != nil && env.Getenv("SGLANG_TORCH_PROFILER_DIR") != "" {
		dir = env.Getenv("SGLANG_TORCH_PROFILER_DIR")
	}
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// startBody is what a profiler is asked for, but for the steps as texts.
func (a *Args) startBody(dir string) map[string]any {
	body := map[string]any{
		"activities": a.ProfileActivities, "num_steps": a.ProfileNumSteps, "profile_by_stage": a.ProfileByStage, "profile_stages": a.ProfileStages,
	}
	if !a.main() {
		return body
	}
	if a.ProfileByStage && a.ProfileNumSteps == nil {
		body["num_steps"] = 5
	}
	body["output_dir"], body["profile_prefix"] = dir, a.ProfilePrefix
	return body
}

// profilerBody is a body with the numbers of steps, which are texts.
func (a *Args) profilerBody(body map[string]any) json.RawMessage {
	if a.ProfileStartStep != nil {
		body["start_step"] = strconv.Itoa(*a.ProfileStartStep)
	}
	if a.ProfileSteps != nil {
		body["num_steps"] = strconv.Itoa(*a.ProfileSteps)
	}
	b, err := json.Marshal(body)
	if err != nil {
		panic(err) // they are texts and numbers
	}
	return b
}

// infoRoute is where a server tells of itself.
func (a *Args) infoRoute() string {
	if a.main() {
		return "/server_info"
	}
	return "/get_server_info"
}

// report selects the figures to compute. Objectives of what a run without a stream does
// not have are the report's own.
func (a *Args) report(s *plan.Spec) {
	settings := a.settings()
	for _, l := range settings.limits() {
		if l.Name == "e2el" || a.streams() {
			limit := plan.Duration(min(l.MS, math.MaxInt64/1e7) * float64(time.Millisecond))
			s.Objectives = append(s.Objectives, plan.Objective{Metric: l.Name, Limit: limit})
		}
	}
	s.Dialect = plan.Dialect{Name: "sglang", Version: string(a.DialectVersion), Settings: plan.Make("", settings).Settings}
}

func (a *Args) settings() *Settings {
	s := &Settings{Turns: a.conversations()}
	python.Assign(s, a.options)
	return s
}

// ResultFile is the path of the result file.
func (a *Args) ResultFile(now time.Time) string { return a.settings().ResultFile(now) }

// ownFlags are those that the other tool does not have, or calls otherwise.
var ownFlags = map[string]string{
	"name": "--tag", "request.stream": "--disable-stream", "request.headers": "--header", "request.body": "--extra-request-body",
	"adapters": "--lora-name", "adapters.assign": "--lora-request-distribution", "adapters.alpha": "--lora-zipf-alpha",
	"before.warm_up.requests": "--warmup-requests", "before.flush.route": "--flush-cache",
}

// Mask is a command line without what its headers and its body may have of secrets.
func (a *Args) Mask(args []string) []string { return python.MaskArgs(args, secret.Mask) }
