package grid

import (
	"fmt"
	"strings"
)

// show is a table as the scripts of testdata expect it.
func show(t Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "table %d-%d %s\n", t.First, t.Last, t.Tool)
	for _, r := range t.Results {
		fmt.Fprintf(&b, "%d %q", r.Line, r.Variant)
		for _, s := range r.Load {
			fmt.Fprintf(&b, " %s=%s", s.Name, s.Value)
		}
		b.WriteString(":")
		for _, f := range r.Figures {
			fmt.Fprintf(&b, " %s=%.6g", f.Name, f.Value)
		}
		for _, f := range r.Unscaled {
			fmt.Fprintf(&b, " %s=%.6g?", f.Name, f.Value)
		}
		b.WriteString("\n")
	}
	if t.Unnamed {
		b.WriteString("of a metric without a name\n")
	}
	for _, c := range t.Changes {
		fmt.Fprintf(&b, "%d %q change %s.%s %+.4g", c.Line, c.Variant, c.Metric, c.Stat, c.Change)
		if c.Before != nil && c.After != nil {
			fmt.Fprintf(&b, " (%.6g -> %.6g)", *c.Before, *c.After)
		}
		b.WriteString("\n")
	}
	return b.String()
}
