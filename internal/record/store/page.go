package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// listed are the figures that lists show and sort by: the index figure_listed has them.
var listed = []string{"ttft.mean", "ttft.p99", "tpot.mean", "itl.p99", "throughput.output", "throughput.requests"}

// Listed are the names of the figures that lists show and sort by.
func Listed() []string { return slices.Clone(listed) }

// literally names the listed figures, so that SQLite sees that the index has them.
var literally = "name IN ('" + strings.Join(listed, "', '") + "')"

// A Page is a part of a list. Its zero value is all of it, the newest run first.
type Page struct {
	Sort      string // a column: see Sorts; empty: started, the newest first
	Ascending bool
	Offset    int
	Limit     int // 0: no limit
	// Definition and Version are those of figures to sort by.
	Definition, Version string
}

// sorts are the columns to sort by, other than figures.
var sorts = map[string]string{
	"started": "started", "name": "name COLLATE NOCASE", "model": "model COLLATE NOCASE", "kind": "kind", "status": "status",
	"verdict":  "CASE validity WHEN 'valid' THEN 1 WHEN 'doubtful' THEN 2 WHEN 'invalid' THEN 3 END",
	"requests": "records", "failed": "failed", "rate": "nullif(rate, 0)", "concurrency": "nullif(concurrency, 0)",
	"load": "workload || arrival",
}

// Sorts are what a list can be sorted by.
func Sorts() []string {
	names := Listed()
	for name := range sorts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// order is the end of a query for p. Runs without the sort key come last.
func (p Page) order() (order string, args []any, err error) {
	what := sorts[cmp.Or(p.Sort, "started")]
	if slices.Contains(listed, p.Sort) {
		what = "(SELECT value FROM figure WHERE run_id = run.id AND definition = ? AND version = ? AND name = '" + p.Sort + "' AND " + literally + ")"
		args = []any{p.Definition, p.Version}
	}
	if what == "" {
		return "", nil, fmt.Errorf("sort by %q: must be one of %s", p.Sort, strings.Join(Sorts(), ", "))
	}
	direction := " DESC"
	if p.Ascending {
		direction = " ASC"
	}
	order = " ORDER BY " + what + direction + " NULLS LAST, started" + direction + ", rowid" + direction
	if what == "started" { // in the order of its index
		order = " ORDER BY started" + direction + ", rowid" + direction
	}
	return order + " LIMIT ? OFFSET ?", append(args, cmp.Or(p.Limit, -1), p.Offset), nil
}

// ListPage returns a part of the list of the runs that f selects. The limit of f is not used.
func (s *Store) ListPage(f Filter, p Page) ([]Listing, error) {
	order, more, err := p.order()
	if err != nil {
		return nil, err
	}
	condition, args := f.where()
	return s.list(condition+order, append(args, more...)...)
}

// FiguresOf returns the listed figures of runs, by id and name, as far as they are stored.
func (s *Store) FiguresOf(ids []string, definition, version string) (map[string]map[string]float64, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.Query(`SELECT run_id, name, figure.value FROM json_each(?) AS j CROSS JOIN figure
		WHERE run_id = j.value AND definition = ? AND version = ? AND figure.value IS NOT NULL AND `+literally, string(list), definition, version)
	if err != nil {
		return nil, repairable(err)
	}
	defer rows.Close()
	out := map[string]map[string]float64{}
	for rows.Next() {
		var id, name string
		var value float64
		if err := rows.Scan(&id, &name, &value); err != nil {
			return nil, err
		}
		if out[id] == nil {
			out[id] = map[string]float64{}
		}
		out[id][name] = value
	}
	return out, repairable(rows.Err())
}

// A Summed is the runs of a group that a filter selects, taken together.
type Summed struct {
	Kind          string // experiment, or that of a search; empty: neither is stored
	Status        string // of that experiment or search, as it was stored
	Runs, Records int
	Failed        int // requests
	// Valid, Doubtful and Invalid count runs, Loads and Models how many different ones the runs have.
	Valid, Doubtful, Invalid int
	Loads, Models            int
	Running                  bool
}

// Sum are groups by their names, as far as f selects their runs.
func (s *Store) Sum(f Filter, names []string) (map[string]Summed, error) {
	list, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	condition, args := f.each()
	rows, err := s.db.Query(`SELECT experiment, coalesce((SELECT kind FROM search WHERE name = run.experiment),
		(SELECT 'experiment' FROM experiment WHERE name = run.experiment), ''),
		coalesce((SELECT status FROM search WHERE name = run.experiment), (SELECT status FROM experiment WHERE name = run.experiment), ''), count(*), sum(records), sum(failed),
		sum(validity = 'valid'), sum(validity = 'doubtful'), sum(validity = 'invalid'), count(DISTINCT workload || char(10) || arrival || char(10) || concurrency), count(DISTINCT model),
		sum(status = 'running' AND beat_ns >= ?) > 0
		FROM run WHERE experiment IN (SELECT value FROM json_each(?)) AND `+condition+` GROUP BY experiment`,
		append([]any{time.Now().Add(-silence).UnixNano(), string(list)}, args...)...)
	if err != nil {
		return nil, repairable(err)
	}
	defer rows.Close()
	out := map[string]Summed{}
	for rows.Next() {
		var name string
		var g Summed
		if err := rows.Scan(&name, &g.Kind, &g.Status, &g.Runs, &g.Records, &g.Failed, &g.Valid, &g.Doubtful, &g.Invalid, &g.Loads, &g.Models, &g.Running); err != nil {
			return nil, err
		}
		out[name] = g
	}
	return out, repairable(rows.Err())
}

// Computed returns the runs with stored figures, even if there are none.
func (s *Store) Computed(ids []string, definition, version string) (map[string]bool, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, id := range s.strings("SELECT run_id FROM json_each(?) AS j CROSS JOIN computed WHERE run_id = j.value AND definition = ? AND version = ?", string(list), definition, version) {
		known[id] = true
	}
	return known, nil
}

// Models are those of all runs, the most used first.
func (s *Store) Models() ([]string, error) { return s.used("model", "model <> ''") }

// OfExperiments are the names of the experiments that runs belong to, the largest first.
func (s *Store) OfExperiments() ([]string, error) {
	return s.used("experiment", "experiment IS NOT NULL")
}

// used are the values of a column, the most used first.
func (s *Store) used(column, condition string) ([]string, error) {
	rows, err := s.db.Query("SELECT " + column + ", count(*) FROM run WHERE " + condition + " GROUP BY " + column)
	if err != nil {
		return nil, repairable(err)
	}
	defer rows.Close()
	used := map[string]int{}
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			return nil, err
		}
		used[name] = n
	}
	return mostUsed(used), repairable(rows.Err())
}

