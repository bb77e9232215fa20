package metrics

import (
	"math/bits"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Defects counts the answers that were inspected as they passed, and what was wrong with them.
type Defects struct {
	Inspected int `json:"inspected"`
	Defective int `json:"defective"` // with at least one defect
	Empty     int `json:"empty,omitempty"`
	Loop      int `json:"loop,omitempty"`
	Garbage   int `json:"garbage,omitempty"`
	Leaked    int `json:"leaked,omitempty"`
	Cut       int `json:"cut,omitempty"`
	// Expected: answers go on beyond their end, or to prompts without sense, so that defects say nothing of the server. So
	// they do of runs of which that is not known.
	Expected bool `json:"expected,omitempty"`
}

// kinds are the counts in the order of trace.Defects, each with its figure.
func (d *Defects) kinds() []defectCount {
	return []defectCount{
		{figure.AnswersEmpty, &d.Empty},
		{figure.AnswersLoop, &d.Loop},
		{figure.AnswersGarbage, &d.Garbage},
		{figure.AnswersLeaked, &d.Leaked},
		{figure.AnswersCut, &d.Cut},
	}
}

type defectCount struct {
	figure string
	n      *int
}

func (d *Defects) add(r *trace.Record) {
	if r.Defects&trace.Inspected == 0 {
		return
	}
	d.Inspected++
	d.Defective += min(1, bits.OnesCount8(uint8(r.Defects&^trace.Inspected)))
	for i, kind := range d.kinds() {
		if r.Defects&(trace.DefectEmpty<<i) != 0 {
			*kind.n++
		}
	}
}

// of is d with what the plan of its run explains, nil if no answer was inspected.
func (d Defects) of(p trace.Load) *Defects {
	if d.Inspected == 0 {
		return nil
	}
	d.Expected = p.Spec == nil || p.Spec.Request.IgnoreEOS
	if p.Spec == nil {
		return &d
	}
	for _, stream := range p.Spec.Load {
		for _, part := range append(stream.Mix, plan.Part{Dataset: stream.Dataset}) {
			d.Expected = d.Expected || strings.Contains(part.Dataset.Kind, "random")
		}
	}
	return &d
}

// Kinds are the counts that are not 0, in words.
func (d *Defects) Kinds() (all []plan.Message) {
	for _, kind := range d.kinds() {
		if *kind.n > 0 {
			all = append(all, plan.Msg(plan.Code("defect."+strings.TrimPrefix(kind.figure, "answers.")), "n", *kind.n))
		}
	}
	return all
}

// figures are the shares of the inspected answers.
func (d *Defects) figures(l *List) {
	if d == nil {
		return
	}
	share := func(n int) float64 { return float64(n) / float64(d.Inspected) }
	l.Add(figure.AnswersDefects, share(d.Defective))
	for _, kind := range d.kinds() {
		l.Add(kind.figure, share(*kind.n))
	}
}
