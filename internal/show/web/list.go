package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/runs"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Bounds of questions for a list.
const (
	fewRows  = 50   // of a page, if the question does not say
	mostRows = 1000 // of a page
	choices  = 200  // models, tags, experiments, loads to choose from
	longText = 1000 // bytes of a parameter
)

// list answers GET /api/runs; view.Runs has its parameters.
func (s *Server) list(q asked) (any, error) {
	filter, err := s.filter(q)
	if err != nil {
		return nil, err
	}
	page, err := pageOf(q.values())
	if err != nil {
		return nil, err
	}
	found := view.Runs{Offset: page.Offset}
	if found.Total, err = s.Runs.Count(filter); err != nil {
		return nil, err
	}
	single := filter
	single.Grouped = false
	if found.Runs, err = s.Runs.Count(single); err != nil {
		return nil, err
	}
	if found.Stored, err = s.Runs.Count(store.Filter{}); err != nil {
		return nil, err
	}
	if found.Rows, err = s.rows(filter, page, q.lang); err == nil && filter.Grouped {
		err = s.group(found.Rows, filter)
	}
	if err != nil {
		return nil, err
	}
	return found, s.choose(&found, q.lang)
}

// rows are those of a page, with the figures that are stored.
func (s *Server) rows(f store.Filter, p store.Page, lang *words.Language) ([]view.Row, error) {
	listed, err := s.Runs.ListPage(f, p)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(listed))
	for i, l := range listed {
		ids[i] = l.ID
	}
	figures, err := s.Runs.FiguresOf(ids, p.Definition, p.Version)
	if err != nil {
		return nil, err
	}
	rows := make([]view.Row, len(listed))
	for i, l := range listed {
		rows[i] = view.NewRow(l, lang)
		if rows[i].Figures = figures[l.ID]; rows[i].Figures == nil {
			rows[i].Figures = s.reckon.of(l.ID)
		}
	}
	return rows, s.reckonMissing(listed, p)
}

// group makes each row that is the newest run of a group the row of that group.
func (s *Server) group(rows []view.Row, f store.Filter) error {
	var names []string
	for _, r := range rows {
		if r.Experiment != "" {
			names = append(names, r.Experiment)
		}
	}
	sums, err := s.Runs.Sum(f, names)
	for i, r := range rows {
		g, ok := sums[r.Experiment]
		if !ok {
			continue
		}
		r.Group = &view.RunGroup{
			Name: r.Experiment, Kind: g.Kind, Status: g.Status, Runs: g.Runs, Valid: g.Valid, Doubtful: g.Doubtful, Invalid: g.Invalid, Loads: g.Loads, Models: g.Models,
		}
		r.Name, r.Requests, r.Records, r.Failed, r.Validity = r.Experiment, g.Records, g.Records, g.Failed, ""
		r.Figures, r.Tags, r.Remark = map[string]float64{}, nil, ""
		if g.Loads > 1 {
			r.Load = ""
		}
		if g.Models > 1 {
			r.Model = ""
		}
		if g.Running {
			r.Status = string(trace.Running)
		}
		rows[i] = r
	}
	return err
}

// reckonMissing has the figures of runs computed that have none stored.
func (s *Server) reckonMissing(listed []store.Listing, p store.Page) error {
	ids := make([]string, len(listed))
	for i, l := range listed {
		ids[i] = l.ID
	}
	known, err := s.Runs.Computed(ids, p.Definition, p.Version)
	s.reckon.want(slices.DeleteFunc(listed, func(l store.Listing) bool { return known[l.ID] }))
	return err
}

func (s *Server) choose(found *view.Runs, lang *words.Language) (err error) {
	if found.Models, err = s.Runs.Models(); err != nil {
		return err
	}
	if found.Tags, err = s.Runs.Tags(); err != nil {
		return err
	}
	if found.Experiments, err = s.Runs.OfExperiments(); err != nil {
		return err
	}
	loads, err := s.Runs.Loads()
	if err != nil {
		return err
	}
	for _, l := range loads {
		if name := s.loads.of(l, lang); name != "" && len(found.Loads) < choices && !slices.Contains(found.Loads, name) {
			found.Loads = append(found.Loads, name)
		}
	}
	for _, list := range []*[]string{&found.Models, &found.Tags, &found.Experiments} {
		*list = (*list)[:min(len(*list), choices)]
	}
	return nil
}

