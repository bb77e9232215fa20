package design

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Read reads and checks an Experiment from a file, and reports every mistake at its place. An experiment without a
// name has that of the file, and a single workload without a name is called load.
func Read(file string, data []byte) (*Experiment, *plan.Document, error) {
	doc, err := plan.Parse(file, data)
	if err != nil {
		return nil, nil, err
	}
	if v := doc.Root.Member("version"); v != nil && v.Kind == plan.Number {
		if n, err := strconv.Atoi(v.Text); err == nil && n > Version {
			return nil, nil, doc.Explain(newer(n))
		}
	}
	e := &Experiment{Version: Version}
	misread := plan.Decode(doc.Root, e)
	if doc.Root.Kind == plan.Null {
		misread = plan.Problems{{Why: "the file is empty; docs/experiments.md has an example"}}
	}
	if e.Name == "" && doc.Root.Member("name") == nil {
		base := path.Base(filepath.ToSlash(file))
		e.Name = strings.TrimSuffix(base, path.Ext(base))
	}
	if len(e.Workloads) == 1 && e.Workloads[0].Name == "" {
		e.Workloads[0].Name = DefaultWorkload
	}
	return e, doc, doc.Explain(misread, e.Check())
}

// DefaultWorkload is the name of a single workload without one.
const DefaultWorkload = "load"

func newer(version int) (p plan.Problems) {
	p.If(true, "version", version, "was written by a newer Pitot; this one reads version %d", Version)
	return p
}

// Is reports whether a file is one of an experiment, and not of a plan or of settings.
func Is(doc *plan.Document) bool {
	for _, field := range []string{"variants", "matrix", "workloads"} {
		if doc.Root.Member(field) != nil {
			return true
		}
	}
	return false
}

// DecodeNode reads a command line, or a map of fields.
func (w *Workload) DecodeNode(n *plan.Node) plan.Problems {
	if n.Kind == plan.String {
		*w = Workload{Command: n.Text}
		return nil
	}
	type fields Workload
	return plan.Decode(n, (*fields)(w))
}

// DecodeNode reads a map of lists, in order.
func (a *Axes) DecodeNode(n *plan.Node) (p plan.Problems) {
	if n.Kind != plan.Map {
		p.If(true, "", nil, "must be a map of lists, such as {tp: [1, 2]}")
		return p
	}
	*a = make(Axes, len(n.Members))
	for i, m := range n.Members {
		axis := Axis{Name: m.Key}
		p = append(p, plan.Decode(m.Value, &axis.Values).Below(m.Key)...)
		(*a)[i] = axis
	}
	return p
}

// MarshalJSON writes a map of lists, in order.
func (a Axes) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, axis := range a {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(axis.Name) // a string
		values, err := json.Marshal(axis.Values)
		if err != nil {
			return nil, fmt.Errorf("axis %s: %w", axis.Name, err)
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(values)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads the form that MarshalJSON writes.
func (a *Axes) UnmarshalJSON(b []byte) error {
	n, err := plan.ParseJSON(b)
	if err != nil {
		return err
	}
	return a.DecodeNode(n).Err()
}
