package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// List are all searches that have runs or are under way, the newest first.
func List(s *store.Store, l *words.Language) (view.Searches, error) {
	out := view.Searches{Rows: []view.SearchRow{}}
	stored, err := s.Searches()
	groups, errGroups := s.Groups()
	if err := errors.Join(err, errGroups); err != nil {
		return out, err
	}
	byName := map[string]store.Group{}
	for _, g := range groups {
		byName[g.Name] = g
	}
	for _, x := range stored {
		g, ok := byName[x.Name]
		if ok || x.Status == trace.Running {
			out.Rows = append(out.Rows, rowOf(x, g, l))
		}
	}
	slices.SortStableFunc(out.Rows, func(a, b view.SearchRow) int { return strings.Compare(b.Started, a.Started) })
	return out, nil
}

func rowOf(x store.Search, g store.Group, l *words.Language) view.SearchRow {
	row := view.SearchRow{
		Name: x.Name, Kind: string(x.Kind), Status: string(x.Status), Started: instant(x.Started), Runs: g.Runs,
		Model: g.Newest.Model, URL: g.Newest.URL, Simulated: g.Newest.Kind == trace.Simulated, Terms: []string{},
	}
	switch x.Kind {
	case store.Sweep:
		if d, err := designOf(x); err == nil {
			row.Planned, row.Simulated = d.Runs(), d.Simulated
			row.Answer = l.Word("sweep.extent", "points", len(d.Points), "runs", g.Runs)
			if len(d.Points) > 0 {
				row.Terms = varied(d.Points)
			}
		}
	case store.Capacity:
		if a, err := answerOf(x); err == nil {
			row.Terms, row.End = a.Objectives, endOf(a)
			if len(a.Text) > 0 {
				row.Answer = l.Say(a.Text[0])
			}
		}
	}
	return row
}

// endOf is how a capacity search ended, open where its time was over before it knew anything.
func endOf(a search.Answer) string {
	if a.End == search.OutOfTime && !a.Known() {
		return "open"
	}
	return string(a.End)
}

func varied(points []curve.Point) (out []string) {
	for i, set := range points[0] {
		var all []string
		for _, p := range points {
			if !slices.Contains(all, p[i].Value) {
				all = append(all, p[i].Value)
			}
		}
		text := strings.Join(all, ", ")
		if len(all) > mostValues {
			text = fmt.Sprintf("%s, … %s", strings.Join(all[:mostValues-1], ", "), all[len(all)-1])
		}
		out = append(out, set.Name+": "+text)
	}
	return out
}

// mostValues are the values of a setting that a list names.
const mostValues = 6

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func designOf(x store.Search) (d curve.Design, err error) {
	if err = json.Unmarshal(x.Body, &d); err != nil {
		err = fmt.Errorf("search %s is damaged: %w", x.Name, err)
	}
	return d, err
}

func answerOf(x store.Search) (a search.Answer, err error) {
	if err = json.Unmarshal(x.Body, &a); err != nil {
		err = fmt.Errorf("search %s is damaged: %w", x.Name, err)
	}
	return a, err
}

// Show is a search by its name. The error is store.ErrNoSearch if there is none.
func Show(s *store.Store, name string, l *words.Language) (view.Search, error) {
	runs, err := s.List(store.Filter{Experiment: name})
	if err != nil {
		return view.Search{}, err
	}
	x, err := s.Search(name)
	if err != nil {
		return view.Search{}, err
	}
	g := store.Group{Name: name, Runs: len(runs)}
	if len(runs) > 0 {
		g.Newest = runs[0]
	}
	v := view.Search{Row: rowOf(x, g, l), Answer: []string{}, Command: command(x)}
	if x.Kind == store.Sweep {
		return v, sweepOf(&v, s, x, runs, l)
	}
	return v, capacityOf(&v, x, runs, l)
}

// command makes the search again, or goes on with it; empty: it is not known.
func command(x store.Search) string {
	args := x.Command
	switch {
	case len(args) == 0:
		return ""
	case x.Status != trace.Complete:
		args = resumed(args, x.Name)
	}
	return secret.Mask(shell.Join(append([]string{"pitot"}, args...)))
}

// resumed are the words that go on with a search, of those that began it.
func resumed(args []string, name string) []string {
	out := []string{args[0], "--resume", name}
	for i := 1; i < len(args); i++ {
		switch word := args[i]; {
		case word == "--":
			return append(out, args[i:]...)
		case word == "--name" || word == "--resume":
			i++
		case !strings.HasPrefix(word, "--name=") && !strings.HasPrefix(word, "--resume="):
			out = append(out, word)
		}
	}
	return out
}

// numbered are the newest runs by the number behind the name of their search.
func numbered(name string, runs []store.Listing) map[int]store.Listing {
	out := map[int]store.Listing{}
	for _, r := range runs {
		n, err := strconv.Atoi(strings.TrimPrefix(r.Name, name+"/"))
		if _, again := out[n]; err == nil && !again {
			out[n] = r
		}
	}
	return out
}
