package grid

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/tool/lexicon"
)

// caption gives columns of numbers the metric that the heading or the label above the table names, with its unit and
// its statistic, if no head and no row names one. A head that is a number is the load that the corner or the caption
// names. Without a caption the table is Unnamed if a head has a unit of time.
func (r *reader) caption(d *draft) {
	caption, text := r.heads[0], r.heads[0].text
	if caption.metric == "" {
		caption, text = d.captionLabel()
	} else if r.heads[0] = (label{}); caption.rest != "" || caption.foreign || len(caption.stats) > 1 || caption.change {
		return
	}
	load := ""
	for _, named := range []string{r.heads[0].text, text} {
		if words := lexicon.Loads.Find(named); len(words) > 0 && load == "" {
			load = words[0].Means
		}
	}
	timed, fractions := 0, len(r.heads)
	for i := range slices.Backward(r.heads) {
		if r.hasFractions(i) {
			fractions = i
		}
	}
	for i, h := range r.heads {
		values := 0
		for _, cell := range r.column(i) {
			if c, ok := readCell(cell); ok && len(c.values) == 1 && c.after == nil && c.amount == nil {
				values++
			}
		}
		count := i < fractions && fractions < len(r.heads) && !h.unit.told() && !startsWithNumber(h.text) && len(h.settings) == 0
		known := count || h.load != "" || h.change || h.foreign || measures.MatchString(h.text) || counts.MatchString(h.text)
		if i == 0 || known || 2*values <= len(r.rows) || h.unit.told() && caption.metric != "" && h.unit.dimension != dimension(caption.metric) {
			continue
		}
		if h.unit.dimension == figure.Seconds && h.unit.scale >= 1e-3 {
			timed++
		}
		if caption.metric == "" {
			continue
		}
		h.metric = caption.metric
		if len(h.stats) == 0 {
			h.stats = caption.stats
		}
		if !h.unit.told() {
			h.unit = caption.unit
		}
		if startsWithNumber(h.text) && len(h.settings) == 0 {
			load = cmp.Or(load, "workload")
			h.settings, h.rest = []Setting{{load, h.text}}, ""
			r.heads[0].load, r.heads[0].text, r.heads[0].rest = "", "", ""
		}
		r.heads[i] = h
	}
	r.table.Captioned, r.table.Unnamed = caption.metric != "", caption.metric == "" && timed > 1
}

// parts are words for a table of what a metric consists of, or of what it costs.
var parts = lazy.Regexp(`(?i)break|decompos|analy|profil|overhead|defin|budget|分解|拆解|构成|分析|开销|定义`)

// captionLabel is the label in the lines above the table that names one metric: in the last of them, or in a heading.
func (d *draft) captionLabel() (l label, text string) {
	for i, above := range slices.Backward(d.above) {
		heading := strings.HasPrefix(above, "#") || strings.HasPrefix(above, "**")
		last := i == len(d.above)-1 && d.fresh > 0
		text := strings.TrimRight(strings.Trim(clean(bullet.ReplaceAllString(above, "")), "# "), ":： ")
		sentence := strings.ContainsAny(text, ".。") && strings.ContainsAny(text, " ") && !heading
		if !heading && !last || utf8.RuneCountInString(text) > 2*longestHead || sentence {
			continue
		}
		l := parse(spaced(strings.ReplaceAll(text, "-", " ")))
		named := l.rest == "" || len(metricWords.Find(text)) > 0 && !parts.MatchString(l.rest)
		if l.metric != "" && named && !l.foreign && len(l.stats) < 2 {
			return l, text
		}
		if heading {
			break
		}
	}
	return label{}, ""
}

// IsCaption reports whether a text names a metric and nothing else.
func IsCaption(text string) bool {
	l := parse(text)
	return l.metric != "" && l.rest == "" && len(l.settings) == 0 && !l.change
}
