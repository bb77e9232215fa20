package store

import (
	"cmp"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Listing is a run in a list.
type Listing struct {
	ID       string
	Name     string
	Kind     trace.RunKind
	Status   trace.Status   // or Killed
	Validity trace.Validity // empty for a run that was not judged
	Started  time.Time      // zero if unknown
	Model    string
	URL      string
	Dialect  string
	// Requests, Concurrency and Rate are from the plan.
	Requests    int
	Concurrency int
	Rate        float64
	Records     int
	// Failed counts failed requests: from the records, or without records from the
	// report of the tool that made the run; -1 if unknown.
	Failed int
	Leg    *trace.Leg // nil for a run on its own
	trace.Labels

	workload, arrival string // of the plan, as JSON
}

// Plan returns the part of the plan that a list has. It decodes the workload and
// the arrival, which List does not: only a few runs of a long list are displayed.
func (l Listing) Plan() trace.Load {
	p := trace.Load{Dialect: l.Dialect, URL: l.URL, Model: l.Model, Requests: l.Requests, Concurrency: l.Concurrency, Rate: l.Rate}
	_ = json.Unmarshal([]byte(l.workload), &p.Workload) // a damaged one is not displayed
	_ = json.Unmarshal([]byte(l.arrival), &p.Arrival)
	return p
}

// SameLoad is equal for runs of the same load, whatever it was sent to.
func (l Listing) SameLoad() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%d\n%g", l.workload, l.arrival, l.Requests, l.Concurrency, l.Rate))
	return hex.EncodeToString(sum[:8])
}

// A Filter selects runs; its zero value selects all.
type Filter struct {
	// Match is an id, a name, a prefix of a name path, or a pattern for an id or
	// name: * matches any text and ? one character.
	Match      string
	Experiment string
	Kind       trace.RunKind
	Status     trace.Status   // or Killed
	Validity   trace.Validity // of runs that were judged
	Model      string         // the name, or a pattern for it
	Since      time.Time      // of their start; a run without one is none
	Until      time.Time      // their start is before it
	// Text has words, each of which is in the name, the id, the model, a tag or the remark,
	// whatever the case of its letters (ASCII).
	Text  string
	Tags  []string // the run has all of them
	IDs   []string // the run is one of these; nil: any run
	Note  string   // the run came from this note
	Loads []int64  // Examples of loads (see Loads), of which the run has one; nil: any load
	Limit int      // maximum number of runs, the newest ones; 0 = no limit
	// Grouped leaves one run of each experiment, sweep and search: that which began last.
	Grouped bool
}

// where returns the condition of f on the table run.
func (f Filter) where() (condition string, args []any) {
	condition, args = f.each()
	if !f.Grouped {
		return condition, args
	}
	// Of an aggregate max(), SQLite takes the other columns from the row that has the maximum.
	newest := "SELECT id FROM (SELECT id, max(started) FROM run WHERE experiment IS NOT NULL AND " + condition + " GROUP BY experiment)"
	return "(experiment IS NULL OR id IN (" + newest + ")) AND " + condition, append(args, args...)
}

// each is the condition without the grouping.
func (f Filter) each() (condition string, args []any) {
	all := []string{"TRUE"}
	if f.Match != "" {
		literal := strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(f.Match)
		any := []string{"id = ?", "name = ?", "name GLOB ?"}
		args = append(args, f.Match, f.Match, literal+" / *")
		if strings.ContainsAny(f.Match, "*?") {
			pattern := strings.ReplaceAll(f.Match, "[", "[[]")
			any = append(any, "name GLOB ?", "id GLOB ?")
			args = append(args, pattern, pattern)
		}
		all = append(all, "("+strings.Join(any, " OR ")+")")
	}
	if f.Experiment != "" {
		all = append(all, "experiment = ?")
		args = append(args, f.Experiment)
	}
	more, values := f.conditions()
	all, args = append(all, more...), append(args, values...)
	only := func(condition string, value any) {
		all = append(all, condition)
		args = append(args, value)
	}
	if f.Note != "" {
		only("note = ?", f.Note)
	}
	if f.Kind != "" {
		only("kind = ?", f.Kind)
	}
	if f.Validity != "" {
		only("validity = ?", f.Validity)
	}
	if f.Model != "" {
		only("model GLOB ?", strings.ReplaceAll(f.Model, "[", "[[]"))
	}
	if !f.Since.IsZero() {
		only("started >= ?", f.Since.UnixNano())
	}
	switch f.Status {
	case "":
	case Killed:
		only("status = 'running' AND beat_ns < ?", time.Now().Add(-silence).UnixNano())
	case trace.Running:
		only("status = 'running' AND beat_ns >= ?", time.Now().Add(-silence).UnixNano())
	default:
		only("status = ?", f.Status)
	}
	return strings.Join(all, " AND "), args
}

// newestFirst is the order of lists. Among runs with equal or unknown start times,
// the one stored last is the newest.
const newestFirst = " ORDER BY started DESC, rowid DESC"

// List returns the runs that f selects, the newest first.
func (s *Store) List(f Filter) ([]Listing, error) {
	condition, args := f.where()
	return s.list(condition+newestFirst+" LIMIT ?", append(args, cmp.Or(f.Limit, -1))...)
}

