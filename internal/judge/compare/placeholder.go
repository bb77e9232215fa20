package compare

// Looks is a placeholder.
type Looks struct{ Done, Most int }

// Settled is a placeholder.
func (c Comparison) Settled() bool { return false }

// Precision is a placeholder.
func (c Comparison) Precision() float64 { return 1 }
