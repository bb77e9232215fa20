package profile_test

import (
	"flag"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

var long = flag.Bool("long", false, "hold stated errors against a hundred draws, as they were stated")

// stated are the errors that a profile states, with what they are within, in percent.
var stated = regexp.MustCompile(`([\d.]+) %(?: ± ([\d.]+))?`)

// Every embedded profile with evidence states its actual error, of a hundred draws; fewer are
// further off.
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
		switch {
		case *long:
			draws = 100
		case p.Evidence[0].Workload.OutputTokens > 1e6:
			draws = 4 // which vary little, and take long
		}
		comparisons, err := calibrate.Compare(t.Context(), p, 0, draws, foreign)
		if err != nil {
			t.Fatal(err)
		}
		errors := stated.FindAllStringSubmatch(p.Error, -1)
		for i, c := range comparisons {
			seen++
			want, _ := strconv.ParseFloat(errors[min(i, len(errors)-1)][1], 64)
			within, _ := strconv.ParseFloat(errors[min(i, len(errors)-1)][2], 64)
			off, room := math.Abs(100*c.Error-want), 0.1+within+150*c.Within
			if *long {
				off, room = max(off, math.Abs(100*c.Within-within)), 0.0501
			}
			if off > room {
				t.Errorf("%s, %s: the error is %.1f %% ± %.1f, stated is %q", name, c.Evidence.Name, 100*c.Error, 100*c.Within, p.Error)
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
