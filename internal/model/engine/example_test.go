package engine_test

import (
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// An engine with steps of 20 ms plus 50 µs per prompt token serves two jobs. The
// second prompt shares a step with the first job's second token.
func Example() {
	d, err := engine.New(engine.Config{Cost: engine.Costs{Step: 20e-3, PrefillToken: 50e-6}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d.Add(0, engine.Job{ID: 1, PromptTokens: 400, OutputTokens: 3})
	out := d.Step(10*time.Millisecond, nil)
	d.Add(10*time.Millisecond, engine.Job{ID: 2, PromptTokens: 1000, OutputTokens: 1})
	for at, ok := d.Next(); ok; at, ok = d.Next() {
		out = d.Step(at, out)
	}
	for _, e := range out {
		fmt.Println(e.At, "job", e.ID, "done:", e.Done)
	}
	// Output:
	// 40ms job 1 done: false
	// 110ms job 1 done: false
	// 110ms job 2 done: true
	// 130ms job 1 done: true
}
