package grid

import (
	"regexp"
	"strings"
)

// unfitting are words of text whose values are no results: aims and logs.
var unfitting = regexp.MustCompile(`(?i)\bSL[OA]s?\b|\btargets?\b|objective|threshold|requirement|\bgoals?\b|budget|` +
	`service level|\bavg (?:prompt|generation) throughput|目标|阈值|要求`)

// unfit reports whether the lines above say that what follows are no results.
func (d *draft) unfit() bool { return unfitting.MatchString(strings.Join(d.above, "\n")) }
