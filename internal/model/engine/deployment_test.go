package engine

import (
	"syscall"
	"testing"
	"time"
)

// BenchmarkDeployment counts simulated output tokens per CPU-second, with every
// emission recorded.
func BenchmarkDeployment(b *testing.B) {
	text := Config{Cost: Costs{Step: 7e-3, Sequence: 30e-6, Prefill: 1.4e-3, PrefillToken: 17e-6}}
	front := text
	front.Frontend = Frontend{Request: 1e-3, Chunk: 50e-6, Blocking: true}
	clocks := text
	clocks.Scheduler.Async = true
	clocks.Cost.Launch, clocks.Cost.LaunchPrefill = 2e-3, 20e-3
	clocks.Cost.Host = &Host{Factors: []float64{0.8, 1, 1.3}, Hold: 1}
	clocks.Frontend = Frontend{Request: 1e-3, Chunk: 40e-6, Flush: 1e-3, Token: 15e-6, Passes: 8, Host: 0.5}
	for _, c := range []struct {
		name   string
		config Config
		closed int
	}{{"closed256", text, 256}, {"closed16", text, 16}, {"frontend16", front, 16}, {"clocks16", clocks, 16}} {
		b.Run(c.name, func(b *testing.B) {
			type token struct {
				at    time.Duration
				count int32
			}
			const jobs, out = 2000, 130
			record := make([][]token, jobs)
			for i := range record {
				record[i] = make([]token, 0, out)
			}
			buf := make([]Emission, 0, 512)
			tokens, before := 0, cpuTime(b)
			for b.Loop() {
				d, err := New(c.config)
				if err != nil {
					b.Fatal(err)
				}
				for i := range record {
					record[i] = record[i][:0]
				}
				added := 0
				add := func(now time.Duration) {
					if added < jobs {
						d.Add(now, Job{ID: uint64(added), PromptTokens: 215, OutputTokens: out})
						added++
					}
				}
				for range c.closed {
					add(0)
				}
				for done := 0; done < jobs; {
					var now time.Duration
					buf, now = d.Run(forever-1, buf[:0])
					for i := range buf {
						e := &buf[i]
						record[e.ID] = append(record[e.ID], token{e.At, e.Tokens})
						if e.Done {
							done++
							add(now)
						}
					}
				}
				tokens += jobs * out
			}
			b.ReportMetric(float64(tokens)/(cpuTime(b)-before).Seconds()/1e6, "Mtok/cpu-s")
		})
	}
}

// BenchmarkMemory counts the bytes allocated for a job, from its arrival to its
// end; its emissions allocate none.
func BenchmarkMemory(b *testing.B) {
	const out = 1000
	d := mustNew(b, Config{Cost: Costs{Step: 7e-3}})
	buf := make([]Emission, 0, 512)
	var now time.Duration
	b.ReportAllocs()
	for id := uint64(0); b.Loop(); id++ {
		d.Add(now, Job{ID: id, PromptTokens: 215, OutputTokens: out})
		for done := false; !done; done = buf[len(buf)-1].Done {
			buf, now = d.Run(forever-1, buf[:0])
		}
	}
}

// Steps that only decode allocate nothing, with a frontend or without.
func TestDecodingAllocatesNothing(t *testing.T) {
	for name, c := range map[string]Config{
		"plain":    {Cost: Costs{Step: 1e-3}},
		"frontend": {Cost: Costs{Step: 1e-3}, Frontend: Frontend{Chunk: 1e-5, Blocking: true}},
		"sglang":   {Cost: Costs{Step: 1e-3}, Scheduler: Scheduler{Policy: "sglang"}},
		"replicas": {Cost: Costs{Step: 1e-3}, Replicas: Replicas{Count: 2}},
	} {
		d := mustNew(t, c)
		for id := range uint64(8) {
			d.Add(0, Job{ID: id, PromptTokens: 5, OutputTokens: 1_000_000})
		}
		buf := make([]Emission, 0, 1024)
		now := time.Second
		d.Step(now, buf)
		if n := testing.AllocsPerRun(100, func() {
			now += 10 * ms
			buf = d.Step(now, buf[:0])
		}); n > 0 || len(buf) == 0 {
			t.Errorf("%s: %v allocations in 10 steps, %d emissions", name, n, len(buf))
		}
	}
}

// cpuTime is the CPU time of this process.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