// Count returns the number of runs that f selects, without its limit.
func (s *Store) Count(f Filter) (n int, err error) {
	condition, args := f.each()
	what := "count(*)"
	if f.Grouped {
		what = "count(*) - count(experiment) + count(DISTINCT experiment)"
	}
	err = s.db.QueryRow("SELECT "+what+" FROM run WHERE "+condition, args...).Scan(&n)
	return n, err
}

// list returns the runs that match a condition, in the order given at its end.
func (s *Store) list(condition string, args ...any) ([]Listing, error) {
	rows, err := s.db.Query("SELECT id, beat_ns, records, failed, tags, remark, "+runColumns+" FROM run WHERE "+condition, args...)
	if err != nil {
		return nil, repairable(err)
	}
	defer rows.Close()
	var out []Listing
	for rows.Next() {
		l, err := scanListing(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, repairable(rows.Err())
}

func scanListing(rows *sql.Rows) (Listing, error) {
	var l Listing
	var beat, started int64
	var reported, block, leg, server sql.NullInt64
	var experiment sql.NullString
	var tags string
	err := rows.Scan(&l.ID, &beat, &l.Records, &l.Failed, &tags, &l.Remark,
		&l.Name, &l.Kind, &l.Status, &l.Validity, &started, &l.Model, &l.URL, &l.Dialect, &l.workload, &l.arrival,
		&l.Requests, &l.Concurrency, &l.Rate, &reported, &experiment, &block, &leg, &server)
	if err != nil {
		return l, fmt.Errorf("list run %s: %w", l.ID, err)
	}
	l.Status, l.Tags = alive(l.Status, beat), lines(tags)
	if started != 0 {
		l.Started = time.Unix(0, started)
	}
	if l.Records == 0 && l.Kind == trace.Imported {
		l.Failed = -1
		if reported.Valid {
			l.Failed = int(reported.Int64)
		}
	}
	if experiment.Valid {
		l.Leg = &trace.Leg{Experiment: experiment.String, Block: int(block.Int64), Position: int(leg.Int64), ServerStart: int(server.Int64)}
	}
	return l, nil
}

// Silence is how long a running run may go without a heartbeat.
const Silence = 5 * time.Second

const silence = Silence

// Killed is the status of a run after its process died.
const Killed trace.Status = "killed"

// alive returns the status of a run with its last heartbeat at beat.
func alive(status trace.Status, beat int64) trace.Status {
	if status == trace.Running && time.Since(time.Unix(0, beat)) > silence {
		return Killed
	}
	return status
}

// ErrNoRun is wrapped by errors for references that match no run.
var ErrNoRun = errors.New("no such run")

// Find returns the run for a reference: an id, a name (if several runs have it, the
// newest), a unique prefix of an id, or "last", the newest run of all.
func (s *Store) Find(ref string) (Listing, error) {
	var found []Listing
	var err error
	switch ref {
	case "":
	case "last":
		found, err = s.List(Filter{Limit: 1})
	default:
		found, err = s.list(`id = ?1 OR name = ?1 OR id BETWEEN ?1 AND ?1 || char(0x10ffff)
			ORDER BY id = ?1 DESC, name = ?1 DESC, started DESC, rowid DESC`, ref)
	}
	switch {
	case err != nil:
		return Listing{}, err
	case len(found) == 0:
		n, err := s.Count(Filter{})
		return Listing{}, errors.Join(fmt.Errorf("%w: %q (`pitot runs list` shows the %d there are)", ErrNoRun, ref, n), err)
	case len(found) == 1, found[0].ID == ref, found[0].Name == ref:
		return found[0], nil
	}
	return Listing{}, fmt.Errorf("%w: %q could be any of %d: %s", ErrNoRun, ref, len(found), firstIDs(found))
}

// Before returns the newest other measured run against the server of r with a Spec that like
// accepts; empty if none of the newest has one.
func (s *Store) Before(r trace.Run, like func(*plan.Spec) bool) string {
	const most = 100
	found, err := s.list("kind = ? AND url = ? AND requests = ? AND id != ?"+newestFirst+" LIMIT ?", trace.Measured, r.Plan.URL, r.Plan.Requests, r.ID, most)
	for _, l := range found {
		if err != nil {
			break
		}
		if other, err := s.Run(l.ID); err == nil && other.Plan.Spec != nil && like(other.Plan.Spec) {
			return l.ID
		}
	}
	return ""
}

// firstIDs lists the ids of the first of runs.
func firstIDs(runs []Listing) string {
	const most = 5
	var ids []string
	for _, l := range runs[:min(len(runs), most)] {
		ids = append(ids, l.ID)
	}
	if len(runs) > most {
		return strings.Join(ids, ", ") + " …"
	}
	return strings.Join(ids, ", ")
}

// Alike are complete runs of the same load as another (SameLoad), itself with them, the newest
// first, at most limit of them.
func (s *Store) Alike(l Listing, kind trace.RunKind, limit int) ([]Listing, error) {
	return s.list("workload = ? AND arrival = ? AND concurrency = ? AND requests = ? AND rate = ? AND kind = ? AND status = ?"+newestFirst+" LIMIT ?",
		l.workload, l.arrival, l.Concurrency, l.Requests, l.Rate, kind, trace.Complete, limit)
}
