package sglang

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// The lines that the tool prints around a run, as formats. Times are in seconds.
const (
	Waiting        = "Waiting up to %.0fs for %s to become ready..."
	Ready          = "Server ready in %.1fs."
	NotReady       = "Server did not become ready within %.0fs timeout."
	WarmUp         = "Starting warmup with %d sequences..."
	WarmedUp       = "Warmup completed with %d sequences. Starting main benchmark run..."
	StartProfiling = "Starting profiler..."
	StopProfiling  = "Stopping profiler..."
)

// Profiled are the lines of a call to a profiler. The steps of a call are not shown. Errors of a
// server without workers are reported elsewhere.
func (a *Args) Profiled(start bool, w plan.Worker, call plan.Call, err error) (lines []string) {
	url, mode, done := w.URL, "stop", "stopped"
	if url == "" {
		url, _ = a.urls()
	}
	if start {
		mode, done = "start", "started"
	}
	body := map[string]any{}
	if start || !a.main() {
		var sent struct {
			Dir string `json:"output_dir"`
		}
		_ = json.Unmarshal(call.Body, &sent) // it is ours
		body = a.startBody(sent.Dir)
	}
	lines = []string{fmt.Sprintf("async_request_profile api_url='%s' body=%s", url+call.Route, shown(body))}
	switch {
	case err != nil && w.Name != "":
		lines = append(lines, fmt.Sprintf("Failed to %s profiler for %s worker at %s: %v", mode, w.Name, url, err))
	case err == nil && w.Name != "":
		lines = append(lines, fmt.Sprintf("Profiler %s for %s worker at %s", done, w.Name, url))
	case err == nil:
		lines = append(lines, "Profiler "+done)
	}
	return lines
}

// Unprofiled are printed in place of all that, where workers are to be profiled and none
// is named.
func (a *Args) Unprofiled() []string {
	if !a.Profile || !a.noWorkers() {
		return nil
	}
	return []string{
		"Warning: PD separated mode requires --profile-prefill-url or --profile-decode-url",
		"Skipping profiler start. Please specify worker URLs for profiling.",
	}
}

// Warnings are printed of arguments that change nothing.
func (a *Args) Warnings() (lines []string) {
	if a.CacheReport && (!a.toSGLang() || a.embedding()) {
		lines = append(lines, "WARNING: --cache-report is only supported with sglang backends.")
	}
	return lines
}

// Tips are printed ahead of the report.
func (a *Args) Tips() (lines []string) {
	if a.PlotThroughput {
		lines = append(lines, "tip: install termplotlib and gnuplot to plot the metrics")
	}
	return lines
}

// The lines of --print-requests show the objects that the tool has of a request and of
// its answer, as Python shows them, with their texts left out.

// StartLine is printed when a request is sent.
func (a *Args) StartLine(id string, at time.Time, req *workload.Request) string {
	_, url := a.urls()
	adapter := "None"
	if name := string(req.Extra["lora_path"]); name != "" {
		adapter = python.Quote(strings.Trim(name, `"`))
	}
	key := "None"
	if v := req.Header["X-SMG-Routing-Key"]; v != "" {
		key = python.Quote(v)
	}
	input := fmt.Sprintf("RequestFuncInput(prompt='...', api_url=%s, prompt_len=%d, output_len=%d, model=%s, lora_name=%s, routing_key=%s)",
		python.Quote(url), req.PromptTokens, req.OutputTokens, python.Quote(a.served()), adapter, key)
	return fmt.Sprintf(`rid=%s time=%s message="request start" request_func_input="%s"`, id, epoch(at), input)
}

// EndLine is printed when its answer is there. The clock of r counts from where it will.
func (a *Args) EndLine(id string, at time.Time, took time.Duration, r *trace.Record) string {
	whole := *r
	whole.Released = r.Sent
	if r.Dialed.Happened() {
		whole.Released = r.Dialed
	}
	t := &trace.Trace{Run: trace.Run{Plan: trace.Load{Protocol: a.protocol(), Stream: a.streams()}}, Records: []*trace.Record{&whole}}
	q := NewFigures(t, Options{Version: a.DialectVersion, Own: true}).Requests[0]
	output := fmt.Sprintf("RequestFuncOutput(generated_text='...', success=%s, latency=%s, ttft=%s, tpot=None, itl=%s, prompt_len=%d, error=%s, output_len=%d)",
		python.Bool(q.OK), python.Float(q.Latency), python.Float(q.TTFT), python.AppendFloats(nil, q.ITL), q.Prompt, python.Quote(q.ErrorText), q.Output)
	return fmt.Sprintf(`rid=%s time=%s time_delta=%s message="request end" output="%s"`, id, epoch(at), python.Float(took.Seconds()), output)
}

func epoch(t time.Time) string { return python.Float(float64(t.UnixMicro()) / 1e6) }

// shown is what a profiler is asked for, as the tool prints it.
func shown(body map[string]any) string {
	var out []string
	for _, name := range []string{"activities", "num_steps", "profile_by_stage", "profile_stages", "output_dir", "profile_prefix"} {
		if v, ok := body[name]; ok {
			out = append(out, python.Quote(name)+": "+python.Repr(v))
		}
	}
	return "{" + strings.Join(out, ", ") + "}"
}
