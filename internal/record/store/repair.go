package store

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// A Health is what a store has, and what of it cannot be read.
type Health struct {
	Runs, Records int
	Samples       int // of the telemetry of all runs
	Damage        []*Damage
	DamagedFile   string // the file with the damage, of a store that was repaired
}

// String lists the damage.
func (h Health) String() string {
	text := fmt.Sprintf("%d runs, %d records", h.Runs, h.Records)
	if h.Samples > 0 {
		text += fmt.Sprintf(", %d samples", h.Samples)
	}
	for _, d := range h.Damage {
		text += "\n" + d.Error()
	}
	if len(h.Damage) == 0 {
		text += ": no damage"
	}
	if h.DamagedFile != "" {
		text += "\nrepaired; the damaged store is " + h.DamagedFile
	}
	return text
}

// Err is an error if there is damage.
func (h Health) Err() error {
	if len(h.Damage) == 0 {
		return nil
	}
	return errors.New("the store is damaged; `pitot runs repair` saves what can be read")
}

// A Verify returns an error if the stored figures of a run differ from those of its records.
type Verify func(*Store, *trace.Trace) error

// Check reads everything; verify may be nil.
func (s *Store) Check(verify Verify) (h Health, err error) {
	if h.Damage, err = s.structure(); err != nil {
		return h, err
	}
	for _, id := range s.ids() {
		if err := s.check(id, verify, &h); err != nil {
			return h, err
		}
	}
	h.Damage = slices.Concat(h.Damage, s.checkBodies(), s.checkNotes())
	return h, nil
}

// check reads a run, be there no more of it than a record.
func (s *Store) check(id string, verify Verify, h *Health) error {
	run, err := s.Run(id)
	if errors.Is(err, ErrNoRun) {
		if !slices.Contains(s.ids(), id) {
			return nil // another process has removed it
		}
		err = errors.New("its line in the list is lost")
	}
	h.Runs++
	damaged := len(h.Damage)
	if err != nil {
		h.Damage = append(h.Damage, &Damage{Run: id, First: -1, Last: -1, Why: reason(err)})
	}
	records, lost, changed, err := s.readAll(id)
	if err != nil {
		return err
	}
	set, unread, err := s.readTelemetry(id)
	if err != nil {
		return err
	}
	h.Records, h.Samples = h.Records+len(records), h.Samples+set.Points()
	h.Damage = slices.Concat(h.Damage, lost, changed, unread)
	if verify == nil || len(h.Damage) > damaged {
		return nil
	}
	if err := verify(s, &trace.Trace{Run: run, Records: records, Telemetry: set}); err != nil {
		h.Damage = append(h.Damage, &Damage{Run: id, First: -1, Last: -1, Why: err})
	}
	return nil
}

// checkBodies finds experiments and searches with damaged descriptions.
func (s *Store) checkBodies() (found []*Damage) {
	experiments, err := s.Experiments()
	searches, errSearches := s.Searches()
	for _, err := range []error{err, errSearches} {
		if err != nil {
			found = append(found, &Damage{Why: reason(err)})
		}
	}
	for _, e := range experiments {
		if !json.Valid(e.Body) {
			found = append(found, &Damage{Why: fmt.Errorf("the description of experiment %q is no JSON", e.Name)})
		}
	}
	for _, x := range searches {
		if !json.Valid(x.Body) {
			found = append(found, &Damage{Why: fmt.Errorf("the description of search %q is no JSON", x.Name)})
		}
	}
	return found
}

// reason is the cause of a Damage, or else the error itself.
func reason(err error) error {
	var d *Damage
	if errors.As(err, &d) {
		return d.Why
	}
	return err
}

// structure lets SQLite look for damage of its own structures, and returns the first.
func (s *Store) structure() ([]*Damage, error) {
	var found string
	err := s.db.QueryRow("PRAGMA quick_check(1)").Scan(&found)
	switch {
	case damaged(err):
		return []*Damage{{Why: err}}, nil
	case err == nil && found != "ok":
		return []*Damage{{Why: errors.New(found)}}, nil
	}
	return nil, err
}

// ids are the runs that any table knows of and can be read of it.
func (s *Store) ids() (out []string) {
	known := map[string]bool{}
	for _, query := range []string{
		"SELECT id FROM run ORDER BY rowid", "SELECT id FROM run ORDER BY id", "SELECT run_id FROM run_body",
		"SELECT DISTINCT run_id FROM record", "SELECT DISTINCT run_id FROM block", "SELECT DISTINCT run_id FROM snapshot", "SELECT DISTINCT run_id FROM computed",
		"SELECT DISTINCT run_id FROM telemetry_source", "SELECT DISTINCT run_id FROM telemetry_series",
		"SELECT DISTINCT run_id FROM telemetry_block",
	} {
		for _, id := range s.strings(query) {
			if !known[id] {
				out = append(out, id)
			}
			known[id] = true
		}
	}
	return out
}

// strings reads a column as far as that goes.
func (s *Store) strings(query string, args ...any) (out []string) {
	rows, err := s.db.Query(query, args...)
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if rows.Scan(&text) == nil {
			out = append(out, text)
		}
	}
	_ = rows.Err() // what follows cannot be read
	return out
}

