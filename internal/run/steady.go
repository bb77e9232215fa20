package run

import (
	"context"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/driver"
)

// warmUntilSteady sends waves until two successive ones agree, and says how many that took.
func (x *execution) warmUntilSteady(ctx context.Context) error {
	brief, limit, began := x.spec.Before.WarmUp.Brief, x.waves.limit, time.Now()
	_ = x.handle(WarmingUp{Requests: len(x.waves.due), Steady: true, Brief: brief})
	var all []*trace.Record
	w := &trace.WarmUp{Brief: brief}
	x.run.WarmUp = w
	for i, requests := range x.waves.requests {
		if limit.time > 0 && time.Since(began) > limit.time {
			break
		}
		records := x.sendWave(ctx, requests)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		all = append(all, records...)
		w.Waves = append(w.Waves, metrics.NewWave(records, x.spec.Request.Stream))
		w.Took = time.Since(began).Seconds()
		before, last := w.Last()
		if judgeWarmUp(records).none || brief && last.Failed > 0 { // further waves would say the same, or make it worse
			return x.warmedUp(all)
		}
		_ = x.handle(WaveDone{Number: i + 1, Most: limit.waves, Wave: last})
		if w.Steady = len(w.Waves) > 1 && metrics.Agree(before, last, brief); w.Steady {
			break
		}
	}
	x.noteWaves(w)
	return x.warmedUp(all)
}

func (x *execution) sendWave(ctx context.Context, w []workload.Request) []*trace.Record {
	d := driver.Driver{Sender: x.client, Now: x.target.transport.Now}
	return d.Run(ctx, nil, driver.Plan{Requests: workload.Listed(w), Schedule: slices.Values(x.waves.due), Concurrency: x.spec.Gate.Concurrency}).Records
}

// noteWaves says how the warm-up ended.
func (x *execution) noteWaves(w *trace.WarmUp) {
	before, last := w.Last()
	text := last.TTFT > 0
	args := []any{"waves", len(w.Waves), "requests", last.Requests, "stream", text, "ttft", last.TTFT, "tpot", last.TPOT, "e2el", last.E2EL}
	switch first := w.Waves[0]; {
	case w.Brief:
		one := len(w.Waves) == 1
		args = append(args, "took", w.Took, "ttft0", first.TTFT, "e2el0", first.E2EL, "one", one, "restless", !w.Steady && !one)
		x.note(briefNote, args...)
		return
	case w.Steady:
		x.note(WarmedUpNote, args...)
		return
	}
	x.note(neverSteady, append(args, "ttft0", before.TTFT, "tpot0", before.TPOT, "e2el0", before.E2EL, "gap", last.Gap)...)
}
