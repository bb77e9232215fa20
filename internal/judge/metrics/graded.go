package metrics

import (
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/load/grade"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Graded counts the answers to questions.
type Graded struct {
	Answers  int `json:"answers"` // of requests that did not fail
	Right    int `json:"right"`
	Cut      int `json:"cut,omitempty"`      // at their length
	Unparsed int `json:"unparsed,omitempty"` // without anything in the form of an answer
	Fallback int `json:"fallback,omitempty"` // found by their form alone
}

func (g *Graded) add(r *trace.Record) {
	if r.Grade == 0 {
		return
	}
	g.Answers++
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	count(&g.Right, r.Grade.Right())
	count(&g.Cut, r.Grade.Cut())
	count(&g.Unparsed, !r.Grade.Parsed())
	count(&g.Fallback, r.Grade.How() == grade.Fallback)
}

// of is g, nil without answers.
func (g Graded) of() *Graded {
	if g.Answers == 0 {
		return nil
	}
	return &g
}

// Share is n of the answers.
func (g *Graded) Share(n int) float64 { return float64(n) / float64(g.Answers) }

// figures are the shares of the answers.
func (g *Graded) figures(l *List) {
	if g == nil {
		return
	}
	l.Add(figure.Accuracy, g.Share(g.Right))
	l.Add(figure.GradedCut, g.Share(g.Cut))
	l.Add(figure.GradedUnparsed, g.Share(g.Unparsed))
}
