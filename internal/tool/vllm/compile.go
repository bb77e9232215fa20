package vllm

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// keepAlive is how long the tool keeps an unused connection.
const keepAlive = time.Minute

// arrivalKind is the kind of the tool's arrivals.
const arrivalKind = "vllm"

// Checked is Compile, or what Check finds.
func (a *Args) Checked(env tool.Env) (*tool.Compiled, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	return a.Compile(env)
}

// Compile makes a Spec of a command line that Check accepts.
func (a *Args) Compile(env tool.Env) (*tool.Compiled, error) {
	d, flags, err := a.dataset()
	if err != nil {
		return nil, err
	}
	headers, err := a.headers()
	if err != nil {
		return nil, err
	}
	c := &tool.Compiled{Front: tool.Names(tool.Flags(a.DatasetName, a.BaseURL != nil, ownFlags, flags)), Given: map[string]string{}}
	base, _ := a.urls()
	arrival := a.arrival()
	c.Spec = plan.Spec{
		Version: plan.Version, Name: python.Value(a.Label),
		Target: plan.Target{
			URL: base, Route: a.Endpoint, Key: &plan.Source{Env: "OPENAI_API_KEY", Optional: true}, Headers: c.Headers("target.headers", headers), Insecure: a.Insecure,
		},
		Requests: a.requests(), Seed: uint64(a.Seed),
		Load:     []plan.Stream{{Arrival: plan.Make(arrivalKind, &arrival), Dataset: plan.Make("vllm."+a.DatasetName, d)}},
		Gate:     plan.Gate{Concurrency: python.Value(a.MaxConcurrency)},
		Adapters: plan.Adapters{Names: a.LoraModules},
		Tokens:   a.tokens(env), Before: a.before(), Probe: plan.Probe{Rate: max(0, a.ProbeRequestRate)},
		KeepText: a.SaveDetailed,
		Client:   plan.Client{Timeout: tool.RequestTimeout, KeepAlive: plan.Duration(keepAlive), KeepReusing: true},
	}
	if len(a.LoraModules) > 0 {
		c.Spec.Adapters.Assign = a.LoraAssignment
	}
	a.report(&c.Spec)
	return c, a.request(&c.Spec.Request)
}

func (a *Args) arrival() Arrival {
	arrival := Arrival{Rate: a.RequestRate, Burstiness: a.Burstiness, OwnTimes: a.ownTimes()}
	if math.IsInf(a.RequestRate, 1) {
		arrival.Rate = 0
	}
	if math.IsInf(a.Burstiness, 1) {
		arrival.Burstiness = 0
	}
	if a.RampUpStrategy != nil {
		arrival.Ramp, arrival.Start, arrival.End = *a.RampUpStrategy, python.Value(a.RampUpStartRPS), python.Value(a.RampUpEndRPS)
	}
	return arrival
}

// request is how answers are asked for.
func (a *Args) request(r *plan.Request) error {
	fields, err := a.extraFields()
	if err != nil {
		return err
	}
	b := a.backend()
	*r = plan.Request{
		Protocol: b.protocol, Stream: !b.pooling, Usage: plan.UsageAtEnd, IgnoreEOS: a.asksIgnoreEOS(), IDs: a.RequestIDPrefix,
		PartsAlways: b.protocol != "responses", MediaFirst: b.vlm2vec, AsMessages: b.chat,
	}
	if a.Model != nil {
		r.Model, r.Root = *a.Model, *a.Model
		if a.ServedModelName != nil {
			r.Model = *a.ServedModelName
		}
	}
	if len(fields) > 0 {
		r.Body, err = json.Marshal(fields)
	}
	return err
}

func (a *Args) tokens(env tool.Env) plan.Tokenizer {
	if a.SkipTokenizerInit {
		return plan.Tokenizer{Where: "none"}
	}
	return env.Tokenizer(a.Tokenizer)
}

// before is what precedes the run: the first of its requests, again and again.
func (a *Args) before() plan.Before {
	patience := plan.Duration(max(0, a.ReadyCheckTimeoutSec)) * plan.Duration(time.Second)
	b := plan.Before{
		Ready:  plan.Ready{Connect: patience, Timeout: patience, Ask: plan.AskFirst, Insist: true},
		WarmUp: plan.WarmUp{Requests: max(0, a.NumWarmups), From: plan.WarmFirst},
	}
	if a.Profile {
		b.Profiler = plan.Profiler{Start: plan.Call{Route: "/start_profile"}, Stop: plan.Call{Route: "/stop_profile"}}
	}
	return b
}

// report selects the figures to compute. Objectives of what a run without text does not
// have are the report's own.
func (a *Args) report(s *plan.Spec) {
	settings := a.settings()
	for _, o := range settings.objectives() {
		if o.Metric == "e2el" || !settings.pooling() {
			s.Objectives = append(s.Objectives, o)
		}
	}
	s.Dialect = plan.Dialect{Name: "vllm", Version: string(a.DialectVersion), Settings: plan.Make("", settings).Settings}
}

func (a *Args) settings() *Settings {
	s := new(Settings)
	python.Assign(s, a.options)
	if a.NumPrompts != a.requests() {
		s.NumPrompts = a.NumPrompts
	}
	return s
}

// ownFlags are those that the other tool does not have, or calls otherwise.
var ownFlags = map[string]string{
	"name": "--label", "target.route": "--endpoint", "target.headers": "--header", "target.insecure": "--insecure",
	"request.body": "--extra-body", "request.ids": "--request-id-prefix", "adapters": "--lora-modules", "adapters.assign": "--lora-assignment",
	"before.ready.connect": "--ready-check-timeout-sec", "before.warm_up.requests": "--num-warmups", "probe.rate": "--probe-request-rate",
	"load[0].arrival.burstiness": "--burstiness", "load[0].arrival.ramp": "--ramp-up-strategy",
	"load[0].arrival.start": "--ramp-up-start-rps", "load[0].arrival.end": "--ramp-up-end-rps",
}

// Mask returns args with the values of headers hidden. The name of a flag may be cut
// short, and what follows up to the next flag belongs to it.
func (a *Args) Mask(args []string) []string { return python.MaskArgs(args, nil) }

// Traffic are the lines that tell the load, ahead of the run.
func (a *Args) Traffic() string {
	if a.ownTimes() {
		return "Self timing is set: requests are sent at the times of the trace\n"
	}
	var b strings.Builder
	if a.RampUpStrategy != nil {
		fmt.Fprintf(&b, "Traffic ramp-up strategy: %s (%d to %d RPS)\n", *a.RampUpStrategy, *a.RampUpStartRPS, *a.RampUpEndRPS)
	} else {
		fmt.Fprintf(&b, "Traffic request rate: %s\n", python.Float(a.RequestRate))
	}
	process := "Gamma distribution"
	if a.Burstiness == 1 {
		process = "Poisson process"
	}
	fmt.Fprintf(&b, "Burstiness factor: %s (%s)\n", python.Float(a.Burstiness), process)
	fmt.Fprintf(&b, "Maximum request concurrency: %s\n", python.Repr(a.MaxConcurrency))
	return b.String()
}
