package comparison

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A check is what continuous integration shows as passed, failed or skipped: a gate on a
// variant, or where there are no gates, a main figure of a variant.
type check struct {
	Name    string // the same in all languages, and unique in its workload
	Said    string
	Outcome compare.Outcome
}

// Columns of names and of what is said of one thing, where others made them up.
const (
	nameColumns = 80
	saidColumns = 400
)

// bounded is a name or a phrase as a part of one line.
func bounded(s string, columns int) string { return doc.Cut(doc.Clean(s), columns) }

// called is a workload's name, or the load that it is.
func (w Phrases) called(load compare.Workload, number int) string {
	return bounded(w.LoadName(load, number), nameColumns)
}

// checks are those of a workload.
func (w Phrases) checks(load compare.Workload, gates []compare.GateResult) []check {
	var all []check
	for _, g := range gates {
		all = append(all, check{nameOfCheck(g.Gate.Text, g.Variant), w.gateSaid(g), g.Outcome})
	}
	for i, v := range load.Variants {
		if len(w.c.Gates) > 0 {
			break
		}
		for r, c := range mainChanges(load, i) {
			all = append(all, check{nameOfCheck(r.Quantity.Name, v.Name), w.changeSaid(load, r, i), outcomeOf(*c)})
		}
		all = append(all, w.answersChecks(load, i)...)
	}
	unique(all, func(c *check) *string { return &c.Name })
	return all
}

// mainChanges are those of a variant that are quoted first, each with its row.
func mainChanges(load compare.Workload, variant int) iter.Seq2[compare.Row, *compare.Change] {
	return func(yield func(compare.Row, *compare.Change) bool) {
		t := load.Variants[variant].Tally
		if t == nil {
			return
		}
		for _, row := range t.Main {
			r := load.Rows[row]
			if variant < len(r.Cells) && r.Cells[variant].Change != nil && !yield(r, r.Cells[variant].Change) {
				return
			}
		}
	}
}

func nameOfCheck(what, variant string) string {
	return bounded(what, nameColumns) + " (" + bounded(variant, nameColumns) + ")"
}

// outcomeOf fails what is worse by more than the margin.
func outcomeOf(c compare.Change) compare.Outcome {
	switch {
	case c.Verdict == compare.Worse && !c.Small:
		return compare.Fail
	case c.Verdict == compare.CannotTell || c.Unproven:
		return compare.Inconclusive
	}
	return compare.Pass
}

// gateSaid is the figure of a gate, and why it ended so.
func (w Phrases) gateSaid(g compare.GateResult) string {
	why := w.whyGate(g)
	if g.Interval != nil || g.Value != 0 {
		why = w.Join("stop", w.gateValue(g), why)
	}
	return bounded(why, saidColumns)
}

// changeSaid is the figure of both, the change and the verdict.
func (w Phrases) changeSaid(load compare.Workload, r compare.Row, variant int) string {
	s, c := scaleOf(r), *r.Cells[variant].Change
	of := func(i int) string {
		return doc.Join(" ", bounded(w.Called(load.Variants[i]), nameColumns), s.value(r.Cells[i]), s.unit)
	}
	change := doc.Join(" ", w.Change(r, c), w.Interval(r, c), w.plainVerdict(c))
	return w.Of(w.Title(r.Quantity), w.Join("stop", w.Join("comma", of(0), of(variant)), change))
}

// plainVerdict is the word on a change where no legend explains marks.
func (w Phrases) plainVerdict(c compare.Change) string {
	said, tone := w.verdict(c)
	switch {
	case tone != doc.Unclear || c.Open.Code == compare.FailuresDiffer:
		return said
	case c.More > 0 && c.More <= manyRuns && !c.Unproven:
		code := plan.Code("summary.more")
		if c.Basis == compare.Blocks {
			code = "summary.more-legs"
		}
		return w.Word(code, "n", c.More)
	}
	return w.Word("summary.unknown")
}

