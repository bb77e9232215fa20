package answers

import (
	"cmp"
	"hash/fnv"
	"slices"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// MostRequests is how many requests of a run are compared, the first ones of its workload. Defects are counted in all.
const MostRequests = 20_000

// A Leg is what is needed of the answers of a run: some hundred bytes of each of the first MostRequests. Its zero value
// is that of a run without answers.
type Leg struct {
	Variant  int     // 0 is the baseline
	Requests uint64  // those of legs with the same number are the same
	Block    int     // of an experiment
	Start    int     // of its server, counted over the experiment
	Position float64 // in time, counted in legs
	Key      string  // names the key of its marks
	Set      uint64  // questions of legs with the same number, of equal index, are the same
	Whole    bool    // all requests are compared, and not the first MostRequests alone
	// Independent says that the prompt of a later turn of a conversation does not have the answers before it.
	Independent bool

	Grades    Grades
	Failed    int // requests
	Answered  int // requests
	Inspected int // answers that were looked at for defects
	Defective int // of these
	Defects   map[trace.Defects]int
	Unmarked  int // answers without marks

	all       []answer
	marks     []byte
	uncounted bool // the tokens of some answer are unknown
}

// An answer is a request of a leg.
type answer struct {
	index, prompt, tokens, turn int32
	session                     uint32
	from, to                    uint32 // its marks
	ok                          bool
}

// Add counts a request in. What it needs is copied.
func (l *Leg) Add(r *trace.Record) {
	l.Grades.Add(r)
	if r.OK() {
		l.inspect(r)
	} else {
		l.Failed++
	}
	if r.Index < 0 || r.Index >= MostRequests && !l.Whole {
		return
	}
	a := answer{index: int32(r.Index), prompt: int32(r.Usage.Prompt), tokens: int32(r.OutputTokens), ok: r.OK(), from: uint32(len(l.marks))}
	if r.Session != "" {
		h := fnv.New32a()
		_, _ = h.Write([]byte(r.Session))
		a.session, a.turn = h.Sum32(), int32(r.Turn)
	}
	if a.ok {
		l.uncounted = l.uncounted || r.OutputTokens <= 0 && r.Defects&trace.DefectEmpty == 0
		l.marks = append(l.marks, r.Marks...)
	}
	a.to = uint32(len(l.marks))
	l.all = append(l.all, a)
}

// inspect counts an answer and its defects.
func (l *Leg) inspect(r *trace.Record) {
	l.Answered++
	if r.Marks == "" {
		l.Unmarked++
	}
	if r.Defects&trace.Inspected == 0 {
		return
	}
	l.Inspected++
	if r.Defects != trace.Inspected {
		l.Defective++
	}
	for d := trace.Inspected << 1; d != 0 && d <= r.Defects; d <<= 1 {
		if r.Defects&d != 0 {
			if l.Defects == nil {
				l.Defects = map[trace.Defects]int{}
			}
			l.Defects[d]++
		}
	}
}

// sorted are its answers by index.
func (l *Leg) sorted() []answer {
	slices.SortFunc(l.all, func(a, b answer) int { return cmp.Compare(a.index, b.index) })
	return l.all
}

// digest are the marks of an answer; false if there are none.
func (l *Leg) digest(a answer) (trace.Digest, bool) {
	if a.from == a.to {
		return trace.Digest{}, false
	}
	d, err := trace.Marks(l.marks[a.from:a.to]).Digest()
	return d, err == nil
}
