package plan

// A Front is a front end: it words problems, and knows the names of settings there.
type Front interface {
	Explain(Problems) error
	NameOf(path string) string
}

// ByPath is the front of a Spec without one: settings are called by their paths.
type ByPath struct{}

// Explain returns the problems as they are.
func (ByPath) Explain(p Problems) error { return p }

// NameOf is the path.
func (ByPath) NameOf(path string) string { return path }
