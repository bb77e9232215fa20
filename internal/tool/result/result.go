// Package result reads the result files of other tools, JSON of any size.
//
//	file ──> objects ──Format of a tool──> Draft ──> Found: a run with its Origin, and
//	                                                 its records if they are there
//
// A Format knows the objects of its tool, and takes figures, settings and what was asked
// for out of them. What tools have in common is here: columns with an item for each
// request, statistics by name, settings by dotted names, without secrets.
//
// # Tables
//
// A Layout writes and reads the tables that tools print of a run.
//
// A Layout says which rows a tool's table can have, in which order, and what each is
// called where figures of several tools meet. A table is written by its layout, of a
// live run and of an imported one, and read by it, so that what is read of a table
// gives the same table again.
//
// The layouts themselves are the tools': each comes in as a Tool, a value.
//
// # Serving
//
// Figures is what `vllm bench serve` and sglang.bench_serving have in common, since
// both grew out of one script, benchmark_serving.py: the clock of a request, the sums and
// the statistics of those that succeeded, and the arrays of a result file.
//
// What counts as a success and as a token differs between them, and is theirs to say.
package result

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// Read reads the results in a file of JSON: one object, several one after
// the other, as tools leave that append to their file, or an array of them.
//
// The file is read twice. The first time everything is checked, figures and
// settings are kept, and of long arrays the place. Records are read from those
// places when somebody asks for them, all arrays of a result in step (columns).
func Read(s Source, formats ...Format) ([]Found, []Problem) {
	d := &document{Source: s, formats: formats, seen: map[string]int{}}
	d.read()
	return d.finish()
}

type document struct {
	Source   Source
	formats  []Format
	drafts   []*PartialRun
	whole    []Found // that came as they are
	problems []Problem
	seen     map[string]int // how often an object stood in the file, by content

	strange int      // objects that are no result
	unknown *Object  // the first of them
	parts   *Reading // of the result that is being put together; nil: none is
	fertile int64    // where the last object ended that is a result, or part of one
	stopped error    // why the file is not read to its end; nil: it is
}

// A PartialRun is a result on its way to being Found.
type PartialRun struct {
	Found
	At       place
	Origin   *trace.Origin
	problems []*scanError
}

// A Format is how one tool writes results.
type Format struct {
	Is   func(*Object) bool
	Read func(*Reading)
	// part reports whether an object of a list is part of a result; add adds it to what
	// is put together, an empty object at first. nil: no result is in parts.
	Part func(*Object) bool
	Add  func(whole, part *Object)
	// explain says what an object is that the tool writes and that is no result; "" of
	// others. nil: it writes none.
	Explain func(*Object) string
	// beside are files that it writes beside a result, twice results that another file
	// has too.
	Beside []Side
	Twice  []Twice
}

// A Side is files that a tool writes beside a result, by patterns of their names.
type Side struct {
	Result string
	Files  []string
}

// A Twice is results that another file beside them has too, by patterns of their names,
// and why they are not read. What the star of the first stands for is $ in the others.
type Twice struct{ File, Beside, Reason string }

// A Reading is one object of a file, given to the reader of its format, which
// adds drafts.
type Reading struct {
	*document
	Object *Object
	id     []byte // of the bytes of the object
}

func (d *document) scanner(at place) *objectScanner {
	return &objectScanner{scanner: newScanner(d.Source.Data, d.Source.Size, at), room: keptTotal}
}

func (d *document) read() {
	at := fileStart
	k := d.scanner(at)
	if k.peek() == 0xEF { // a byte order mark
		k.skip(3)
	}
	for !k.done() && k.err == nil && d.stopped == nil {
		at = k.at()
		if k.peek() == '[' {
			k.items(func() { d.one(k) })
			if r := d.parts; r != nil {
				d.parts = nil
				d.take(r.Object, func() []byte { return r.id })
			}
		} else {
			d.one(k)
		}
		if k.err != nil && d.stopped == nil {
			k = d.resume(at, k)
		}
	}
	if d.stopped != nil {
		d.Problem(d.stopped)
	}
}

