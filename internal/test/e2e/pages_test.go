//go:build e2e

package e2e

import (
	"fmt"
	"testing"
)

// looks are each theme, language and width.
var looks = []look{
	{1280, 900, false, "en"},
	{1280, 900, true, "zh"},
	{390, 844, true, "en"},
	{390, 844, false, "zh"},
}

// Every page can be read in every look: nothing goes wrong, nothing is wider than the window,
// axe-core finds nothing serious.
func TestEveryPage(t *testing.T) {
	w := stored(t)
	w.pitot(t, "sim", "-n", "300", "--rate", "20", "--name", "first")
	address := w.ui(t)
	browser := launch(t)
	for name, hash := range map[string]string{
		"runs": "#/runs",
		"run":  "#/runs/first",
	} {
		for _, l := range looks {
			t.Run(fmt.Sprintf("%s/%s", name, l), func(t *testing.T) {
				p := newTab(t, browser)
				p.as(l)
				p.open(address + hash)
				p.narrow()
				p.accessible()
				p.picture(name + "-" + l.String())
			})
		}
	}
}
