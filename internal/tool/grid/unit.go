package grid

import (
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/tool/lexicon"
)

// A unit is what a printed number counts, and how many base units one of it is.
type unit struct {
	dimension figure.Unit
	scale     float64
}

// perSecond is the dimension of a rate of what the metric says.
const perSecond figure.Unit = "per second"

func (u unit) told() bool { return u.scale > 0 }

// units are the spellings of units, without spaces.
var units = func() map[string]unit {
	all := map[string]unit{}
	add := func(dimension figure.Unit, scale float64, spellings string) {
		for s := range strings.FieldsSeq(spellings) {
			all[s] = unit{dimension, scale}
		}
	}
	add(figure.Seconds, 1, "s sec secs second seconds s/tok s/token 秒")
	add(figure.Seconds, 1e-3, "ms msec msecs millisecond milliseconds ms/tok ms/token 毫秒")
	add(figure.Seconds, 1e-6, "us µs μs usec microsecond microseconds 微秒")
	add(figure.Seconds, 60, "min mins minutes 分钟")
	for _, token := range strings.Fields("t tok toks token tokens tk") {
		for _, s := range strings.Fields("/s /sec /second persec persecond ·s⁻¹") {
			add(figure.TokensPerSecond, 1, token+s)
			add(figure.TokensPerSecond, 1e3, "k"+token+s)
		}
	}
	add(figure.TokensPerSecond, 1, "tps")
	for _, request := range strings.Fields("r req reqs request requests 请求") {
		for _, s := range strings.Fields("/s /sec /second persec persecond") {
			add(figure.PerSecond, 1, request+s)
		}
	}
	add(figure.PerSecond, 1, "qps rps")
	add(perSecond, 1, "/s /sec persec persecond 1/s")
	add(figure.TokenCount, 1, "tok toks token tokens")
	add(figure.Count, 1, "count requests req reqs 个 条")
	add(figure.Share, 0.01, "% ％")
	return all
}()

func unitOf(text string) (unit, bool) {
	u, ok := units[strings.ToLower(strings.ReplaceAll(strings.Trim(text, " ."), " ", ""))]
	return u, ok
}

var (
	bracketed = lazy.Regexp(`[(\[（【]([^()\[\]（）【】]*)[)\]）】]`)
	// bareUnit is a unit that stands at the end of a label or at that of a word of an identifier.
	bareUnit = lazy.Regexp(`(?i)(?:^|[\s,，/:：]|时延|延迟|耗时|吞吐|吞吐量)` +
		`((?:k ?)?(?:tokens?|toks?) ?(?:/|per) ?s(?:ec(?:ond)?)?|` +
		`(?:requests?|reqs?) ?(?:/|per) ?s(?:ec(?:ond)?)?|per sec(?:ond)?|` +
		`ms|msec|s|sec|secs|seconds|us|µs|μs|毫秒|秒|微秒|%)(?:\s*$|[\s,，].{0,12}$)`)
)

// findUnit is the unit that a label names, and where.
func findUnit(text string) (u unit, start, end int) {
	for _, m := range bracketed.FindAllStringSubmatchIndex(text, -1) {
		for _, part := range strings.FieldsFunc(text[m[2]:m[3]], isComma) {
			for ; part != ""; _, part, _ = strings.Cut(strings.TrimLeft(part, " "), " ") {
				if u, ok := unitOf(part); ok {
					return u, m[0], m[1]
				}
			}
		}
	}
	if m := bareUnit.FindStringSubmatchIndex(text); m != nil {
		if u, ok := unitOf(text[m[2]:m[3]]); ok {
			return u, m[2], m[3]
		}
	}
	return unit{}, 0, 0
}

func isComma(r rune) bool { return strings.ContainsRune(",，;；", r) }

// of is a figure of the metric that is so many units, in base units. It is false where the unit is not known or not
// one of the metric.
func (u unit) of(metric string) (name string, scale float64, ok bool) {
	want := dimension(metric)
	switch {
	case metric == lexicon.Throughput && u.dimension == figure.PerSecond:
		return figure.RequestThroughput, u.scale, true
	case metric == lexicon.Throughput, want == figure.Seconds:
		return metric, u.scale, u.told() && u.dimension == want
	case !u.told():
		return metric, 1, metric != figure.Goodput
	case u.dimension == perSecond && (want == figure.PerSecond || want == figure.TokensPerSecond):
		return metric, u.scale, true
	case want == figure.TokenCount && u.dimension == figure.Count:
		return metric, u.scale, true
	}
	return metric, u.scale, u.dimension == want
}

func dimension(metric string) figure.Unit {
	switch {
	case metric == lexicon.Throughput:
		return figure.TokensPerSecond
	case isLatency(metric):
		return figure.Seconds
	}
	return figure.Lookup(metric).Unit
}

// isLatency reports whether less of the metric is better, and it has statistics.
func isLatency(metric string) bool { return figure.Metric(metric).IsLatency() }
