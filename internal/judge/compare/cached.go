package compare

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// CachesDiffer leaves a change open if the server had unlike shares of the prompts in its cache
// before the runs: repeating a command has that effect.
const CachesDiffer plan.Code = "compare.caches-differ"

// cachedSetting names the share of the prompts that were in the server's cache before a run.
const cachedSetting = "cached-before"

// insensitive are figures that a cache of prompts does not change.
var insensitive = []string{figure.RequestsOK, figure.RequestsFailed, figure.CacheHitRate}

// cachedBefore is that share as a setting; zero if unknown.
func cachedBefore(r trace.Run) plan.Message {
	share, known := r.Reuse.Earlier()
	if !known {
		return plan.Message{}
	}
	return plan.Msg("value.share", "share", share)
}

// cachesDiffer reports whether the shares of two groups of runs differ by more than a little.
func cachesDiffer(a, b []trace.Run) bool {
	x, y := meanCached(a), meanCached(b)
	return math.Abs(x-y) > trace.NotableReuse // false of NaN
}

// meanCached is the mean of the shares that are known, NaN where none is.
func meanCached(runs []trace.Run) float64 {
	var all []float64
	for _, r := range runs {
		if share, known := r.Reuse.Earlier(); known {
			all = append(all, share)
		}
	}
	if all == nil {
		return math.NaN()
	}
	return stats.Mean(all)
}

// caches are the runs of a variant, as cachesDiffer takes them.
func (v *variant) caches() (all []trace.Run) {
	for _, r := range v.runs {
		all = append(all, r.run)
	}
	return all
}

// differentCaches reports whether two variants differ in that, unless it is to be ignored.
func (o Options) differentCaches(a, b *variant) bool {
	return !slices.Contains(o.Ignore, cachedSetting) && cachesDiffer(a.caches(), b.caches())
}

// cachedDiff lists the shares, where one variant's differ from the first one's.
func cachedDiff(variants []*variant, o Options) []SettingDiff {
	if !slices.ContainsFunc(variants, func(v *variant) bool { return o.differentCaches(variants[0], v) }) {
		return nil
	}
	r := SettingDiff{Setting: cachedSetting}
	for _, v := range variants {
		var values []plan.Message
		for _, one := range v.caches() {
			if m := cachedBefore(one); !m.IsZero() {
				values = append(values, m)
			}
		}
		r.Values = append(r.Values, unique(values))
	}
	return []SettingDiff{r}
}

// noteCaches says what a difference in that means.
func (t *table) noteCaches() {
	base := t.variants[0]
	for _, v := range t.variants[1:] {
		if t.o.differentCaches(base, v) {
			t.note(CachesDiffer, "variant", v.name, "share", meanCached(v.caches()), "baseline", base.name, "before", meanCached(base.caches()))
		}
	}
}
