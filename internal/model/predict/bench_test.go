package predict_test

import (
	"testing"

	"github.com/pitot-bench/pitot/internal/model/predict"
)

// A load of 300 requests, drawn 12 times: 24 simulations.
func BenchmarkPredict(b *testing.B) {
	own := truths()[0]
	p := own.calibrated(b, protocol)
	for name, l := range map[string]load{"300 requests": {300, 0, 7, 400, 110}, "100 requests": {100, 0, 10, 256, 64}} {
		c := predict.Case{Profile: p, Load: predict.Fixed(l.plans(own.dice)...), Run: runOf(l), Level: 0.9, Percentiles: []float64{99}}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := predict.Simulate(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
