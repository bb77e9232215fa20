// Package inputs is a placeholder.
package inputs

import "github.com/pitot-bench/pitot/internal/run"

// A Ledger notes.
type Ledger struct{}

// Watch watches.
func (*Ledger) Watch(d run.Deps) run.Deps { return d }