// MaxBarren is how many bytes without a result end the reading of a file: it may be a log
// of others, or sparse and of any size.
const MaxBarren = 256 << 20

// How much in a file may be no result.
const (
	maxStrange  = 100_000 // objects
	MaxProblems = 10_000
)

// ErrBarren is that there was more.
var ErrBarren = errors.New("the rest of the file is not read: too much of it was no result")

// barren reports whether no result is expected any more behind k.
func (d *document) barren(k *objectScanner) bool {
	at := k.at()
	if d.stopped == nil && (at.Offset-d.fertile > MaxBarren || d.strange > maxStrange || len(d.problems) > MaxProblems) {
		d.stopped = &scanError{at, ErrBarren.Error()}
	}
	return d.stopped != nil
}

func (d *document) one(k *objectScanner) {
	k.room = keptTotal
	o := k.object(0, true)
	if k.err != nil {
		return
	}
	d.take(o, func() []byte {
		id := sha256.New()
		d.fertile = k.at().Offset
		_, k.err = io.Copy(id, io.NewSectionReader(d.Source.Data, o.At.Offset, d.fertile-o.At.Offset))
		return id.Sum(nil)
	})
	if k.err == nil && d.barren(k) {
		k.err = d.stopped
	}
}

func (d *document) take(o *Object, id func() []byte) {
	for _, f := range d.formats {
		switch {
		case f.Part != nil && f.Part(o):
			d.join(f, o, id())
			return
		case f.Is(o):
			f.Read(&Reading{d, o, id()})
			return
		}
	}
	if d.strange++; d.strange == 1 {
		d.unknown = o
	}
}

// join adds a part to the result that is being put together.
func (d *document) join(f Format, o *Object, id []byte) {
	if d.parts == nil {
		d.parts = &Reading{d, &Object{At: o.At, Values: map[string]any{}}, nil}
	}
	f.Add(d.parts.Object, o)
	d.parts.id = append(d.parts.id, id...)
}

// AddRun is a result that is a run already.
func (r *Reading) AddRun(f Found) { r.whole = append(r.whole, f) }

// resume tells of the mistake that ended failed, in what started at begun. It
// goes on from the next line that starts with an object: a tool that was stopped
// while it wrote a result appends the next to the rest of it.
func (d *document) resume(begun place, failed *objectScanner) *objectScanner {
	bad, broken := failed.at(), byte(0)
	if !failed.atEnd() {
		broken = failed.rest[0]
	}
	k := d.nextLine(begun, bad)
	if k.peek() != 0 && (broken == '\n' || k.at() == bad) {
		d.Problem(&scanError{begun, fmt.Sprintf("the result that begins here is cut short, and another begins in line %d", k.line)})
	} else {
		d.Problem(failed.err)
	}
	return k
}

// nextLine is at the next line that starts with an object, neither the one at
// begun nor one ahead of bad.
func (d *document) nextLine(begun, bad place) *objectScanner {
	k := d.scanner(begun)
	for ; !k.atEnd() && !d.barren(k); k.step() {
		if at := k.at(); k.rest[0] == '{' && at.column == 1 && at.line > begun.line && at.line >= bad.line {
			break
		}
	}
	return k
}

func (d *document) Problem(err error) {
	p := Problem{File: d.Source.Name, Reason: err.Error()}
	var at *scanError
	if errors.As(err, &at) {
		p.Line = at.at.line
		p.Reason = fmt.Sprintf("column %d, byte %d: %s", at.at.column, at.at.Offset, at.reason)
	}
	d.problems = append(d.problems, p)
}

// ProblemAt notes a mistake at a place of the file.
func (r *Reading) ProblemAt(at place, format string, a ...any) {
	r.Problem(&scanError{at, fmt.Sprintf(format, a...)})
}

