package cli

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
)

func TestSpecs(t *testing.T) {
	type drawn struct {
		Seed   uint64
		Engine string
	}
	of := func(s plan.Spec, n int, same bool) (out []drawn) {
		for _, one := range repeatSpecs(s, n, same) {
			out = append(out, drawn{one.Seed, string(one.Target.Engine)})
		}
		return out
	}
	server := plan.Spec{Seed: math.MaxUint32, Target: plan.Target{URL: "http://a"}}
	engine := plan.Spec{Seed: 3, Target: plan.Target{Engine: json.RawMessage(`{"seed":7,"ttft":"1ms"}`)}}
	for _, tt := range []struct {
		got, want []drawn
	}{
		{of(server, 2, false), []drawn{{math.MaxUint32, ""}, {0, ""}}},
		{of(engine, 2, false), []drawn{{3, `{"seed":7,"ttft":"1ms"}`}, {4, `{"seed":8,"ttft":"1ms"}`}}},
		{of(plan.Spec{}, 2, false), []drawn{{0, ""}, {1, `{"seed":1}`}}},
		{of(engine, 2, true), []drawn{{3, `{"seed":7,"ttft":"1ms"}`}, {3, `{"seed":7,"ttft":"1ms"}`}}},
		{of(plan.Spec{Target: plan.Target{Engine: json.RawMessage(`{"seed":-1}`)}}, 2, false), []drawn{{0, `{"seed":-1}`}, {1, `{"seed":-1}`}}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Error(diff)
		}
	}
}
