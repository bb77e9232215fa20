package live

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
)

// A row is a line of a view: pieces, or a name with values and maybe a course.
type row struct {
	keep   int // priority: where there is no room, rows with the lowest are left out
	name   string
	pieces []Piece
	apart  bool // pieces without room are left out, not cut
	course []*float64
	most   func(v float64) string // writes the largest value of the course
}

// A view is a drawing of a state.
type view struct {
	Page
	rows []row
}

// Widths, in columns.
const (
	comfortable = 50 // enough for three percentiles
	leastBar    = 10
	mostBar     = 60
	minSpark    = 8
	maxSpark    = kept
	peakWidth   = 11 // the largest value of the last minute
)

// lines are the lines of a view, none wider than the paper, and no more than it has rows.
func (s runState) lines(p Paper) []string {
	v := &view{Page: Page{Paper: p}}
	v.head(s)
	v.bar(s)
	v.load(s)
	v.latencies(s)
	v.failures(s)
	v.client(s)
	v.servers(s.server)
	return v.fitted()
}

func (v *view) add(keep int, name string, pieces ...Piece) {
	v.rows = append(v.rows, row{keep: keep, name: name, pieces: pieces})
}

// word is a word in the language of the paper.
func (v *view) word(code plan.Code, args ...any) string { return v.Lang.Word(code, args...) }

// head shows model, target and load, with the id at the right.
func (v *view) head(s runState) {
	id := v.Cut(plain.Line(s.id), v.Columns/2)
	room := v.Columns - doc.Width(id) - 2
	model := v.Cut(plain.Line(s.model), room)
	target := ""
	if left := room - doc.Width(model) - 2; left > 0 && s.target != "" {
		target = "  " + v.Cut(plain.Line(s.target), left)
	}
	blanks := strings.Repeat(" ", max(2, v.Columns-doc.Width(model+target+id)))
	v.add(4, "", In(plain.Bold, model), In("", target), In(plain.Dim, blanks+id))
	v.add(3, "", In(plain.Dim, s.load))
}

func (v *view) bar(s runState) {
	done := s.progress()
	if s.Until > 0 && !s.over() {
		done = v.word("progress.done", "done", s.done)
	}
	parts := []string{done, fmt.Sprintf("%.0f %%", math.Floor(100*s.share())), v.word("progress.elapsed", "time", s.elapsed.Round(time.Second))}
	if left, known := s.left(); known {
		parts = append(parts, v.word("progress.left", "time", left.Round(time.Second)))
	}
	text := strings.Join(parts, "  ")
	bar := ""
	if room := min(v.Columns-doc.Width(text)-2, mostBar); room >= leastBar {
		bar = v.Bar(s.share(), room) + "  "
	}
	v.add(20, "", In(plain.Green, bar), In("", text))
	if s.whole != "" {
		v.add(16, "", In("", s.whole))
	}
	switch {
	case s.ending:
		v.add(19, "", In(plain.Red, v.word("progress.stopping", "requests", s.inFlight)))
	case s.over():
		v.add(19, "", In(plain.Dim, v.word("progress.all-sent", "requests", s.inFlight)))
	}
	if s.mark != "" {
		v.add(18, "", In(plain.Red, s.mark))
	}
}

func (v *view) load(s runState) {
	flight := strconv.Itoa(s.inFlight)
	if s.Gate > 0 {
		flight = v.word("progress.of", "requests", s.inFlight, "most", s.Gate)
	}
	if s.waiting >= 0 {
		flight += "  " + v.word("progress.waiting", "requests", s.waiting)
	}
	rate := func(f float64) string { return Short(&f) }
	add := func(keep int, code plan.Code, value string, of func(*second) *float64) {
		v.rows = append(v.rows, row{keep: keep, name: v.word(code), pieces: []Piece{In("", value)}, course: s.past(of), most: rate})
	}
	add(17, "progress.in-flight", flight, func(s *second) *float64 { return &s.inFlight })
	add(13, "progress.requests", rate(s.requests), func(s *second) *float64 { return &s.requests })
	if s.outputs > 0 || s.tokens > 0 {
		add(14, "progress.output", rate(s.outputs), func(s *second) *float64 { return &s.tokens })
	}
}

// past is the course of a quantity over the last minute.
func (s runState) past(of func(*second) *float64) []*float64 {
	all := make([]*float64, len(s.seconds))
	for i := range s.seconds {
		all[i] = of(&s.seconds[i])
	}
	return all
}