// Repair copies all that can be read of a damaged store into a new one, which takes its
// place; figures are computed again. It returns what was found.
func Repair(file string, verify Verify) (Health, error) {
	if !files.Exists(file) {
		return Health{}, fmt.Errorf("repair store %s: no such file", file)
	}
	s, lost, err := openToRepair(file)
	if err != nil {
		return Health{}, err
	}
	defer s.Close()
	h, err := s.Check(verify)
	if lost != nil {
		h.Damage = append([]*Damage{{Why: fmt.Errorf("it has lost its %s", nameFirst(lost.missing))}}, h.Damage...)
	}
	if err != nil || len(h.Damage) == 0 {
		return h, err
	}
	if err := s.quiet(); err != nil {
		return h, err
	}
	fresh := file + ".repaired"
	if err := errors.Join(removeAll(fresh), s.copyTo(fresh), s.Close()); err != nil {
		return h, errors.Join(fmt.Errorf("repair store %s: %w", file, err), removeAll(fresh))
	}
	h.DamagedFile = file + ".damaged-" + time.Now().Format("20060102-150405")
	return h, exchange(file, fresh, h.DamagedFile)
}

// openToRepair opens a store. Tables that it has lost are made again, empty.
func openToRepair(file string) (s *Store, lost *MissingError, err error) {
	s, err = openBy(file, func(s *Store) error {
		_, err := s.version()
		if errors.As(err, &lost) {
			err = s.restore(lost)
		}
		return cmp.Or(err, s.migrate())
	})
	if err == nil {
		if err = s.tryWrite(); err != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return s, lost, err
}

// exchange gives a database another name, and its own to a fresh one.
func exchange(file, fresh, old string) error {
	var errs []error
	for i, name := range sidecarFiles(file) {
		if files.Exists(name) {
			errs = append(errs, files.Rename(name, sidecarFiles(old)[i]))
		}
	}
	return errors.Join(append(errs, files.Rename(file, old), files.Rename(fresh, file))...)
}

// removeAll removes a database.
func removeAll(file string) error {
	var errs []error
	for _, name := range append(sidecarFiles(file), file) {
		errs = append(errs, files.Remove(name))
	}
	return errors.Join(errs...)
}

// quiet rejects a store to which a run is being written.
func (s *Store) quiet() error {
	return s.change(patient, func(tx *sql.Tx) error {
		err := live(tx)
		if damaged(err) {
			return nil // it would have been seen
		}
		return err
	})
}

// copyTo copies all that can be read.
func (s *Store) copyTo(file string) error {
	out, err := Open(file)
	if err != nil {
		return err
	}
	if key, unread := storedKey(s.db.QueryRow(readKey)); unread == nil {
		if err := out.change(patient, func(tx *sql.Tx) error { return addKey(tx, key) }); err != nil {
			return errors.Join(err, out.Close())
		}
	}
	for _, id := range s.ids() {
		if err := s.copyRun(out, id); err != nil {
			return errors.Join(fmt.Errorf("run %s: %w", id, err), out.Close())
		}
	}
	experiments, _ := s.Experiments() // as far as they can be read
	for _, e := range slices.Backward(experiments) {
		if !json.Valid(e.Body) {
			continue
		}
		if err := out.CreateExperiment(e); err != nil {
			return errors.Join(err, out.Close())
		}
	}
	searches, _ := s.Searches()
	for _, x := range slices.Backward(searches) {
		if !json.Valid(x.Body) {
			continue
		}
		if err := out.storeSearch(x, x.Status); err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return out.Close()
}

func (s *Store) copyRun(out *Store, id string) error {
	t, err := s.Complete(s.Load(id))
	if err != nil {
		if t, err = s.rebuild(id); err != nil || t == nil {
			return err
		}
	}
	err = out.insert(t.Run)
	if err == nil {
		w := Writer{store: out, id: id}
		err = cmp.Or(w.write(t.Records, patient), out.storeTelemetry(id, t.Telemetry), out.attach(t.Run), out.Update(t.Run))
	}
	progress, _ := s.Snapshots(id, trace.Never, math.MaxInt) // as far as it can be read
	err = cmp.Or(err, out.change(patient, func(tx *sql.Tx) error {
		var errs []error
		for _, p := range progress {
			errs = append(errs, out.addSnapshot(tx, id, p))
		}
		return errors.Join(errs...)
	}))
	out.seal(id, patient)
	return err
}

// run is what a list has of a run, with the end of its last record.
func (l Listing) run(records []*trace.Record) trace.Run {
	run := trace.Run{
		ID: l.ID, Name: l.Name, Kind: cmp.Or(l.Kind, trace.Measured), Status: l.Status,
		Started: l.Started, End: trace.Never, Plan: l.Plan(), Leg: l.Leg,
	}
	if !l.IsZero() {
		run.Labels = &l.Labels
	}
	for _, r := range records {
		run.End = max(run.End, r.Done)
	}
	return run
}

// rebuild makes a run with a damaged body from its columns for lists, its records and its
// telemetry; nil if there are none of these.
func (s *Store) rebuild(id string) (*trace.Trace, error) {
	records, lost, _, err := s.readAll(id)
	if err != nil {
		return nil, err
	}
	set, unread, err := s.readTelemetry(id)
	if err != nil {
		return nil, err
	}
	l := Listing{ID: id, Status: trace.Interrupted}
	if len(records) == 0 && set == nil && !s.lists(id) {
		return nil, nil
	}
	if listed, err := s.list("id = ?", id); err == nil && len(listed) == 1 {
		l = listed[0]
	}
	t := &trace.Trace{Records: records, Telemetry: set}
	body := s.strings("SELECT body FROM run_body WHERE run_id = ?", id)
	if len(body) == 0 || decode(body[0], &t.Run) != nil || t.Run.ID != id {
		t.Run = l.run(records)
	}
	t.Run.Notes = append(t.Run.Notes, plan.Msg(rebuilt))
	note(&t.Run, lost, unread)
	return t, nil
}
