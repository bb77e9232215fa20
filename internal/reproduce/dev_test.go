package reproduce

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/profile"
)

func TestDev(t *testing.T) {
	name := os.Getenv("PROFILE")
	if name == "" {
		return
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(name, b)
	if err != nil {
		t.Fatal(err)
	}
	if f := os.Getenv("FIT"); f != "" {
		steps := 300
		fmt.Sscan(os.Getenv("STEPS"), &steps)
		start := time.Now()
		restarts := 0
		fmt.Sscan(os.Getenv("RESTARTS"), &restarts)
		if restarts > 0 {
			explore(t, p, strings.Split(f, ","), restarts)
		}
		loss, err := Fit(p, FitPlan{Fields: strings.Split(f, ","), Draws: 6, Steps: steps, Hold: 0.002, Progress: func(s int, l float64) {
			if s%10 == 0 {
				fmt.Println(s, l)
			}
		}})
		fmt.Println("loss", loss, err, time.Since(start))
		fields, _ := FitPlan{Fields: strings.Split(f, ",")}.fields(p)
		for i, x := range fields {
			fmt.Printf("  %s %.6g\n", strings.Split(f, ",")[i], x.value())
		}
	}
	start := time.Now()
	cs, err := Compare(p, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cs {
		fmt.Printf("%s  error %.1f%% single %.1f%%\n", c.Evidence.Name, 100*c.Error, 100*c.Single)
		for _, f := range c.Figures {
			fmt.Printf("   %-24s %10.5g %10.5g %+6.1f%%  sd %.1f%%\n", f.Name, f.Measured, f.Median, 100*f.Error(), 100*f.Spread)
		}
	}
	fmt.Println(time.Since(start))
}

func explore(t *testing.T, p *profile.Profile, names []string, restarts int) {
	fields, err := FitPlan{Fields: names}.fields(p)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 2))
	best := 1e9
	var at []float64
	start := make([]float64, len(fields))
	for i, x := range fields {
		start[i] = x.value()
	}
	for n := range restarts {
		for i, x := range fields {
			scale := 0.6
			if n == 0 {
				scale = 0
			}
			base := start[i]
			if n > restarts/2 {
				base = at[i]
				scale = 0.3
			}
			v := base * math.Exp(scale*r.NormFloat64())
			if strings.HasSuffix(names[i], "at_cap") {
				v = min(v, 0.95)
				if v < 0.85 {
					v = 0.9
				}
			}
			if strings.HasSuffix(names[i], "acceptance") {
				v = min(v, 0.95)
			}
			x.set(v)
		}
		steps := 220
		loss, err := Fit(p, FitPlan{Fields: names, Draws: 3, Steps: steps})
		if err != nil {
			continue
		}
		if loss < best {
			best = loss
			at = at[:0]
			for _, x := range fields {
				at = append(at, x.value())
			}
			fmt.Println("explore", n, loss, at)
		}
	}
	for i, x := range fields {
		x.set(at[i])
	}
}
