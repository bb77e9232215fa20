package profile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// Every embedded profile with evidence states its actual error.
func TestProfilesStateTheirError(t *testing.T) {
	seen, foreign := 0, metrics.Rules{vllm.Definitions(), sglang.Definitions()}
	for _, name := range profile.Names() {
		p, err := profile.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Evidence) == 0 {
			continue
		}
		draws := 20
		if p.Evidence[0].Workload.OutputTokens > 1e6 {
			draws = 4 // which vary little, and take long
		}
		comparisons, err := calibrate.Compare(t.Context(), p, draws, foreign)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range comparisons {
			seen++
			if want := fmt.Sprintf("%.1f %%", 100*c.Error); !strings.Contains(p.Error, want) {
				t.Errorf("%s, %s: the error is %s, stated is %q", name, c.Evidence.Name, want, p.Error)
			}
		}
	}
	if seen != 7 {
		t.Errorf("%d runs", seen)
	}
}

// One set of parameters describes the three notes of one deployment, and only the
// ablation was fitted.
func TestThreeNotesShareOneSet(t *testing.T) {
	for name, fitted := range map[string]bool{"vl-npu-ablation": true, "vl-npu-burst200": false, "vl-npu-c15": false} {
		p, err := profile.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		first, err := profile.Load("vl-npu-ablation")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(p.Engine), fmt.Sprint(first.Engine); got != want {
			t.Errorf("%s has other parameters than the ablation:\n%s\n%s", name, got, want)
		}
		for _, e := range p.Evidence {
			if e.Fitted != fitted {
				t.Errorf("%s, %s: fitted is %v", name, e.Name, e.Fitted)
			}
		}
	}
}
