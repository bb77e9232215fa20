package store

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// batch is how many records are passed on at once, and how many rows are read.
const batch = 1000

// mostRead is how many records a merge has read and not passed on.
const mostRead = 32 * trace.BlockRecords

// A merge puts the records of a run into workload order. Blocks are in the order of their commits, in which a long
// request comes late: those that overlap are open at the same time. Where too many do, only records up to some index
// stay in memory, and the others are read again.
type merge struct {
	store   *Store
	id      string
	limit   int       // the largest index, as far as is known
	waiting []extent  // by their smallest index
	open    []*source // have records that were not passed on
	read    int       // how many of them are in memory
	before  int       // the index before which they are
	lost    []*Damage
	changed []*Damage // entries of the directory that are wrong
}

// A source is a block, or all rows of a run of version 13 and before.
type source struct {
	block   *extent // nil: rows
	next    int     // the smallest index that it may have
	records []*trace.Record
	from    int  // the index from which on it was not read
	done    bool // there are no more than records
}

// merge begins to read a run.
func (s *Store) merge(id string) (*merge, error) {
	m := &merge{store: s, id: id, limit: s.extent(id), before: math.MaxInt}
	var err error
	if m.waiting, err = s.extents(id, 0); err != nil {
		return nil, err
	}
	slices.SortStableFunc(m.waiting, func(a, b extent) int { return cmp.Compare(a.low, b.low) })
	m.open = []*source{{next: math.MinInt, from: math.MinInt}}
	return m, nil
}

// batch returns records in workload order, none at the end.
func (m *merge) batch() (out []*trace.Record, err error) {
	for len(out) < batch {
		m.open = slices.DeleteFunc(m.open, func(s *source) bool { return s.done && len(s.records) == 0 })
		s, end := m.first()
		if s == nil {
			break
		}
		if len(s.records) == 0 {
			if err := m.fill(s); err != nil {
				return out, err
			}
			continue
		}
		n := 1
		for n < len(s.records) && n < batch-len(out) && s.records[n].Index < end {
			n++
		}
		out = append(out, s.records[:n]...)
		m.read -= n
		s.records = s.records[n:]
		s.begin(s.from)
	}
	return out, nil
}

// begin sets the smallest index that a source may have: that of its first record, or else another.
func (s *source) begin(otherwise int) {
	if s.next = otherwise; len(s.records) > 0 {
		s.next = s.records[0].Index
	}
}

// first returns the open source with the smallest index, and an index before which no other has one. It opens blocks
// that begin before that.
func (m *merge) first() (first *source, end int) {
	for {
		first, end = nil, math.MaxInt
		for _, s := range m.open {
			if first == nil || s.next < first.next {
				s, first = first, s
			}
			if s != nil {
				end = min(end, s.next)
			}
		}
		if len(m.waiting) == 0 {
			return first, end
		}
		next := &m.waiting[0]
		if first != nil && first.next < next.low {
			return first, min(end, next.low)
		}
		m.open = append(m.open, &source{block: next, next: next.low, from: math.MinInt})
		m.waiting = m.waiting[1:]
	}
}

// fill reads records of the first source. What cannot be read is lost.
func (m *merge) fill(s *source) error {
	if s.block == nil {
		err := m.rows(s)
		m.read += len(s.records)
		return err
	}
	if s.next >= m.before {
		m.before = math.MaxInt // all before that were passed on
	}
	s.done = true
	records, err := m.store.block(m.id, *s.block, whole)
	if err != nil {
		m.lose(*s.block, err)
		return nil
	}
	slices.SortFunc(records, byIndex)
	if s.from == math.MinInt {
		m.compare(*s.block, records[0].Index, records[len(records)-1].Index)
	}
	s.records = records[place(records, s.from):]
	m.read += len(s.records)
	m.narrow(s)
	if m.read > mostRead {
		held := make([]int, 0, m.read)
		for _, one := range m.open {
			for _, r := range one.records {
				held = append(held, r.Index)
			}
		}
		slices.Sort(held)
		m.before = held[len(held)/2]
		for _, one := range m.open {
			m.narrow(one)
		}
	}
	return nil
}

// compare notes an entry of the directory that has other indices than the block.
func (m *merge) compare(e extent, low, high int) {
	if low != e.low || high != e.high {
		why := fmt.Errorf("its directory has records %d to %d where %d to %d are", e.low, e.high, low, high)
		m.changed = append(m.changed, &Damage{Run: m.id, First: -1, Last: -1, Why: why})
	}
}

// narrow drops the records of a block that are read again later.
func (m *merge) narrow(s *source) {
	if s.block == nil {
		return
	}
	n := place(s.records, m.before)
	if n < len(s.records) {
		m.read -= len(s.records) - n
		s.done, s.from = false, s.records[n].Index
		near := make([]*trace.Record, n) // copies: the others share memory
		for i := range near {
			one := *s.records[i]
			one.Chunks, one.Text, one.Marks = slices.Clone(one.Chunks), strings.Clone(one.Text), trace.Marks(strings.Clone(string(one.Marks)))
			near[i] = &one
		}
		s.records = near
	}
	s.begin(s.from)
}

