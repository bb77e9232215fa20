package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/wire/driver"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// settlePause is how long that tool waits between warm-up and run.
const settlePause = time.Second

// begin is what precedes the run, in that tool's order and with its lines: warm-up,
// flush of the cache, a second of rest, profiler.
func (r *sglangRun) begin(ctx context.Context) error {
	fmt.Fprintf(r.p.Stdout, "Starting warmup with %d sequences...\n", r.WarmupRequests)
	if err := r.warmUp(ctx); err != nil {
		return err
	}
	fmt.Fprintf(r.p.Stdout, "Warmup completed with %d sequences. Starting main benchmark run...\n", r.WarmupRequests)
	if err := r.flush(ctx); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(settlePause):
	}
	r.startProfilers(ctx)
	for _, line := range r.built.Start {
		fmt.Fprintln(r.p.Stdout, line)
	}
	return nil
}

// warmups are the requests to warm up with: what the dataset has for that, else the
// first request, or all of the first conversation, as often as asked for.
func (r *sglangRun) warmups() []workload.Request {
	first := r.built.Requests[:1]
	if r.built.Warmup != nil {
		first = []workload.Request{*r.built.Warmup}
	}
	for i := 1; r.built.Turns && i < len(r.built.Requests) && r.built.Requests[i].After == i; i++ {
		first = r.built.Requests[:i+1]
	}
	return r.Warmup(first)
}

