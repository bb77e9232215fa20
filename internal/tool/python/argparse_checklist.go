package python

import "fmt"

// A Checklist collects the problems of a command line.
type Checklist []error

// Refuse notes a mistake where cond holds.
func (c *Checklist) Refuse(cond bool, format string, a ...any) {
	if cond {
		*c = append(*c, fmt.Errorf(format, a...))
	}
}

// Add notes an error, if there is one.
func (c *Checklist) Add(err error) {
	if err != nil {
		*c = append(*c, err)
	}
}
