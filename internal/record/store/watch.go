package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// A Watch notices what processes, this one among them, change in a store. It asks when it is
// polled, and reads only new rows, by indices, if SQLite reports a commit. It is for one goroutine.
type Watch struct {
	store       *Store
	conn        *sql.Conn // PRAGMA data_version counts the commits of other connections than its own
	version     int64
	known       map[string]watched
	row         int64            // the last of the table run
	last        string           // and its id: the next run may get the row number of one that was removed
	label       int64            // the last change of labels
	experiments map[string]int64 // when they were changed, by name; nil before the first look
}

// A watched run is what a list has of it and what changes.
type watched struct {
	status   trace.Status // as it is stored
	validity string
	computed bool // its figures are stored
	killed   bool
	beat     int64
	ended    time.Time // when it was seen to end; zero: long ago, or not yet
}

// Changes are what happened to the runs of a store, by id, and to experiments, by name.
type Changes struct {
	Any         bool // something was committed, if only a record
	Stored      int  // runs
	Added       []string
	Changed     []string // in status, verdict, figures or labels
	Removed     []string
	Experiments []string
}

// Empty reports whether no run and no experiment was changed.
func (c Changes) Empty() bool {
	return len(c.Added)+len(c.Changed)+len(c.Removed)+len(c.Experiments) == 0
}

// Watch begins to watch: runs stored before are not changes.
func (s *Store) Watch(ctx context.Context) (*Watch, error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, repairable(err)
	}
	w := &Watch{store: s, conn: conn, version: -1, known: map[string]watched{}}
	if _, err := w.Poll(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// Close ends it.
func (w *Watch) Close() error { return w.conn.Close() }

// Poll returns what was changed since the last call. If the file of the store was replaced, the
// changes are the differences between the two.
func (w *Watch) Poll(ctx context.Context) (c Changes, err error) {
	replaced, err := w.store.Refresh()
	if err != nil {
		return c, err
	}
	if replaced {
		_ = w.conn.Raw(func(any) error { return driver.ErrBadConn }) // closes it for good
		_ = w.conn.Close()
		if w.conn, err = w.store.db.Conn(ctx); err != nil {
			return c, err
		}
		w.version = -1
	}
	version := w.version
	if err := w.conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
		return c, repairable(err)
	}
	c.Any = version != w.version
	if c.Any {
		err = w.read(ctx, &c, w.version < 0)
	}
	if err == nil {
		w.version = version
		w.bury(&c)
	}
	c.Stored = len(w.known)
	return c, err
}

// read compares the store with the known state. all: every run, not only those that indices
// tell of.
func (w *Watch) read(ctx context.Context, c *Changes, all bool) error {
	if all {
		if err := w.readAll(ctx, c); err != nil {
			return err
		}
		return w.readExperiments(ctx, c)
	}
	if err := w.readRuns(ctx, c, "rowid > ?", w.row); err != nil {
		return err
	}
	if err := w.readRuns(ctx, c, "labelled_ns > ? AND labelled_ns > 0", w.label); err != nil {
		return err
	}
	lively, err := json.Marshal(w.lively())
	if err != nil {
		return err
	}
	if err := w.readRuns(ctx, c, "id IN (SELECT value FROM json_each(?))", string(lively)); err != nil {
		return err
	}
	whole, err := w.isComplete(ctx)
	if err == nil && !whole {
		err = w.readAll(ctx, c)
	}
	if err == nil {
		err = w.readLast(ctx)
	}
	if err != nil {
		return err
	}
	return w.readExperiments(ctx, c)
}

// isComplete reports whether no run is gone, as far as numbers tell.
func (w *Watch) isComplete(ctx context.Context) (bool, error) {
	var stored int
	var same bool
	err := w.conn.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM run), EXISTS (SELECT 1 FROM run WHERE rowid = ? AND id = ?)", w.row, w.last).Scan(&stored, &same)
	return stored == len(w.known) && (same || w.row == 0), repairable(err)
}

// lively are the runs that may change by themselves: those that run, and those that ended a short
// time ago, before their verdict and figures are stored.
func (w *Watch) lively() []string {
	const short = 5 * time.Minute
	out := []string{}
	for id, r := range w.known {
		if r.status == trace.Running || time.Since(r.ended) < short {
			out = append(out, id)
		}
	}
	return out
}

// readAll reads all runs, and says which are gone.
func (w *Watch) readAll(ctx context.Context, c *Changes) error {
	before := maps.Clone(w.known)
	if err := w.each(ctx, "TRUE", nil, func(id string, r watched, label int64) {
		w.compare(c, id, r)
		w.label = max(w.label, label)
		delete(before, id)
	}); err != nil {
		return err
	}
	for id := range before {
		delete(w.known, id)
		c.Removed = append(c.Removed, id)
	}
	slices.Sort(c.Removed)
	return w.readLast(ctx)
}

// readLast notes the last row.
func (w *Watch) readLast(ctx context.Context) error {
	w.row, w.last = 0, ""
	err := w.conn.QueryRowContext(ctx, "SELECT rowid, id FROM run ORDER BY rowid DESC LIMIT 1").Scan(&w.row, &w.last)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return repairable(err)
}

