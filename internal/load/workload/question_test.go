package workload

import (
	"strings"
	"testing"
)

func TestQuestionsOfAFile(t *testing.T) {
	read := func(usual, line string) (Request, error) {
		p, err := Custom{Output: 8, Grade: usual}.Read(strings.NewReader(line), &Pack{})
		if err != nil {
			return Request{}, err
		}
		return p.here[0], nil
	}
	for _, c := range []struct{ usual, line, answer, right, wrong string }{
		{"", `{"prompt":"2+2?","answer":4,"grade":"number","id":"q1"}`, "4", "it is 4.0", "5"},
		{"number", `{"prompt":"p","answer":"so\n#### 1,200"}`, "so\n#### 1,200", "1200", "200"},
		{"number", `{"prompt":"p","answer":"B","grade":"choice","choices":["x","y"]}`, "B", "(B)", "(C) or A"},
		{"", `{"prompt":"p","answer":{"a":1},"grade":"json"}`, `{"a":1}`, `{"a": 1}`, `{"a": 2}`},
		{"", `{"prompt":"p","grade":"regex:^ok"}`, "", "ok", "not ok"},
	} {
		r, err := read(c.usual, c.line)
		if err != nil || r.Question == nil {
			t.Errorf("%s: %+v, %v", c.line, r.Question, err)
			continue
		}
		if r.Question.Answer != c.answer || !r.Question.Grade(c.right, false).Right() || r.Question.Grade(c.wrong, false).Right() {
			t.Errorf("%s: graded wrongly: %+v", c.line, r.Question)
		}
	}
	for _, line := range []string{`{"prompt":"p","answer":"4"}`, `{"prompt":"p","grade":"B+"}`, `{"prompt":"p","answer":"4","grade":5}`} {
		if r, err := read("", line); err != nil || r.Question != nil {
			t.Errorf("%s: a question %+v, %v", line, r.Question, err)
		}
	}
	for line, says := range map[string]string{
		`{"prompt":"p"}`:                                            `line 1: field "answer" is missing`,
		`{"prompt":"p","answer":"x"}`:                               `line 1: field "answer": "x" is not a number`,
		`{"prompt":"p","answer":"4","grade":"nmber"}`:               `line 1: field "grade": no such grader: "nmber"`,
		`{"prompt":"p","answer":"A","grade":"choice","choices":{}}`: `line 1: field "choices" must be a list`,
	} {
		if _, err := read("number", line); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", line, err, says)
		}
	}
	p, err := Custom{Output: 8, Grade: "number"}.Read(strings.NewReader(`{"prompt":"p","answer":1}`), &Pack{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Custom{Output: 8, Requests: 2}).Build(t.Context(), p, nil); err == nil || !strings.Contains(err.Error(), "asked once each") {
		t.Errorf("a question is asked twice: %v", err)
	}
}