// A SharedLoad is what some runs have in common: requests, schedule, and concurrency.
type SharedLoad struct {
	Example int64 // the row of one of the runs, for Filter.Loads
	Runs    int   // how many there are
	of      Listing
}

// Plan is the part of the plan that the runs have in common.
func (l SharedLoad) Plan() trace.Load { return l.of.Plan() }

// Key is the same for equal loads only.
func (l SharedLoad) Key() string {
	return fmt.Sprintf("%s\n%s\n%d", l.of.workload, l.of.arrival, l.of.Concurrency)
}

// Loads are the different loads of all runs, the most used first.
func (s *Store) Loads() ([]SharedLoad, error) {
	rows, err := s.db.Query("SELECT min(rowid), count(*), workload, arrival, concurrency FROM run GROUP BY workload, arrival, concurrency ORDER BY 2 DESC, 1 DESC")
	if err != nil {
		return nil, repairable(err)
	}
	defer rows.Close()
	var out []SharedLoad
	for rows.Next() {
		var l SharedLoad
		if err := rows.Scan(&l.Example, &l.Runs, &l.of.workload, &l.of.arrival, &l.of.Concurrency); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, repairable(rows.Err())
}

// conditions are those of the text, the tags, the ids, the loads and the end of f.
func (f Filter) conditions() (all []string, args []any) {
	for _, word := range strings.Fields(f.Text) {
		pattern := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(word) + "%"
		var some []string
		for _, column := range []string{"name", "id", "model", "tags", "remark"} {
			some, args = append(some, column+` LIKE ? ESCAPE '\'`), append(args, pattern)
		}
		all = append(all, "("+strings.Join(some, " OR ")+")")
	}
	for _, tag := range f.Tags {
		all, args = append(all, "tags <> '' AND instr(char(10) || tags || char(10), char(10) || ? || char(10)) > 0"), append(args, tag)
	}
	if f.IDs != nil {
		list, _ := json.Marshal(f.IDs) // texts
		all, args = append(all, "id IN (SELECT value FROM json_each(?))"), append(args, string(list))
	}
	if f.Loads != nil {
		list, _ := json.Marshal(f.Loads) // numbers
		all = append(all, "(workload, arrival, concurrency) IN (SELECT workload, arrival, concurrency FROM run WHERE rowid IN (SELECT value FROM json_each(?)))")
		args = append(args, string(list))
	}
	if !f.Until.IsZero() {
		all, args = append(all, "started <> 0 AND started < ?"), append(args, f.Until.UnixNano())
	}
	return all, args
}
