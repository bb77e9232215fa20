package trace

import (
	"net/url"
	"regexp"
)

// AnyPort replaces in a text of the server the port that it answers at, if each start of the
// server has one of its own, so that starts of one command line read alike.
func (r Run) AnyPort(text string) string {
	if r.Leg == nil || r.Leg.ServerStart == 0 {
		return text
	}
	u, err := url.Parse(r.Plan.URL)
	if err != nil || u.Port() == "" {
		return text
	}
	port, err := regexp.Compile(`\b` + regexp.QuoteMeta(u.Port()) + `\b`)
	if err != nil {
		return text
	}
	return port.ReplaceAllLiteralString(text, "${port}")
}
