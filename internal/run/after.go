package run

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path"
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
	"github.com/pitot-bench/pitot/internal/wire/exposition"
)

func (x *execution) workers() []plan.Worker {
	if all := x.spec.Before.Profiler.Workers; len(all) > 0 {
		return all
	}
	return []plan.Worker{{}}
}

// startProfilers starts them unless the run is stopped already. The answer to a start is awaited although the run
// is stopped: else the server might start after it was asked to stop.
func (x *execution) startProfilers(ctx, unlessStopped context.Context) {
	p := x.spec.Before.Profiler
	if p.Start.Route == "" || unlessStopped.Err() != nil {
		return
	}
	call := p.Start
	if p.Stamp {
		call.Body = stamped(call.Body, time.Now())
	}
	x.profiling = true
	starting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(unlessStopped, func() { time.AfterFunc(stopTime, cancel) })()
	x.callProfilers(starting, unlessStopped.Done(), true, call)
}

func stamped(body json.RawMessage, now time.Time) json.RawMessage {
	var fields map[string]any
	if json.Unmarshal(body, &fields) != nil {
		return body
	}
	dir, _ := fields["output_dir"].(string)
	fields["output_dir"] = path.Join(dir, strconv.FormatFloat(float64(now.UnixNano())/1e9, 'f', -1, 64))
	out, err := json.Marshal(fields)
	if err != nil {
		return body
	}
	return out
}

// stopTime is the time limit for stopping profilers, and for starting them once the run is stopped.
const stopTime = 10 * time.Second

func (x *execution) stopProfilers(ctx context.Context) {
	stop := x.spec.Before.Profiler.Stop
	if !x.profiling || stop.Route == "" {
		return
	}
	x.profiling = false
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	x.callProfilers(ctx, nil, false, stop)
}

// callProfilers starts or stops the profilers of all workers that have their turn before enough is closed. A failure is
// only noted.
func (x *execution) callProfilers(ctx context.Context, enough <-chan struct{}, start bool, call plan.Call) {
	_ = x.handle(Profiling{start, len(x.workers())})
	for _, w := range x.workers() {
		select {
		case <-enough:
			return
		default:
		}
		err := x.worker(w).Post(ctx, call.Route, call.Body)
		_ = x.handle(Profiled{start, w, call, err})
		if err == nil {
			continue
		}
		if start && ctx.Err() != nil {
			return // it may have started: it is stopped
		}
		x.profiling = x.profiling && w.Name != ""
		code := profilerOn
		if start {
			code = profilerOff
		}
		x.note(code, "worker", w.Name, "why", err)
	}
}

// tail makes the steps right after the last answer, which After.Tail makes a part of the run.
func (x *execution) tail(ctx context.Context) {
	begin := time.Now()
	if x.spec.After.Tail {
		x.stopProfilers(ctx)
	}
	if route := x.spec.After.Info; route != "" {
		var info serverInfo
		if err := x.target.server().Ask(ctx, route, &info); silent(err) {
			x.note(infoUnknown, "why", err)
		}
		x.run.AcceptLength = info.accept()
	}
	if x.spec.After.Tail {
		x.run.Tail = time.Since(begin) + max(0, x.built.due.End-time.Duration(x.run.End))
	}
}

// account asks the server for its account of itself, nil if it has none.
func (x *execution) account(ctx context.Context) json.RawMessage {
	route := x.spec.After.Account
	if route == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, scrapeLimit)
	defer cancel()
	answer, err := x.target.server().Get(ctx, route)
	if silent(err) {
		x.note(accountUnknown, "why", err)
	}
	if err != nil {
		return nil
	}
	return answer
}

// silent reports an error of a server that is gone; one without the route answers.
func silent(err error) bool {
	var call *endpoint.CallError
	return errors.As(err, &call)
}

// serverInfo is SGLang's account of itself. With separate workers the decoding ones are a
// list.
type serverInfo struct {
	Decode []serverInfo `json:"decode"`
	States []struct {
		Accept *float64 `json:"avg_spec_accept_length"`
	} `json:"internal_states"`
	Algorithm   *string `json:"speculative_algorithm"`
	DraftTokens *int    `json:"speculative_num_draft_tokens"`
}

// accept is the mean number of tokens per step, 0 if it is not known.
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

// drafts reports whether the server drafts tokens, where that changes the counts.
func (p *Prepared) drafts(ctx context.Context) bool {
	if p.spec.Request.Recount.Drafts == "" {
		return false
	}
	var info serverInfo
	if err := p.target.server().Ask(ctx, p.spec.Request.Recount.Drafts, &info); err != nil {
		return false
	}
	return info.drafts()
}

// scrapeLimit is the time limit for the server's counters.
const scrapeLimit = 10 * time.Second

// counters are the server's counters, nil if it has none.
func (x *execution) counters(ctx context.Context) map[string]float64 {
	call, cancel := context.WithTimeout(ctx, scrapeLimit)
	defer cancel()
	samples, err := x.target.server().Metrics(call)
	if status := (*endpoint.StatusError)(nil); err != nil && ctx.Err() == nil && !errors.As(err, &status) {
		x.note(countersUnknown, "why", err)
	}
	if err != nil {
		return nil
	}
	x.block, x.run.KVTokens = cacheConfig(samples)
	return countersAmong(samples)
}

// countersAmong are the counters among samples, by series.
func countersAmong(samples []exposition.Sample) map[string]float64 {
	m := map[string]float64{}
	for _, sample := range samples {
		if sample.Counter && !math.IsNaN(sample.Value) && !math.IsInf(sample.Value, 0) {
			m[sample.Series()] += sample.Value
		}
	}
	return m
}

// difference is after - before; nil if either is. A counter that is gone has fallen.
func difference(before, after map[string]float64) map[string]float64 {
	if before == nil || after == nil {
		return nil
	}
	d := map[string]float64{}
	for name, v := range before {
		d[name] = -v
	}
	for name, v := range after {
		d[name] += v
	}
	return d
}

// forgetCounts removes the tokens of each chunk, which a stream has only on request: some
// figures depend on whether they are known.
func forgetCounts(r *trace.Record) {
	for i := range r.Chunks {
		r.Chunks[i].Tokens = 0
	}
}