// gatesOf are the results of gates by workload. Several workloads may have no name, or one
// name: each variant of a workload has one result of each gate, in the order of the
// workloads.
func gatesOf(c compare.Comparison) [][]compare.GateResult {
	by := make([][]compare.GateResult, len(c.Workloads))
	for _, g := range c.Gates {
		last := -1
		for i, load := range c.Workloads {
			if load.Name != g.Workload || !slices.ContainsFunc(load.Variants, func(v compare.Variant) bool { return v.Name == g.Variant }) {
				continue
			}
			last = i
			if !slices.ContainsFunc(by[i], func(o compare.GateResult) bool { return o.Gate == g.Gate && o.Variant == g.Variant }) {
				break
			}
		}
		if last >= 0 {
			by[last] = append(by[last], g)
		}
	}
	return by
}

// unique adds a number to names that occur again.
func unique[T any](all []T, name func(*T) *string) {
	seen := map[string]bool{}
	for i := range all {
		n := name(&all[i])
		for base, k := *n, 2; seen[*n]; k++ {
			*n = fmt.Sprintf("%s (%d)", base, k)
		}
		seen[*n] = true
	}
}

// JUnit writes a comparison as JUnit XML: a suite for each workload, and in it a case for
// each gate and variant. Without gates there is a case for each main figure that is judged,
// which fails if it is worse. What the data cannot tell is skipped.
//
// Readers differ in where they look: GitLab shows the class of a case and the content of
// failure and skipped, others the name of the suite and the attribute message. Both are
// there. Cases have no time of their own.
func JUnit(out io.Writer, c compare.Comparison, o Options) error {
	w := NewPhrases(c, cmp.Or(o.Lang, words.In(words.Default)))
	all, gates := junit{Name: "pitot"}, gatesOf(c)
	for i, load := range c.Workloads {
		all.Suites = append(all.Suites, junitSuite{Name: w.called(load, i), Cases: casesOf(w.checks(load, gates[i]))})
	}
	return all.write(out)
}

// write writes the document.
func (all junit) write(out io.Writer) error {
	unique(all.Suites, func(s *junitSuite) *string { return &s.Name })
	for i := range all.Suites {
		all.Suites[i].count()
		all.add(all.Suites[i].counts)
	}
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(out)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(out, "\n")
	return err
}

// A junit is the document.
type junit struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	counts
	Suites []junitSuite `xml:"testsuite"`
}

type counts struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
	Time     int `xml:"time,attr"`
}

func (c *counts) add(o counts) {
	c.Tests += o.Tests
	c.Failures += o.Failures
	c.Skipped += o.Skipped
}

type junitSuite struct {
	Name string `xml:"name,attr"`
	counts
	Cases []junitCase `xml:"testcase"`
}

// count also names the class of each case, which is the suite.
func (s *junitSuite) count() {
	for i := range s.Cases {
		s.Cases[i].Class = s.Name
		s.Tests++
		if s.Cases[i].Failure != nil {
			s.Failures++
		}
		if s.Cases[i].Skipped != nil {
			s.Skipped++
		}
	}
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    int           `xml:"time,attr"`
	Skipped *junitOutcome `xml:"skipped"`
	Failure *junitOutcome `xml:"failure"`
	Out     string        `xml:"system-out,omitempty"` // of what passed
}

type junitOutcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

func casesOf(checks []check) (cases []junitCase) {
	for _, c := range checks {
		one := junitCase{Name: c.Name}
		switch c.Outcome {
		case compare.Fail:
			one.Failure = &junitOutcome{Message: c.Said, Type: string(c.Outcome), Text: c.Said}
		case compare.Inconclusive:
			one.Skipped = &junitOutcome{Message: c.Said, Text: c.Said}
		case compare.Pass:
			one.Out = c.Said
		}
		cases = append(cases, one)
	}
	return cases
}
