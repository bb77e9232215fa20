package python

import (
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
)

// suggest is a line that names what arguments that no option has may stand for, empty
// if nothing is near. argparse has none before Python 3.14.
func (p *Parser) suggest(unknown []string) string {
	var names, near []string
	for _, o := range p.Options {
		names = append(names, o.name)
	}
	for _, arg := range unknown {
		name, long := strings.CutPrefix(arg, "--")
		name, _, _ = strings.Cut(name, "=")
		if long && name != "" {
			near = append(near, nearest(strings.ReplaceAll(name, "_", "-"), names)...)
		}
	}
	if near == nil {
		return ""
	}
	return "\n(did you mean --" + strings.Join(near, ", --") + "?)"
}

// mostNear is how many names are worth reading.
const mostNear = 3

// nearest is the name with the fewest edits, or else those that have this one among their
// words, as --request-rate has rate.
func nearest(name string, names []string) (near []string) {
	if one := plan.Nearest(name, names); one != "" {
		return []string{one}
	}
	for _, other := range names {
		if strings.Contains("-"+other+"-", "-"+name+"-") && len(near) < mostNear {
			near = append(near, other)
		}
	}
	return near
}
