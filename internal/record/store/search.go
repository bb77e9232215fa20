package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// ErrNoSearch is wrapped by errors for names that no search has.
var ErrNoSearch = errors.New("no such search")

// A Search is a sweep, or a search for a capacity: settings, and what came of it. Its runs have
// its name as their experiment.
type Search struct {
	Name    string
	Kind    SearchKind
	Status  trace.Status // or Killed
	Started time.Time
	Command []string        // the words of the command line, without pitot; secrets masked
	Body    json.RawMessage // of who makes it
}

// A SearchKind says what makes a search, and what its body is.
type SearchKind string

// The kinds of a search.
const (
	Sweep    SearchKind = "sweep"    // judge/curve
	Capacity SearchKind = "capacity" // experiment/search
)

// A SearchWriter keeps a search that goes on.
type SearchWriter struct {
	store *Store
	name  string
	end   func() // ends the loop
	done  sync.WaitGroup
}

// beatEvery is the time between two signs of a process that makes a search.
const beatEvery = time.Second

// BeginSearch keeps a search that begins, or goes on: one of the same name is replaced, but for
// when it started.
func (s *Store) BeginSearch(x Search) (*SearchWriter, error) {
	if err := s.storeSearch(x, trace.Running); err != nil {
		return nil, storing("store search "+x.Name, err)
	}
	stop := make(chan struct{})
	w := &SearchWriter{store: s, name: x.Name, end: sync.OnceFunc(func() { close(stop) })}
	w.done.Go(func() { w.loop(stop) })
	return w, nil
}

func (s *Store) storeSearch(x Search, status trace.Status) error {
	command, err := json.Marshal(x.Command)
	if err != nil {
		return err
	}
	return s.change(patient, func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO search (name, kind, status, started, beat_ns, command, body) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, status = excluded.status, beat_ns = excluded.beat_ns, command = excluded.command, body = excluded.body`,
			x.Name, x.Kind, status, x.Started.UnixNano(), time.Now().UnixNano(), string(command), string(x.Body))
		return err
	})
}

// loop gives signs until it is stopped.
func (w *SearchWriter) loop(stop <-chan struct{}) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = w.update(brief, "beat_ns = ?", time.Now().UnixNano()) // the next one may succeed
		case <-stop:
			return
		}
	}
}

// Write replaces the body.
func (w *SearchWriter) Write(body json.RawMessage) error {
	return storing("store search "+w.name, w.update(patient, "beat_ns = ?, body = ?", time.Now().UnixNano(), string(body)))
}

// End keeps how the search ended. No more can be written then.
func (w *SearchWriter) End(status trace.Status) error {
	w.end()
	w.done.Wait()
	return storing("store the end of search "+w.name, w.update(patient, "status = ?", status))
}

func (w *SearchWriter) update(wait time.Duration, set string, values ...any) error {
	return w.store.change(wait, func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE search SET "+set+" WHERE name = ?", append(values, w.name)...)
		return err
	})
}

// Search reads a search.
func (s *Store) Search(name string) (Search, error) {
	all, err := s.searches("WHERE name = ?", name)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%w: %s", ErrNoSearch, name)
	}
	if err != nil {
		return Search{}, err
	}
	return all[0], nil
}

// Searches reads all searches, the newest first.
func (s *Store) Searches() ([]Search, error) {
	return s.searches("ORDER BY started DESC, rowid DESC")
}

func (s *Store) searches(condition string, args ...any) (out []Search, err error) {
	rows, err := s.db.Query("SELECT name, kind, status, started, beat_ns, command, body FROM search "+condition, args...)
	if err != nil {
		return nil, repairable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var x Search
		var started, beat int64
		var command, body string
		if err := rows.Scan(&x.Name, &x.Kind, &x.Status, &started, &beat, &command, &body); err != nil {
			return nil, fmt.Errorf("read a search: %w", err)
		}
		_ = json.Unmarshal([]byte(command), &x.Command) // a damaged one is not displayed
		x.Status, x.Started, x.Body = alive(x.Status, beat), time.Unix(0, started), json.RawMessage(body)
		out = append(out, x)
	}
	return out, repairable(rows.Err())
}

// A Group is runs that have the same experiment, as far as a list knows them.
type Group struct {
	Name   string // of the experiment
	Runs   int
	Newest Listing // the run that began last
}

// Groups are the runs of experiments, sweeps and searches by the names of these, the newest first.
func (s *Store) Groups() (out []Group, err error) {
	newest, err := s.list(`id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY experiment ORDER BY started DESC, rowid DESC) AS nth
		FROM run WHERE experiment IS NOT NULL) WHERE nth = 1)` + newestFirst)
	if err != nil {
		return nil, err
	}
	counts, err := s.countGroups()
	for _, l := range newest {
		out = append(out, Group{Name: l.Leg.Experiment, Runs: counts[l.Leg.Experiment], Newest: l})
	}
	return out, err
}

func (s *Store) countGroups() (map[string]int, error) {
	rows, err := s.db.Query("SELECT experiment, count(*) FROM run WHERE experiment IS NOT NULL GROUP BY experiment")
	if err != nil {
		return nil, repairable(err)
	}
	defer rows.Close()
	counts := map[string]int{}
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			return nil, fmt.Errorf("count the runs of experiments: %w", err)
		}
		counts[name] = n
	}
	return counts, repairable(rows.Err())
}
