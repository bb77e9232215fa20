package experiment

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/plan"
)

// LegSpace is the free space that a leg begins with, in bytes: for the log of its server, which package proc keeps
// below 64 MiB plus the output of a tenth of a second, and for its runs.
const LegSpace = 128 << 20

const noSpace plan.Code = "experiment.no-space"

// A SpaceError says that there is too little space for another leg.
type SpaceError struct {
	Folder string
	Free   int64
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("%s has %d MiB free, and a leg may need %d MiB: make room there", e.Folder, e.Free>>20, LegSpace>>20)
}

// Message is it as data.
func (e *SpaceError) Message() plan.Message {
	return plan.Msg(noSpace, "folder", e.Folder, "free", e.Free, "need", LegSpace)
}

// hasSpace is an error if there is too little space for another leg.
func (x *execution) hasSpace() error {
	if x.Space == nil {
		return nil
	}
	return x.Space()
}
