package store

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/record/telemetry"
)

// A telemetryReader puts the telemetry of a run together.
type telemetryReader struct {
	store  *Store
	id     string
	series map[int]*telemetry.Series // by their numbers in blocks
	points int
	lost   []*Damage
}

// readTelemetry reads the telemetry of a run, nil if there is none, and returns the damage that it
// skipped.
func (s *Store) readTelemetry(id string) (set *telemetry.Set, lost []*Damage, err error) {
	set, _, lost, err = s.telemetryFrom(id, 0)
	return set, lost, err
}

// TelemetrySince reads the samples of a run in its blocks after number since, with the current
// state of all its sources; nil if there are neither. next is the number of the last block, for the
// next call; 0 is the beginning. So a run can be followed while another process writes it. At the
// end of a run its blocks are merged and get new numbers, and all samples are returned again;
// Set.Extend adds only the new ones. Damaged blocks are passed over.
func (s *Store) TelemetrySince(id string, since int) (set *telemetry.Set, next int, err error) {
	set, next, _, err = s.telemetryFrom(id, since)
	if err != nil {
		return nil, since, fmt.Errorf("read run %s: %w", id, err)
	}
	return set, next, nil
}

// telemetryFrom reads the blocks after a number, and returns the number of the last one.
func (s *Store) telemetryFrom(id string, since int) (set *telemetry.Set, next int, lost []*Damage, err error) {
	r := telemetryReader{store: s, id: id, series: map[int]*telemetry.Series{}}
	if next, err = r.blocks(since); err != nil {
		return nil, since, nil, err
	}
	set = &telemetry.Set{}
	if err := errors.Join(r.names(set), r.sources(set)); err != nil {
		return nil, since, nil, err
	}
	if set.Empty() {
		set = nil
	}
	return set, next, r.lost, nil
}

// pass notes what cannot be read.
func (r *telemetryReader) pass(what string, why error) {
	r.lost = append(r.lost, &Damage{Run: r.id, First: -1, Last: -1, Telemetry: what, Why: why})
}

// blocks reads blocks in the order of their numbers, and passes over those that cannot be read.
func (r *telemetryReader) blocks(since int) (last int, err error) {
	for last = since; ; {
		if last, err = r.blocksFrom(last); err == nil || !damaged(err) {
			return last, err
		}
		next := sql.Null[int]{} // the one that is damaged; the index knows it
		behind := r.store.db.QueryRow("SELECT min(seq) FROM telemetry_block WHERE run_id = ? AND seq > ?", r.id, last).Scan(&next)
		if behind != nil || !next.Valid {
			r.pass("all after block "+fmt.Sprint(last), err)
			return last, nil
		}
		r.pass("block "+fmt.Sprint(next.V), err)
		last = next.V
	}
}

// blocksFrom reads blocks until one cannot be read.
func (r *telemetryReader) blocksFrom(last int) (int, error) {
	rows, err := r.store.db.Query("SELECT seq, source, from_ns, to_ns, points, data FROM telemetry_block WHERE run_id = ? AND seq > ? ORDER BY seq", r.id, last)
	if err != nil {
		return last, err
	}
	defer rows.Close()
	for rows.Next() {
		var b block
		var from, to int64
		err := rows.Scan(&last, &b.source, &from, &to, &b.Points, &b.Data)
		b.From, b.To = time.Duration(from), time.Duration(to)
		if err == nil {
			err = r.block(b)
		}
		if err != nil {
			r.pass(fmt.Sprintf("%s from %.3f s to %.3f s", b.source, b.From.Seconds(), b.To.Seconds()), err)
		}
	}
	return last, rows.Err()
}

// block adds the points of a block.
func (r *telemetryReader) block(b block) error {
	if r.points+b.Points > telemetry.MostPoints {
		return telemetry.ErrTooMany
	}
	columns, err := telemetry.DecodeBlock(b.Data)
	if err != nil {
		return err
	}
	n := 0
	for _, c := range columns {
		one := r.series[c.Series]
		if one == nil {
			one = &telemetry.Series{}
			r.series[c.Series] = one
		}
		one.Append(c.Points)
		n += len(c.Points)
	}
	if r.points += n; n != b.Points {
		return fmt.Errorf("it has %d points and not %d", n, b.Points)
	}
	return nil
}

// names moves the series that have points to a set.
func (r *telemetryReader) names(set *telemetry.Set) error {
	rows, err := r.store.db.Query("SELECT idx, source, name, labels, unit, kind FROM telemetry_series WHERE run_id = ? ORDER BY idx", r.id)
	for err == nil && rows.Next() {
		var idx int
		var one telemetry.Series
		var labels []byte
		err := rows.Scan(&idx, &one.Source, &one.Name, &labels, &one.Unit, &one.Kind)
		if err == nil && len(labels) > 0 {
			err = json.Unmarshal(labels, &one.Labels)
		}
		found := r.series[idx]
		delete(r.series, idx)
		switch {
		case err != nil:
			r.pass(fmt.Sprint("series ", idx), err)
		case found != nil:
			one.Points = found.Points
			set.Extend(&one)
		}
	}
	if err == nil {
		err = errors.Join(rows.Err(), rows.Close())
	}
	if err != nil && !damaged(err) {
		return err
	}
	if n := len(r.series); n > 0 {
		r.pass(fmt.Sprint(n, " series"), cmp.Or(err, errors.New("their names are missing")))
	}
	return nil
}

// sources reads the sources.
func (r *telemetryReader) sources(set *telemetry.Set) error {
	rows, err := r.store.db.Query("SELECT idx, body FROM telemetry_source WHERE run_id = ? ORDER BY idx", r.id)
	for err == nil && rows.Next() {
		var idx int
		var body []byte
		var one telemetry.Source
		err := rows.Scan(&idx, &body)
		if err == nil {
			err = json.Unmarshal(body, &one)
		}
		if err != nil {
			r.pass(fmt.Sprint("source ", idx), err)
			continue
		}
		set.Sources = append(set.Sources, one)
	}
	if err == nil {
		err = errors.Join(rows.Err(), rows.Close())
	}
	if damaged(err) {
		r.pass("its sources", err)
		err = nil
	}
	return err
}
