package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/grade"
)

// A lineQuestion is what a line of a custom file says of its answer.
type lineQuestion struct {
	Answer  json.RawMessage `json:"answer"` // a text, a number, or any value for a grader of JSON
	Grade   json.RawMessage `json:"grade"`
	Choices json.RawMessage `json:"choices"` // a list of texts, or their number
	ID      json.RawMessage `json:"id"`
}

// question is what is asked, nil if neither the line nor the file has a grader. A field grade in a line without an
// answer means something else.
func (l lineQuestion) question(usual string) (*grade.Question, error) {
	const byPattern = "regex:"
	answered := l.Answer != nil && !bytes.Equal(l.Answer, []byte("null"))
	name := usual
	if own := ""; isText(l.Grade, &own) && (answered || strings.HasPrefix(own, byPattern)) {
		name = own
	}
	if name == "" {
		return nil, nil
	}
	g, err := grade.New(name)
	if err != nil {
		return nil, fmt.Errorf("field \"grade\": %w", err)
	}
	q := &grade.Question{Grader: g, ID: plainText(l.ID)}
	switch {
	case answered:
		q.Answer = plainText(l.Answer)
	case !strings.HasPrefix(name, byPattern):
		return nil, fmt.Errorf("field \"answer\" is missing, and %s compares with it", name)
	}
	if name == "choice" {
		if q.Choices, err = l.choices(); err != nil {
			return nil, err
		}
	}
	if err := g.Check(q.Answer, q.Choices); err != nil {
		return nil, fmt.Errorf("field \"answer\": %w", err)
	}
	return q, nil
}

// plainText is a value of JSON: a text itself, all others as they are written.
func plainText(raw json.RawMessage) (text string) {
	if !isText(raw, &text) {
		text = string(raw)
	}
	return text
}

func (l lineQuestion) choices() (n int, err error) {
	var list []json.RawMessage
	switch {
	case l.Choices == nil:
		return 0, nil
	case json.Unmarshal(l.Choices, &n) == nil && n > 0:
		return n, nil
	case json.Unmarshal(l.Choices, &list) == nil && len(list) > 0:
		return len(list), nil
	}
	return 0, errors.New(`field "choices" must be a list of texts, or their number`)
}
