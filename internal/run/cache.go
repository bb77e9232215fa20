package run

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/driver"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
	"github.com/pitot-bench/pitot/internal/wire/exposition"
)

// resetRoutes empty a prefix cache: vLLM's, which it has with VLLM_SERVER_DEV_MODE=1, and
// SGLang's.
var resetRoutes = []string{"/reset_prefix_cache", "/flush_cache"}

// A server holds the blocks of a request for a moment after its last byte. vLLM then resets
// nothing and says 200, and SGLang refuses.
const (
	retirePause = 250 * time.Millisecond // before a reset, and between two tries
	resetLimit  = 10 * time.Second       // of a route that refuses
)

// primeLimit is the number of prompts sent ahead at once where there is no gate.
const primeLimit = 64

// prepareCache brings the server's cache into the declared state, after the warm-up.
func (x *execution) prepareCache(ctx context.Context) error {
	c := &trace.Cache{Declared: x.spec.Cache, Most: -1}
	switch x.spec.Cache {
	case plan.ColdCache:
		c.Reset = x.reset(ctx)
	case plan.PrimedCache:
		c.Primed = x.prime(ctx)
	case plan.WarmCache:
	default:
		return nil
	}
	x.run.Cache = c
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// reset empties the cache, and returns the route that did; empty if none did, which is noted.
func (x *execution) reset(ctx context.Context) string {
	if x.emptied != "" { // since the warm-up, as the Spec asks
		return x.emptied
	}
	_ = Pause(ctx, retirePause)
	for _, route := range resetRoutes {
		err := x.resetBy(ctx, route)
		if err == nil {
			return route
		}
		if !unknownRoute(err) {
			x.note(notReset, "why", err)
			return ""
		}
	}
	x.note(noResetRoute)
	return ""
}

// resetBy calls a route until it does not refuse any more.
func (x *execution) resetBy(ctx context.Context, route string) error {
	ctx, cancel := context.WithTimeout(ctx, resetLimit)
	defer cancel()
	for {
		err := x.target.server().Post(ctx, route, nil)
		status := (*endpoint.StatusError)(nil)
		if !errors.As(err, &status) || !busy(status) || Pause(ctx, retirePause) != nil {
			return err
		}
	}
}

// busy reports the refusal of a server that still has requests: SGLang's is 400.
func busy(e *endpoint.StatusError) bool {
	refusals := []int{http.StatusBadRequest, http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable}
	return slices.Contains(refusals, e.Status)
}

// unknownRoute reports a server that does not have the route.
func unknownRoute(err error) bool {
	status := (*endpoint.StatusError)(nil)
	none := []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented}
	return errors.As(err, &status) && slices.Contains(none, status.Status)
}

// prime sends the prompts of the run, each for one token, and returns how many were answered.
func (x *execution) prime(ctx context.Context) (answered int) {
	requests := x.primers()
	_ = x.handle(Priming{requests.N})
	limit := cmp.Or(x.spec.Gate.Concurrency, primeLimit)
	d := driver.Driver{Sender: x.client, Now: x.target.transport.Now}
	out := d.Run(ctx, nil, driver.Plan{Requests: requests, Schedule: arrival.Burst(), Concurrency: limit})
	cold := judgeWarmUp(out.Records)
	if cold.failed > 0 && ctx.Err() == nil {
		x.note(notPrimed, "failed", cold.failed, "of", requests.N, "why", cold.why)
	}
	return len(out.Records) - cold.failed
}

// primers are the prompts that are known before the run, for one token each. A turn that remembers answers is not:
// its conversation caches the turns before it.
func (p *Prepared) primers() workload.List {
	all := p.Requests()
	if all.Chained {
		var known []int32
		for i, r := range all.All() {
			if !r.Remember {
				known = append(known, int32(i))
			}
		}
		all = all.Pick(known)
	}
	return all.Amend(func(_ int, r *workload.Request) {
		r.ID, r.At, r.Turn = "", 0, workload.Turn{}
		if !p.silent() {
			r.OutputTokens = 1
		}
	})
}

// usualBlock is the size of a block of a prefix cache where a server does not say it: vLLM's
// default on GPUs. SGLang and llama.cpp have no blocks, and find more.
const usualBlock = 16

// cacheConfig is the size of a block of the KV cache, and the number of tokens in all of the cache, from a server's
// metrics; 0 if they lack it. Of several engines the first one counts.
func cacheConfig(samples []exposition.Sample) (block, tokens int) {
	for _, s := range samples {
		switch {
		case s.Name == "vllm:cache_config_info" && block == 0:
			size, _ := s.Labels.Get("block_size")
			blocks, _ := s.Labels.Get("num_gpu_blocks")
			block = count(size)
			tokens = block * count(blocks)
		case s.Name == "sglang:max_total_num_tokens" && s.Value >= 1 && s.Value <= mostCount:
			tokens = int(s.Value)
		}
	}
	return block, tokens
}

// count is the number in a label, 0 if it is none or cannot be.
func count(label string) int {
	n, err := strconv.Atoi(label)
	if err != nil || n < 0 || n > mostCount {
		return 0
	}
	return n
}

// mostCount is more than any server has of blocks or of tokens in a block.
const mostCount = 1 << 30