// latencies shows percentiles of the finished requests.
func (v *view) latencies(s runState) {
	add := func(keep int, name string, of percentiles, course []*float64) {
		pieces := []Piece{In(plain.Dim, Unknown)}
		if of != nil {
			pieces = nil
			for i, p := range shown {
				if v.Columns < comfortable && i > 0 && i < len(shown)-1 {
					continue
				}
				pieces = append(pieces, In(plain.Dim, fmt.Sprintf("p%.0f ", p)), In("", doc.PadRight(short(of[i]), 5)+"  "))
			}
		}
		v.rows = append(v.rows, row{keep: keep, name: name + " ms", pieces: pieces, course: course, most: func(f float64) string { return short(int64(f * 1e6)) }})
	}
	if s.stream {
		add(15, "TTFT", s.ttft, s.past(func(s *second) *float64 { return s.ttft }))
		add(9, "ITL", s.itl, nil)
	}
	add(10, "E2EL", s.e2el, nil)
}

// failures shows their number by kind.
func (v *view) failures(s runState) {
	if s.failed == 0 {
		v.add(8, v.word("progress.failed"), In(plain.Dim, "0"))
		return
	}
	var kinds []string
	for _, f := range s.failures {
		kinds = append(kinds, f.text(v.Lang))
	}
	v.add(16, v.word("progress.failed"), In(plain.Red, strconv.Itoa(s.failed)+"  "+v.Lang.Join("comma", kinds...)))
}

// client shows the health of the client, and the doubts so far.
func (v *view) client(s runState) {
	keep, verdict := 7, In(plain.Green, v.word("progress.no-doubts")+"  ")
	if len(s.doubts) > 0 {
		keep, verdict = 11, In(plain.Red, v.word("progress.doubts", "doubts", len(s.doubts))+"  ")
	}
	pieces := []Piece{verdict, In("", v.word("progress.cpu", "share", s.busy, "processors", s.cpus)+"  ")}
	if s.timed {
		pieces = append(pieces, In("", v.word("progress.late", "p99", s.late)))
	}
	v.rows = append(v.rows, row{keep: keep, name: v.word("progress.client"), pieces: pieces, apart: true})
	for _, d := range s.doubts[:min(len(s.doubts), 2)] {
		v.add(12, "", In(plain.Red, "  "+v.Lang.Say(d)))
	}
}

// servers shows the newest samples of servers and devices.
func (v *view) servers(l resources.Live) {
	for _, s := range l.Servers[:min(len(l.Servers), 2)] {
		name := v.word("progress.server")
		if len(l.Servers) > 1 {
			name = v.Cut(plain.Line(s.Source), 20)
		}
		var pieces []Piece
		for _, q := range []struct {
			code plan.Code
			text string
		}{
			{"watch.running", Count(s.Running)},
			{"watch.waiting", Count(s.Waiting)},
			{"watch.kv", Percent(s.KVUse)},
			{"watch.hits", Percent(s.CacheHits)},
			{"watch.preemptions", Count(s.Preemptions)},
		} {
			if q.text != Unknown {
				pieces = append(pieces, In("", v.word(q.code)+" "+q.text+"  "))
			}
		}
		if pieces != nil {
			v.rows = append(v.rows, row{keep: 6, name: name, pieces: pieces, apart: true})
		}
	}
	if len(l.Devices) > 0 {
		v.add(5, "", In("", Devices(l.Devices, v.Lang)))
	}
}

// fitted draws the rows that have room, in columns: name, value, course.
func (v *view) fitted() []string {
	for len(v.rows) > max(1, v.Rows) {
		least := slices.MinFunc(v.rows, func(a, b row) int { return a.keep - b.keep }).keep
		last := len(v.rows) - 1
		for v.rows[last].keep != least {
			last--
		}
		v.rows = slices.Delete(v.rows, last, last+1)
	}
	names, values := 0, 0
	for _, r := range v.rows {
		names = max(names, doc.Width(r.name))
		if r.course != nil {
			values = max(values, width(r.pieces))
		}
	}
	for _, r := range v.rows {
		v.row(r, names, values)
	}
	return v.Lines
}

func width(pieces []Piece) (columns int) {
	for _, p := range pieces {
		columns += doc.Width(p.Text)
	}
	return columns
}

func (v *view) row(r row, names, values int) {
	if r.name == "" {
		v.Line(r.pieces...)
		return
	}
	for n := len(r.pieces); r.apart && n > 1 && names+2+width(r.pieces)-2 > v.Columns; n-- {
		r.pieces = r.pieces[:n-1]
	}
	pieces := append([]Piece{In(plain.Dim, doc.PadRight(r.name, names)+"  ")}, r.pieces...)
	room := v.Columns - names - 2 - values - 2
	if room >= minSpark && len(r.course) > 0 {
		peak := room >= 2*minSpark+peakWidth
		if peak {
			room -= peakWidth
		}
		room = min(room, maxSpark)
		gap := strings.Repeat(" ", values-width(r.pieces)+2)
		pieces = append(pieces, In(plain.Green, gap+doc.PadLeft(v.Spark(r.course, room, 0), room)))
		if most := Largest(r.course); peak && most != nil && *most > 0 {
			pieces = append(pieces, In(plain.Dim, "  "+v.word("watch.most", "most", r.most(*most))))
		}
	}
	v.Line(pieces...)
}