// Draft is a new result of a tool; part tells it from others in its object.
func (r *Reading) Draft(tool string, part ...string) *PartialRun {
	d := &PartialRun{At: r.Object.At, Origin: &trace.Origin{Tool: tool, Detail: trace.Summed, File: r.Source.Name}}
	d.Origin.Path = part
	name := strings.Join(append(nameParts(r.Source.Name), part...), " / ")
	d.Run = trace.Run{
		ID: r.identify(tool), Name: name, Kind: trace.Imported, Status: trace.Complete, End: trace.Never,
		Plan: trace.Load{Dialect: tool}, Origin: d.Origin,
	}
	r.drafts = append(r.drafts, d)
	return d
}

// identify is the id of a result: the same for the same bytes, wherever the file is
// kept, but for those that stand several times in it.
func (r *Reading) identify(tool string) string {
	key := fmt.Sprintf("%s\x00%x", tool, r.id)
	r.seen[key]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", key, r.seen[key]-1))
	return "imp-" + hex.EncodeToString(sum[:6])
}

// nameParts are the parts of a source's path that name its runs: the folders and
// the stem. A path that leaves the working directory tells where somebody keeps
// files, so there it is the stem alone.
func nameParts(name string) []string {
	clean := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	parts := strings.Split(clean, "/")
	last := len(parts) - 1
	parts[last] = strings.TrimSuffix(parts[last], path.Ext(parts[last]))
	switch {
	case path.IsAbs(clean) || parts[0] == "..":
		return parts[last:]
	case last > 0 && repeat.MatchString(parts[last]):
		return parts[:last]
	}
	return parts
}

// repeat is what vLLM's sweeps call the runs of one configuration, which is the
// folder: they are repeats of each other.
var repeat = lazy.Regexp(`^run=\d+$`)

// finish is what was found. Lines are told where a file has several results.
func (d *document) finish() (found []Found, problems []Problem) {
	for _, f := range d.drafts {
		if len(d.drafts) > 1 {
			f.Origin.Line = f.At.line
		}
		for _, p := range f.problems {
			d.Problem(p)
		}
		if f.Origin.Detail != trace.Recorded && f.Origin.Detail != trace.Undated {
			f.Records = nil
		}
		found = append(found, f.Found)
	}
	found = append(found, d.whole...)
	switch {
	case d.strange > 0:
		d.problems = append(d.problems, d.stranger())
	case len(found) == 0 && len(d.problems) == 0:
		d.problems = append(d.problems, Problem{File: d.Source.Name, Reason: "it holds no result", Nothing: true})
	}
	return found, d.problems
}

// stranger tells of the objects that no reader knows.
func (d *document) stranger() Problem {
	p := Problem{File: d.Source.Name, Reason: d.explain(), Nothing: len(d.drafts)+len(d.whole) == 0}
	if d.unknown.At.line > 1 {
		p.Line = d.unknown.At.line
	}
	if d.strange > 1 {
		p.Reason = fmt.Sprintf("%s; so are %d more objects", p.Reason, d.strange-1)
	}
	return p
}

// explain says what the first of them is, as far as that is known.
func (d *document) explain() string {
	o := d.unknown
	for _, f := range d.formats {
		if f.Explain != nil {
			if text := f.Explain(o); text != "" {
				return text
			}
		}
	}
	names := slices.Clone(o.Names)
	if len(names) > 8 {
		names = append(names[:8], "…")
	}
	if len(names) == 0 {
		return "no tool known writes an empty object"
	}
	return "no tool known writes such results: their members are " + strings.Join(names, ", ")
}

// Figure adds one, once, if it is a number.
func (f *PartialRun) Figure(name string, value float64) {
	if _, twice := f.Origin.Figure(name); twice || !IsFinite(value) {
		return
	}
	f.Origin.Figures = append(f.Origin.Figures, trace.ReportedFigure{Name: name, Value: value})
}