// readRuns reads the runs that match a condition.
func (w *Watch) readRuns(ctx context.Context, c *Changes, condition string, arg any) error {
	return w.each(ctx, condition, arg, func(id string, r watched, label int64) {
		if !w.compare(c, id, r) && label > w.label {
			c.Changed = append(c.Changed, id)
		}
		w.label = max(w.label, label)
	})
}

func (w *Watch) each(ctx context.Context, condition string, arg any, do func(id string, r watched, label int64)) error {
	args := []any{arg}
	if arg == nil {
		args = nil
	}
	rows, err := w.conn.QueryContext(ctx, `SELECT id, status, validity, beat_ns, labelled_ns,
		EXISTS (SELECT 1 FROM computed WHERE run_id = id) FROM run WHERE `+condition, args...)
	if err != nil {
		return repairable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var r watched
		var label int64
		if err := rows.Scan(&id, &r.status, &r.validity, &r.beat, &label, &r.computed); err != nil {
			return fmt.Errorf("watch run %s: %w", id, err)
		}
		do(id, r, label)
	}
	return repairable(rows.Err())
}

// compare stores the state of a run, and reports whether it changed.
func (w *Watch) compare(c *Changes, id string, r watched) bool {
	old, known := w.known[id]
	r.ended, r.killed = old.ended, old.killed
	if known && old.status == trace.Running && r.status != trace.Running {
		r.ended = time.Now()
	}
	if r.beat != old.beat {
		r.killed = false
	}
	w.known[id] = r
	switch {
	case !known:
		c.Added = append(c.Added, id)
	case old.status != r.status, old.validity != r.validity, old.computed != r.computed && r.status != trace.Running, old.killed != r.killed:
		c.Changed = append(c.Changed, id)
	default:
		return false
	}
	return true
}

// bury finds the runs of silent processes: their status changes with time, without a commit.
func (w *Watch) bury(c *Changes) {
	for id, r := range w.known {
		if r.status == trace.Running && !r.killed && alive(r.status, r.beat) == Killed {
			r.killed = true
			w.known[id] = r
			if !slices.Contains(c.Added, id) {
				c.Changed = append(c.Changed, id)
			}
		}
	}
}

func (w *Watch) readExperiments(ctx context.Context, c *Changes) error {
	rows, err := w.conn.QueryContext(ctx, "SELECT name, beat_ns FROM experiment")
	if err != nil {
		return repairable(err)
	}
	defer rows.Close()
	now := map[string]int64{}
	for rows.Next() {
		var name string
		var beat int64
		if err := rows.Scan(&name, &beat); err != nil {
			return err
		}
		now[name] = beat
		if old, known := w.experiments[name]; w.experiments != nil && (!known || old != beat) {
			c.Experiments = append(c.Experiments, name)
		}
		delete(w.experiments, name)
	}
	for name := range w.experiments { // removed
		c.Experiments = append(c.Experiments, name)
	}
	w.experiments = now
	slices.Sort(c.Experiments)
	return repairable(rows.Err())
}

// A Pulse is how far a run has come.
type Pulse struct {
	Listing
	Last trace.Snapshot // At is trace.Never if there is none
}

// Pulse reads how far a run has come.
func (s *Store) Pulse(id string) (Pulse, error) {
	found, err := s.list("id = ?", id)
	if err != nil {
		return Pulse{}, err
	}
	if len(found) == 0 {
		return Pulse{}, fmt.Errorf("%w: %s", ErrNoRun, id)
	}
	p := Pulse{Listing: found[0], Last: trace.Snapshot{At: trace.Never}}
	err = s.db.QueryRow("SELECT at_ns, released, done, failed, tokens FROM snapshot WHERE run_id = ? ORDER BY at_ns DESC LIMIT 1", id).
		Scan(&p.Last.At, &p.Last.Released, &p.Last.Done, &p.Last.Failed, &p.Last.Tokens)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return p, repairable(err)
}

// Refresh follows the name of the store to another file, after `pitot runs repair` for example, or
// after it was removed and made anew. Queries under way end in the old one.
func (s *Store) Refresh() (replaced bool, err error) {
	s.follow.Lock()
	defer s.follow.Unlock()
	if time.Since(s.follow.replaced) < time.Minute {
		s.forget() // queries that were under way have given theirs back
	}
	if s.follow.mark == nil {
		s.follow.mark = &s.mark
	}
	if s.follow.mark.Check() == nil {
		return false, nil
	}
	mark, err := files.NewMark(s.file)
	if err != nil {
		return false, fmt.Errorf("store %s: %w", s.file, err)
	}
	s.forget()
	if err := s.current(); err != nil {
		return false, fmt.Errorf("open store %s: %w", s.file, err)
	}
	s.follow.mark, s.follow.replaced = &mark, time.Now()
	return true, nil
}

// forget closes the unused connections.
func (s *Store) forget() {
	const few = 2 // database/sql's own number
	s.db.SetMaxIdleConns(0)
	s.db.SetMaxIdleConns(few)
}
