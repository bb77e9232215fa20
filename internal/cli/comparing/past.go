package comparing

import (
	"net/url"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// mostPast is how many stored runs are looked through for sessions like those that are compared.
const mostPast = 5_000

// Past gives the stored runs of a server, a model and a load (compare.Options). Unreadable runs are left out, since
// a comparison does without them, and so are runs of experiments, invalid ones, and those without stored figures.
func Past(runs *store.Store) func(of []trace.Run) []compare.Past {
	return func(of []trace.Run) (past []compare.Past) {
		list, err := runs.List(store.Filter{Kind: trace.Measured, Status: trace.Complete, Limit: mostPast})
		if err != nil {
			return nil
		}
		compared := map[string]bool{}
		for _, r := range of {
			compared[r.ID] = true
		}
		like, found := "", 0
		for _, l := range list {
			if compared[l.ID] {
				if found++; found > 1 && likeness(l) != like {
					return nil
				}
				like = likeness(l)
			}
		}
		if found < len(of) {
			return nil
		}
		for _, l := range list {
			if l.Leg != nil || l.Validity == trace.Invalid || l.Started.IsZero() || likeness(l) != like {
				continue
			}
			figures, known, err := runs.Figures(l.ID, metrics.Pitot, metrics.Version)
			if err == nil && (known || compared[l.ID]) {
				past = append(past, compare.Past{ID: l.ID, Started: l.Started, Figures: figures})
			}
		}
		return past
	}
}

// likeness is equal for runs of the same load on the same server and model; a server is the one of
// its host, on whatever port.
func likeness(l store.Listing) string {
	host := l.URL
	if u, err := url.Parse(l.URL); err == nil {
		host = u.Hostname()
	}
	return host + "\x00" + l.Model + "\x00" + l.SameLoad()
}