// warmUp sends them. It is enough if one is answered.
func (r *sglangRun) warmUp(ctx context.Context) error {
	if len(r.warm) == 0 {
		return nil
	}
	limit := r.Concurrency()
	if !r.DialectVersion.Since("main") {
		limit = 0 // it had none for these
	}
	d := driver.Driver{Sender: r.s.client, Now: r.s.target.transport.Now}
	out := d.Run(ctx, nil, driver.Plan{
		Requests: r.warm, Schedule: slices.Values(make([]time.Duration, len(r.warm))), Concurrency: limit, Hold: r.built.Turns,
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	failed := 0
	var why *trace.Record
	for _, rec := range out.Records {
		if !rec.OK() && rec.Class != trace.Empty {
			failed++
			why = rec
		}
	}
	if failed == len(out.Records) {
		return fmt.Errorf("warm-up at %s: none of %d requests was answered: %w", r.s.run.Plan.URL, failed, &driver.FailedError{Record: why})
	}
	if failed > 0 {
		r.s.notef("%d of %d warm-up requests failed: %v", failed, len(out.Records), &driver.FailedError{Record: why})
	}
	return nil
}

// flush empties the server's prefix cache, if asked for.
func (r *sglangRun) flush(ctx context.Context) error {
	inCI := slices.Contains([]string{"true", "1"}, strings.ToLower(r.p.getenv("SGLANG_IS_IN_CI")))
	if !r.FlushCache && (!inCI || !r.SGLang()) {
		return nil
	}
	err := r.aside.Post(ctx, r.FlushRoute())
	switch {
	case err == nil:
		return nil
	case r.DialectVersion.Since("main"):
		return fmt.Errorf("--flush-cache: %w", err)
	}
	r.s.notef("--flush-cache: %v", err)
	return nil
}

// A worker is a server to profile, empty if there is one alone.
type worker struct{ name, url string }

// workers are those to profile.
func (r *sglangRun) workers() (all []worker) {
	if !r.PDSeparated {
		base, _ := r.URLs()
		return []worker{{"", base}}
	}
	for _, w := range r.ProfileURLs() {
		all = append(all, worker{w[0], w[1]})
	}
	return all
}

func (r *sglangRun) startProfilers(ctx context.Context) {
	if !r.Profile {
		return
	}
	if len(r.workers()) == 0 {
		fmt.Fprintln(r.p.Stdout, "Warning: PD separated mode requires --profile-prefill-url or --profile-decode-url")
		fmt.Fprintln(r.p.Stdout, "Skipping profiler start. Please specify worker URLs for profiling.")
		return
	}
	fmt.Fprintln(r.p.Stdout, "Starting profiler...")
	r.profiling = true
	r.callProfilers(ctx, "start", "started", r.startBody())
}

// stopProfilers stops them, unless they were told after how many steps to stop.
func (r *sglangRun) stopProfilers(ctx context.Context) {
	if !r.profiling || r.ProfileSteps != nil || !r.PDSeparated && r.ProfileNumSteps != nil {
		return
	}
	r.profiling = false
	fmt.Fprintln(r.p.Stdout, "Stopping profiler...")
	body := map[string]any{}
	if !r.DialectVersion.Since("main") {
		body = r.startBody()
	}
	r.callProfilers(ctx, "stop", "stopped", body)
}

// startBody is what a profiler is asked for.
func (r *sglangRun) startBody() map[string]any {
	body := map[string]any{
		"activities": r.ProfileActivities, "num_steps": r.ProfileNumSteps, "profile_by_stage": r.ProfileByStage, "profile_stages": r.ProfileStages,
	}
	if !r.DialectVersion.Since("main") {
		return body
	}
	if r.ProfileByStage && r.ProfileNumSteps == nil {
		body["num_steps"] = 5
	}
	dir := r.p.getenv("SGLANG_TORCH_PROFILER_DIR")
	switch {
	case r.ProfileOutputDir != nil:
		dir = *r.ProfileOutputDir
	case dir == "":
		dir = os.TempDir()
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		abs = dir
	}
	body["output_dir"] = abs + "/" + strconv.FormatFloat(float64(time.Now().UnixNano())/1e9, 'f', -1, 64)
	body["profile_prefix"] = r.ProfilePrefix
	return body
}

// steps are the numbers of steps, as texts.
func (r *sglangRun) steps() map[string]any {
	body := map[string]any{}
	if r.ProfileStartStep != nil {
		body["start_step"] = strconv.Itoa(*r.ProfileStartStep)
	}
	if r.ProfileSteps != nil {
		body["num_steps"] = strconv.Itoa(*r.ProfileSteps)
	}
	return body
}

// callProfilers starts or stops those of all workers. One that fails ends nothing. The
// line of each call is without the numbers of steps.
func (r *sglangRun) callProfilers(ctx context.Context, mode, done string, body map[string]any) {
	route := "/" + mode + "_profile"
	shown := sglang.ProfileBody(body)
	maps.Copy(body, r.steps())
	for _, w := range r.workers() {
		fmt.Fprintf(r.p.Stdout, "async_request_profile api_url='%s' body=%s\n", w.url+route, shown)
		server := endpoint.Server{Transport: r.s.target.transport, URL: w.url, Secrets: r.s.target.secrets}
		err := server.Send(ctx, route, body)
		switch {
		case err != nil && w.name != "":
			fmt.Fprintf(r.p.Stdout, "Failed to %s profiler for %s worker at %s: %v\n", mode, w.name, w.url, err)
		case err != nil:
			r.s.notef("the profiler was not %s: %v", done, err)
		case w.name != "":
			fmt.Fprintf(r.p.Stdout, "Profiler %s for %s worker at %s\n", done, w.name, w.url)
		default:
			fmt.Fprintf(r.p.Stdout, "Profiler %s\n", done)
		}
	}
}

// serverInfo is what that tool reads of a server's account of itself. One of workers
// apart has the decoding ones in a list.
type serverInfo struct {
	Decode []serverInfo `json:"decode"`
	States []struct {
		Accept *float64 `json:"avg_spec_accept_length"`
	} `json:"internal_states"`
	Algorithm   *string `json:"speculative_algorithm"`
	DraftTokens *int    `json:"speculative_num_draft_tokens"`
}

// accept is the mean number of tokens a step, 0 if it is not told.
func (i serverInfo) accept() float64 {
	if len(i.Decode) > 0 {
		i = i.Decode[0]
	}
	if len(i.States) == 0 || i.States[0].Accept == nil {
		return 0
	}
	return *i.States[0].Accept
}

func (i serverInfo) drafts() bool {
	if len(i.Decode) > 0 {
		i = i.Decode[0]
	}
	return i.accept() > 0 || i.Algorithm != nil || i.DraftTokens != nil && *i.DraftTokens > 0
}

// infoRoute is where a server tells of itself.
func (r *sglangRun) infoRoute() string {
	if r.DialectVersion.Since("main") {
		return "/server_info"
	}
	return "/get_server_info"
}

// end is what that tool has in its duration after the last answer: the gap that it
// draws after the last request, the end of the profiler, a question to the server.
func (r *sglangRun) end(ctx context.Context) {
	s := r.s
	begin := time.Now()
	r.stopProfilers(ctx)
	if r.SGLang() {
		var info serverInfo
		if err := r.aside.Ask(ctx, r.infoRoute(), &info); silentError(err) {
			s.notef("the accept length is not known: %v", err)
		}
		s.run.AcceptLength = info.accept()
	}
	s.run.Tail = time.Since(begin) + max(0, r.traffic.End-time.Duration(s.run.End))
}

// silentError tells a server that is gone from one that has no such route.
func silentError(err error) bool {
	var silent *endpoint.CallError
	return errors.As(err, &silent)
}