// pageOf reads which part of a list is asked for, in which order.
func pageOf(q url.Values) (p store.Page, err error) {
	p.Definition, p.Version = metrics.Pitot, metrics.Version
	sort := cmp.Or(q.Get("sort"), "-started")
	p.Sort, p.Ascending = strings.TrimPrefix(sort, "-"), !strings.HasPrefix(sort, "-")
	if !slices.Contains(store.Sorts(), p.Sort) {
		return p, mistakef("sort=%s: must be one of %s, with - before it for descending order", p.Sort, strings.Join(store.Sorts(), ", "))
	}
	if p.Offset, err = number(q, "offset", 0, 0, 1<<31); err != nil {
		return p, err
	}
	p.Limit, err = number(q, "limit", fewRows, 1, mostRows)
	return p, err
}

// number reads an integer within bounds.
func number(q url.Values, name string, otherwise, low, high int) (int, error) {
	text := q.Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, mistakef("%s=%s: must be a number from %d to %d", name, text, low, high)
	}
	return n, nil
}

// oneOf reads a parameter that has few values.
func oneOf[T ~string](q url.Values, name string, values ...T) (T, error) {
	value := T(q.Get(name))
	if value != "" && !slices.Contains(values, value) {
		return "", mistakef("%s=%s: must be one of %s", name, value, strings.Trim(fmt.Sprint(values), "[]"))
	}
	return value, nil
}

func (s *Server) filter(q asked) (f store.Filter, err error) {
	v := q.values()
	for name, all := range v {
		for _, value := range all {
			if len(value) > longText {
				return f, mistakef("%s: must be at most %d bytes", name, longText)
			}
		}
	}
	f.Text, f.Model, f.Experiment, f.Tags = v.Get("q"), v.Get("model"), v.Get("experiment"), v["tag"]
	if len(strings.Fields(f.Text))+len(f.Tags) > trace.MaxTags {
		return f, mistakef("q, tag: at most %d words and tags", trace.MaxTags)
	}
	f.Grouped = v.Get("group") == "1"
	if f.Validity, err = oneOf(v, "verdict", trace.Valid, trace.Doubtful, trace.Invalid); err != nil {
		return f, err
	}
	if f.Status, err = oneOf(v, "status", trace.Running, trace.Complete, trace.Interrupted, store.Killed); err != nil {
		return f, err
	}
	if f.Kind, err = oneOf(v, "kind", trace.Measured, trace.Simulated, trace.Imported); err != nil {
		return f, err
	}
	if f.Since, err = instant(v, "since"); err != nil {
		return f, err
	}
	if f.Until, err = instant(v, "until"); err != nil {
		return f, err
	}
	if _, err := time.Parse(time.DateOnly, v.Get("until")); err == nil {
		f.Until = f.Until.AddDate(0, 0, 1)
	}
	if load := v.Get("load"); load != "" {
		f.Loads, err = s.loadsWith(load, q.lang)
	}
	return f, err
}

// instant reads a parameter that is a time, zero if it is not given.
func instant(q url.Values, name string) (time.Time, error) {
	t, err := runs.Since(q.Get(name), time.Now())
	if err != nil {
		return t, mistakef("%s=%s: %w", name, q.Get(name), err)
	}
	return t, nil
}

// loadsWith are the loads, as rows of the store, with a description that has all words of some.
func (s *Server) loadsWith(some string, lang *words.Language) ([]int64, error) {
	all, err := s.Runs.Loads()
	if err != nil {
		return nil, err
	}
	wanted, found := strings.Fields(strings.ToLower(some)), []int64{}
	for _, l := range all {
		name := strings.ToLower(s.loads.of(l, lang))
		if !slices.ContainsFunc(wanted, func(word string) bool { return !strings.Contains(name, word) }) {
			found = append(found, l.Example)
		}
	}
	return found, nil
}

// A loadNames remembers loads in words, since a list with many runs asks for many.
type loadNames struct {
	mu    sync.Mutex
	names map[string]string
}

const mostNames = 20_000

func (n *loadNames) of(l store.SharedLoad, lang *words.Language) string {
	key := lang.Name + "\n" + l.Key()
	n.mu.Lock()
	defer n.mu.Unlock()
	name, ok := n.names[key]
	if !ok {
		if n.names == nil || len(n.names) >= mostNames {
			n.names = map[string]string{}
		}
		name = report.Load(l.Plan(), lang)
		n.names[key] = name
	}
	return name
}
