package comparison

import (
	"cmp"
	"encoding/xml"
	"io"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// JUnit writes a comparison as JUnit XML: a suite for each workload, and in it a case for
// each gate and variant. Without gates there is a case for each main figure that is judged,
// which fails if it is worse. What the data cannot tell is skipped.
//
// Readers differ in where they look: GitLab shows the class of a case and the content of
// failure and skipped, others the name of the suite and the attribute message. Both are
// there. Cases have no time of their own.
func JUnit(out io.Writer, c compare.Comparison, o Options) error {
	w := NewWords(c, cmp.Or(o.Lang, words.In(words.Default)))
	all, gates := junit{Name: "pitot"}, gatesOf(c)
	for i, load := range c.Workloads {
		all.Suites = append(all.Suites, junitSuite{Name: w.called(load, i), Cases: casesOf(w.checks(load, gates[i]))})
	}
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
