package experiment

import (
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/run"
)

// A Forecast says what an experiment will do, and which changes it can detect by the noise of earlier experiments.
type Forecast struct {
	Legs      []Leg // of a design that ends early: all that there may be
	Endless   bool  // it may end early
	Workloads []WorkloadForecast
	// Start is how long a server takes until it answers, by earlier servers of these workloads; 0: unknown, or
	// there is none to start.
	Start time.Duration
	Leg   time.Duration // time of a leg; 0: unknown
	Least time.Duration // least time of a leg, by its schedules
}

// A WorkloadForecast is about one workload.
type WorkloadForecast struct {
	Name    string
	Run     *run.Forecast
	Machine string        // of the server
	Took    time.Duration // of a run, by those before; 0: unknown
	Effects []Effect      // that will be found, by the noise of experiments before; nil: unknown
	Seen    int           // such experiments
}

// Preview forecasts a plan. runs are the forecasts of its workloads, for the baseline, before the journals of other
// experiments, the newest first, and host this machine.
func Preview(p *CheckedExperiment, host string, runs []*run.Forecast, before []*Journal) Forecast {
	f := Forecast{Endless: p.Design.Adaptive()}
	for block := 1; block <= p.Design.Most(); block++ {
		for slot, v := range design.Order(len(p.Variants), p.Design, block) {
			f.Legs = append(f.Legs, Leg{Variant: p.Variants[v].Name, Block: block, Slot: slot + 1, Position: len(f.Legs) + 1})
		}
	}
	repeats := time.Duration(max(1, p.Design.Runs))
	known := true
	for i, r := range runs {
		w := WorkloadForecast{Name: p.Workloads[i].Name, Run: r, Machine: machineAt(p.Loads[0][i].Spec.Target.URL, host)}
		key := LoadKey(r.Workload, r.Arrival, r.Requests, r.Spec.Gate.Concurrency)
		w.Took, f.Start = meanTimes(before, key, r.Spec.Request.Model)
		var noise Noise
		if noise, w.Seen = noiseOf(before, w.Machine, key, r.Spec.Request.Model); w.Seen > 0 {
			w.Effects = p.effects(noise)
		}
		known = known && w.Took > 0
		f.Leg += repeats * w.Took
		if !r.Spec.Target.Simulated {
			f.Least += repeats * r.Duration
		}
		f.Workloads = append(f.Workloads, w)
	}
	if p.Variants[0].Server.Starts() {
		known = known && f.Start > 0
		f.Leg += f.Start
	} else {
		f.Start = 0
	}
	if !known {
		f.Leg = 0
	}
	return f
}

// meanTimes are the mean times of runs of a load, and of the starts of the servers that met it.
func meanTimes(before []*Journal, key, model string) (took, ready time.Duration) {
	var runs, starts int
	for _, j := range before {
		for _, l := range j.With(Done) {
			mine := false
			for _, r := range l.Runs {
				if r.Load == key && (model == "" || r.Model == model) {
					took, runs, mine = took+r.Took, runs+1, true
				}
			}
			if mine && l.Ready > 0 {
				ready, starts = ready+l.Ready, starts+1
			}
		}
	}
	return took / time.Duration(max(1, runs)), ready / time.Duration(max(1, starts))
}
