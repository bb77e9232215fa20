package ingest

import (
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// Limits of a note that is stored, in bytes.
const (
	mostNote     = 256 << 10
	mostNoteLine = 4 << 10
)

// Lines of a long note that are stored: above a table, and from there or from the beginning on.
const (
	noteAbove = 30
	noteTable = 90
)

// Note is the text of a source as it is read here, numbered alike, without secrets. Of a text of more than 256 KiB
// it is what surrounds the tables that begin in some lines.
func Note(s result.Source, tables []int) (*trace.Note, error) {
	e := excerpt{left: mostNote}
	err := e.read(s, []span{{1, 1, math.MaxInt, mostNote}})
	if err == nil && e.note.Cut {
		e = excerpt{left: mostNote}
		err = e.read(s, around(tables))
	}
	return e.done(), err
}

// A span is lines of a text around a table, both ends included, of which so many bytes are stored.
type span struct{ first, table, last, bytes int }

// around are the spans of tables that begin in some lines, with the beginning of the text. They do not overlap.
func around(tables []int) (all []span) {
	tables = slices.Compact(slices.Sorted(slices.Values(append([]int{1}, tables...))))
	for i, n := range tables {
		s := span{n - noteAbove, n, n + noteTable - 1, mostNote / len(tables)}
		if i > 0 {
			s.first = max(s.first, all[i-1].last+1)
		}
		if i+1 < len(tables) {
			next := tables[i+1]
			s.last = min(s.last, next-1-min(noteAbove, (next-n)/4))
		}
		all = append(all, s)
	}
	return all
}

// An excerpt puts a note together.
type excerpt struct {
	note  trace.Note
	lines []string // of the last passage
	left  int      // bytes
}

// read adds the lines of some spans. Of those above a table it is the last ones, in a quarter of the bytes of the span.
func (e *excerpt) read(s result.Source, spans []span) error {
	var above []string
	left := spans[0].bytes
	for l, err := range lines(decoded(s)) {
		if err != nil {
			return err
		}
		if len(spans) > 0 && l.n > spans[0].last {
			if spans, above = spans[1:], nil; len(spans) > 0 {
				left = spans[0].bytes
			}
		}
		if len(spans) == 0 || e.note.Cut {
			e.note.Cut = true
			return nil
		}
		if l.n < spans[0].first {
			continue
		}
		text := noteLine(l.text)
		if l.n < spans[0].table {
			above = append(above, text)
			continue
		}
		above = lastOf(above, left/4)
		for i, text := range above {
			left -= len(text) + 1
			e.add(l.n-len(above)+i, text)
		}
		above = nil
		if left -= len(text) + 1; left >= 0 {
			e.add(l.n, text)
			continue
		}
		spans[0].first = spans[0].last + 1 // the rest is too much
		e.note.Cut = spans[0].last == math.MaxInt
	}
	return nil
}

// lastOf are the last lines that fit into so many bytes.
func lastOf(lines []string, most int) []string {
	i := len(lines)
	for i > 0 && most > len(lines[i-1]) {
		i--
		most -= len(lines[i]) + 1
	}
	return lines[i:]
}

// add adds a line, unless it is too much.
func (e *excerpt) add(n int, text string) {
	if e.left -= len(text) + 1; e.left < 0 {
		e.note.Cut = true
		return
	}
	if k := len(e.note.Passages); k == 0 || e.note.Passages[k-1].Line+len(e.lines) != n {
		e.close()
		e.note.Passages = append(e.note.Passages, trace.Passage{Line: n})
	}
	e.lines = append(e.lines, text)
}

func (e *excerpt) close() {
	if k := len(e.note.Passages); k > 0 {
		e.note.Passages[k-1].Text = strings.Join(e.lines, "\n")
	}
	e.lines = nil
}

// done is the note, nil without text.
func (e *excerpt) done() *trace.Note {
	if e.close(); e.note.Passages == nil {
		return nil
	}
	_, e.note.ID = e.note.Body()
	return &e.note
}

// noteLine is a line without secrets, cut where it is too long. What is not looked at might be the end of a secret: of
// the rest it is the first half.
func noteLine(text string) string {
	most := mostNoteLine
	if len(text) > 2*most {
		text = secret.Mask(strings.ToValidUTF8(text[:2*most], ""))
		most = min(most, len(text)/2)
	} else {
		text = secret.Mask(text)
	}
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

// readNote is the note of an export, which anybody may have written, by the same rules.
func readNote(n *trace.Note) *trace.Note {
	e := excerpt{left: mostNote}
	at := 1
	for _, p := range n.Passages {
		if at = max(at, p.Line); at > math.MaxInt32 {
			break
		}
		for text := range strings.SplitSeq(p.Text, "\n") {
			e.add(at, noteLine(shown(strings.ToValidUTF8(text, "\uFFFD"))))
			at++
		}
	}
	e.note.Cut = e.note.Cut || n.Cut
	return e.done()
}