// place is where an index stands among records, or would.
func place(all []*trace.Record, index int) int {
	at, _ := slices.BinarySearchFunc(all, index, func(r *trace.Record, index int) int { return cmp.Compare(r.Index, index) })
	return at
}

func byIndex(a, b *trace.Record) int { return cmp.Compare(a.Index, b.Index) }

// lose notes a block that cannot be read, with the indices of its records if its heads can.
func (m *merge) lose(e extent, why error) {
	records, err := m.store.block(m.id, e, heads)
	if err != nil {
		m.lost = append(m.lost, &Damage{Run: m.id, First: e.low, Last: e.high, Records: e.records, Why: why})
		return
	}
	slices.SortFunc(records, byIndex)
	for _, r := range records {
		m.lost = loseOne(m.lost, m.id, r.Index, why)
	}
}

// loseOne adds a record that cannot be read to others.
func loseOne(lost []*Damage, id string, index int, why error) []*Damage {
	if n := len(lost); n > 0 && lost[n-1].Records == 0 && lost[n-1].Last == index-1 && lost[n-1].Why.Error() == why.Error() {
		lost[n-1].Last = index
		return lost
	}
	return append(lost, &Damage{Run: id, First: index, Last: index, Why: why})
}

// rows reads the next rows.
func (m *merge) rows(s *source) error {
	n, err := m.someRows(s)
	switch {
	case damaged(err):
		index := max(s.from, 0)
		m.lost = loseOne(m.lost, m.id, index, err)
		s.from, s.done = index+1, index >= m.limit // there is nothing behind it, as far as is known
	case err != nil:
		return err
	default:
		s.done = n < batch || s.from == math.MinInt
	}
	s.begin(s.from)
	return nil
}

// someRows reads rows until one cannot be read.
func (m *merge) someRows(s *source) (n int, err error) {
	const from = " FROM record WHERE run_id = ? AND idx >= ? ORDER BY idx LIMIT ?"
	rows, err := m.store.db.Query("SELECT "+columns+", "+commitNumber+from, m.id, s.from, batch)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var d reader
	for ; rows.Next(); n++ {
		r, err := d.scan(rows)
		if err == nil {
			s.records = append(s.records, r)
		} else {
			m.lost = loseOne(m.lost, m.id, r.Index, err)
		}
		s.from = r.Index + 1
	}
	return n, rows.Err()
}

// EachRecord reads the records of a run in workload order, some at a time, however many there are.
// Damaged ones are left out.
func (s *Store) EachRecord(id string) iter.Seq2[[]*trace.Record, error] {
	return s.eachRecord(id, func(*merge) {})
}

// eachRecord is EachRecord, and calls end once all have been read.
func (s *Store) eachRecord(id string, end func(*merge)) iter.Seq2[[]*trace.Record, error] {
	return func(yield func([]*trace.Record, error) bool) {
		m, err := s.merge(id)
		for err == nil {
			var some []*trace.Record
			switch some, err = m.batch(); {
			case err != nil:
			case len(some) == 0:
				end(m)
				return
			case !yield(some, nil):
				return
			}
		}
		yield(nil, fmt.Errorf("read run %s: %w", id, err))
	}
}

// readRecords reads the records of a run in workload order, and returns the damage that it skipped, and what is not as
// it was stored.
func (s *Store) readRecords(id string) (out []*trace.Record, lost, changed []*Damage, err error) {
	m, err := s.merge(id)
	for err == nil {
		var some []*trace.Record
		if some, err = m.batch(); len(some) == 0 {
			break
		}
		out = append(out, some...)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if len(m.changed) > 0 {
		slices.SortFunc(out, byIndex)
	}
	for _, d := range m.lost {
		lost = append(lost, d.named(out)...)
	}
	slices.SortFunc(lost, func(a, b *Damage) int { return cmp.Compare(a.First, b.First) })
	return out, lost, m.changed, nil
}

// named names the records of a block that cannot be read, where it is known that no other record has an index among
// those of the block.
func (d *Damage) named(all []*trace.Record) (out []*Damage) {
	between := all[place(all, d.First):place(all, d.Last)]
	if d.Records == 0 || d.Last-d.First+1-len(between) != d.Records {
		return []*Damage{d}
	}
	index := d.First
	for _, r := range append(between[:len(between):len(between)], trace.NewRecord(d.Last+1)) {
		for ; index < r.Index; index++ {
			out = loseOne(out, d.Run, index, d.Why)
		}
		index = r.Index + 1
	}
	return out
}
