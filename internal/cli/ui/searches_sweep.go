package ui

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/sweeps"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// sweepOf shows a sweep.
func sweepOf(v *view.Search, s *store.Store, x store.Search, runs []store.Listing, l *words.Language) error {
	d, err := designOf(x)
	if x.Body == nil {
		d, err = guessed(x.Name, runs), nil
	}
	if err != nil {
		return err
	}
	points := map[string]int{} // by the name of a run
	for i, p := range d.Points {
		for r := range d.Repeats {
			points[curve.RunName(x.Name, p, r+1)] = i
		}
	}
	var seen []curve.Observation
	under := map[int][]string{} // ids of runs under way, by point
	met, same := map[string]bool{}, map[int]string{}
	for _, r := range runs { // the newest first
		i, ok := points[r.Name]
		if !ok || met[r.Name] {
			continue
		}
		switch r.Status {
		case trace.Running:
			under[i] = append(under[i], r.ID)
		case trace.Complete:
			o, err := observed(s, i, r, d.Settled(i))
			if err != nil {
				return err
			}
			seen = append(seen, o)
		default:
			continue
		}
		met[r.Name], same[i] = true, r.SameLoad()
	}
	slices.Reverse(seen)
	made, says := sweeps.View(d.Sweep(x.Name, seen), l)
	for i, key := range same {
		made.Points[i].Same = key
	}
	for i, ids := range under {
		made.Points[i].Running = true
		made.Points[i].Runs = append(made.Points[i].Runs, ids...)
	}
	v.Sweep, v.Says = &made, append(v.Says, says...)
	return nil
}

// Why a run is no evidence, which experiments say too.
const (
	invalid    plan.Code = "experiment.leg-invalid"
	unanswered plan.Code = "experiment.leg-unanswered"
)

// observed is what a stored run says.
func observed(s *store.Store, point int, r store.Listing, settled bool) (o curve.Observation, err error) {
	o = curve.Observation{Point: point, Run: r.ID}
	switch {
	case r.Records > 0 && r.Failed == r.Records:
		o.Failed = plan.Say(unanswered, "why", plan.Say("sweep.unanswered", "requests", r.Failed))
		return o, nil
	case r.Validity == trace.Invalid:
		run, err := s.Run(r.ID)
		if err == nil && run.Verdict != nil {
			o.Failed = plan.Say(invalid, "reasons", run.Verdict.Reasons)
		}
		return o, err
	}
	o.Figures, err = view.OwnFigures(s, r.ID, settled)
	return o, err
}

// guessed is a sweep that was not kept, by the names of its runs.
func guessed(name string, runs []store.Listing) curve.Design {
	d := curve.Design{Repeats: 1, Devices: 1}
	seen := map[string]bool{}
	for _, r := range slices.Backward(runs) { // the oldest first
		text, repeat := split(name, r.Name)
		d.Repeats = max(d.Repeats, repeat)
		d.Simulated = d.Simulated || r.Kind == trace.Simulated
		if p := settingsIn(text); !seen[text] && p.String() == text && (len(d.Points) == 0 || alike(p, d.Points[0])) {
			d.Points = append(d.Points, p)
		}
		seen[text] = true
	}
	if len(d.Points) == 0 {
		return d
	}
	for _, load := range search.Loads() {
		if d.Points[0].Value(load) != "" {
			d.Load = load
			break
		}
	}
	return d
}

// split takes the name of a run of a sweep apart: its point and the repetition.
func split(sweep, run string) (point string, repeat int) {
	rest := strings.TrimPrefix(run, sweep+" / ")
	at := strings.LastIndex(rest, " / ")
	if at < 0 {
		return "", 0
	}
	repeat, _ = strconv.Atoi(rest[at+len(" / "):]) // 0 is no repetition
	return rest[:at], repeat
}

var setting = regexp.MustCompile(`(^| )[A-Za-z_][\w.\-\[\]]*=`)

// settingsIn reads a point as it is called.
func settingsIn(text string) (p curve.Point) {
	at := setting.FindAllStringIndex(text, -1)
	for i, from := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		name, value, _ := strings.Cut(strings.TrimPrefix(text[from[0]:end], " "), "=")
		p = append(p, curve.Setting{Name: name, Value: value})
	}
	return p
}

// alike reports whether two points have values for the same names.
func alike(a, b curve.Point) bool {
	return slices.EqualFunc(a, b, func(x, y curve.Setting) bool { return x.Name == y.Name })
}
