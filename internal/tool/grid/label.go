package grid

import (
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/tool/lexicon"
)

// A label is what the text of a head, or of the first cell of a row, says.
type label struct {
	text     string
	metric   string
	stats    []string // several if the cells have as many numbers
	unit     unit
	load     string    // the setting whose values stand in the column or the row
	pair     bool      // of input and output length
	settings []Setting // that it states with their values
	change   bool      // the cells are changes
	ratio    ratio     // they are ratios of two values
	way      string    // of the change
	foreign  bool      // it names something that is not read: a target, a rate per user
	latency  bool      // it names a latency, not known which
	rest     string    // what is left: a variant
	line     int       // where it stands, if not in the head
}

var (
	links    = lazy.Regexp(`!?\[([^\[\]]*)\]\([^()]*\)`)
	anyTag   = lazy.Regexp(`</?[a-zA-Z][^<>]*>`)
	emphasis = strings.NewReplacer(
		"**", "", "`", "", "~~", "", `\|`, "|", `\_`, "_", `\*`, "*", "\u00a0", " ")
	changes = lexicon.Compile(`(?i)\b(?:changes?|delta|diff(?:erence)?|improvements?|speed-?ups?|gain|uplift|` +
		`reduction|increase|regression|ratio|vs)\b|^[%％x×]$|Δ|提升|变化|降幅|增幅|收益|优化率|优化幅度|优化比例?|差异|` +
		`对比|加速比|增益|劣化|下降`)
	foreign = lexicon.Compile(`(?i)/ ?(?:user|gpu|npu|card|device|dollar|watt)s?\b|` +
		`\bper[- ](?:user|gpu|npu|card|device|stream)\b|\buser (?:throughput|tput)|(?:throughput|tput) user|` +
		`(?:^|[^-])\bspeed\b|\bslo\b|\bsla\b|\btarget|threshold|\blimit|\bgoals?\b|expected|\bpeak\b|\baudio|` +
		`\berr(?:or)?s?\b|\bbias\b|deviation|误差|偏差|(?:/|per )min|速度|单用户|单卡|每卡|目标|阈值|要求`)
	setting = lexicon.Compile(`(?i)(?:^|[^\w.])(max[- ]?concurrency|concurrency|concurrent|conc|c|并发数?|qps|rps|` +
		`(?:request )?rate|isl|osl|(?:input|output)[- ]?len(?:gth)?|bs|batch(?:[- ]?size)?)\s*(=|:|：| )\s*` +
		`(\d[\d.]*k?|inf)(?:$|[^\w.])`)
	counted = lexicon.Compile(`(?i)(\d+[kK]?)\s?(并发|输入|输出)`)
	lowIs   = lexicon.Compile(`(?i)\(?(?:lower|higher|smaller|larger|less|more)(?: is)? better\)?|` +
		`越[小大低高]越好|[⬇↓⬆↑]\x{FE0F}?`)
	latencies = lexicon.Compile(`(?i)\blat(?:ency)?\b|时延|延迟`)
	isNoise   = lazy.Regexp(`(?i)^(?:(?:the|of|for|and|per|in|time|times|latency|lat|tokens?|tok|requests?|reqs?|` +
		`value|val|results?|metrics?|stats?|percentiles?|e2e|end|to|tests?|num|number|total|avg|server|user|` +
		`output|input|excl\.?|1st|数值|结果|值|时延|延迟|耗时|时间|指标|性能|[-/:：,，.|()（）\[\]*+@#=]+)\s*)*$`)
	statisticNoise = lazy.Regexp(`(?i)^(?:values?|percentiles?|stat(?:istic)?s?|分位数?|[-:：.()\s])*$`)
	// emptied are brackets, and vacant a separator, of which what they held is taken out.
	emptied = lazy.Regexp(`[(\[（【]\s*[)\]）】]`)
	vacant  = lazy.Regexp(`\s+([/,，|])(?:\s+[/,，|])+\s+`)
	// indexed is the index of a configuration behind an identifier.
	indexed = lazy.Regexp(`\[\d+\]$`)
)

// The words of labels.
var (
	metricWords    = slices.Concat(lexicon.Metrics, lexicon.Counts)
	statisticWords = slices.Concat(lexicon.Statistics, lexicon.Ordinals)
	directionWords = slices.Concat(lexicon.Arrows, lexicon.Directions)
)

// clean is the text of a cell without its markup.
func clean(text string) string {
	if strings.ContainsAny(text, "<[&") {
		text = links.ReplaceAllString(text, "$1")
		text = html.UnescapeString(anyTag.ReplaceAllString(text, " "))
	}
	return strings.TrimSpace(emphasis.Replace(text))
}

func clip(text string) string {
	if len(text) <= longestCell {
		return text
	}
	end := longestCell
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

func parse(text string) label {
	l := label{text: clean(text)}
	if len(l.text) > longestCell/2 {
		return label{text: clip(l.text), rest: clip(l.text)}
	}
	l.text = indexed.ReplaceAllString(l.text, "")
	t := spaced(l.text)
	lower := lexicon.Lower(t)
	if lowIs.In(t, lower) {
		t = lowIs.ReplaceAllStringFunc(t, func(s string) string { return strings.Repeat(" ", len(s)) })
		lower = lexicon.Lower(t)
	}
	l.foreign = foreign.Finds(t, lower)
	l.change = changes.Finds(t, lower)
	blank := blanker{text: t}
	var start, end int
	l.unit, start, end = findUnit(t)
	l.names(t, &blank, start, end)
	l.latency = latencies.Finds(t, lower)
	l.statistics(&blank)
	if l.metric == figure.PeakOutput || l.metric == figure.RequestsFailed || slices.Contains(l.stats, "std") {
		l.foreign = false
	}
	blank.out(start, end)
	l.readSettings(t, lower, &blank)
	if words := directionWords.Find(t); len(words) > 0 {
		l.way = words[0].Means
	}
	l.ratio = ratioOf(blank.text)
	l.change = l.change || l.ratio != notRatio
	l.rest = trimRest(underscored(blank.text, l.text))
	if len(l.settings) > 0 {
		l.rest = trimRest(vacant.ReplaceAllString(emptied.ReplaceAllString(l.rest, " "), " $1 "))
	}
	if l.metric != "" || l.load != "" || l.change {
		l.rest = trimRest(emptied.ReplaceAllString(l.rest, " "))
		if isNoise.MatchString(l.rest) {
			l.rest = ""
		}
	}
	return l
}

// underscored has the underscores again that names are spelled with.
func underscored(text, was string) string {
	b := []byte(text)
	for i := 1; i+1 < len(b); i++ {
		if was[i] == '_' && b[i-1] != ' ' && b[i+1] != ' ' {
			b[i] = '_'
		}
	}
	return string(b)
}

// trimRest is what is left of a label without the marks around it.
func trimRest(text string) string {
	text = strings.Trim(strings.Join(strings.Fields(text), " "), " \t-–—_/:：,，.|@#=*")
	for _, pair := range []string{"()", "（）", "[]", "【】"} {
		opening, _ := utf8.DecodeRuneInString(pair)
		closing, _ := utf8.DecodeLastRuneInString(pair)
		if inner, ok := strings.CutPrefix(text, string(opening)); ok && strings.HasSuffix(inner, string(closing)) {
			return strings.Trim(inner[:len(inner)-utf8.RuneLen(closing)], " ,，")
		}
		if strings.Count(text, string(opening)) != strings.Count(text, string(closing)) {
			text = strings.Trim(text, pair+" ")
		}
	}
	return text
}

// names finds the metric or the setting of the load. A unit that is a metric's name too is one only where nothing
// else is.
func (l *label) names(t string, blank *blanker, start, end int) {
	words, other := metricWords.Find(t), lexicon.Loads.Find(t)
	inUnit := func(w lexicon.Word) bool { return w.Start >= start && w.End <= end }
	if len(other) > 0 || slices.ContainsFunc(words, func(w lexicon.Word) bool { return !inUnit(w) }) {
		words = slices.DeleteFunc(words, inUnit)
	}
	found := lexicon.Means(words)
	if len(found) > 1 {
		found = slices.DeleteFunc(found, func(m string) bool { return m == lexicon.Throughput })
	}
	for _, w := range words {
		blank.out(w.Start, w.End)
	}
	if len(found) > 0 {
		l.metric = found[0]
		l.foreign = l.foreign || len(found) > 1
		return
	}
	if found = lexicon.Means(other); len(found) == 0 {
		if l.unit.dimension == figure.TokensPerSecond {
			l.metric = lexicon.Throughput
		}
		return
	}
	l.load, l.pair = found[0], slices.Equal(found, []string{"input-length", "output-length"})
	if len(found) > 1 && !l.pair {
		l.load = ""
		return
	}
	for _, w := range other {
		blank.out(w.Start, w.End)
	}
}

var exactPercent = lazy.Regexp(`^(\d{1,2}(?:\.\d{1,3})?)%$`)

func (l *label) statistics(blank *blanker) {
	words := statisticWords.Find(blank.text)
	l.stats = lexicon.Means(words)
	for _, w := range words {
		blank.out(w.Start, w.End)
	}
	if m := exactPercent.FindStringSubmatch(strings.TrimSpace(l.text)); m != nil && m[1] != "0" {
		l.stats, blank.text, l.unit, l.change = []string{lexicon.Percentile(m[1])}, "", unit{}, false
	}
}

// canonical are the settings by their short names.
var canonical = map[string]string{
	"c": "concurrency", "并发": "concurrency", "qps": "rate", "rps": "rate", "rate": "rate", "request rate": "rate",
	"isl": "input-length", "输入": "input-length", "osl": "output-length", "输出": "output-length", "bs": "batch-size",
}

func settingName(word string) string {
	word = strings.ToLower(word)
	switch {
	case canonical[word] != "":
		return canonical[word]
	case strings.Contains(word, "conc"), strings.HasPrefix(word, "并发"):
		return "concurrency"
	case strings.HasPrefix(word, "batch"):
		return "batch-size"
	case strings.HasPrefix(word, "input"):
		return "input-length"
	}
	return "output-length"
}

// readSettings takes settings with their values: `c=16`.
func (l *label) readSettings(text, lower string, blank *blanker) {
	if !strings.ContainsAny(text, "0123456789") && !strings.Contains(lower, "inf") {
		return
	}
	for _, m := range setting.FindAll(text, lower) {
		if word := strings.ToLower(text[m[2]:m[3]]); word == "c" && text[m[4]:m[5]] == " " {
			continue
		}
		l.settings = append(l.settings, Setting{settingName(text[m[2]:m[3]]), text[m[6]:m[7]]})
		blank.out(m[2], m[7])
	}
	for _, m := range counted.FindAll(text, lower) {
		l.settings = append(l.settings, Setting{canonical[text[m[4]:m[5]]], text[m[2]:m[3]]})
		blank.out(m[0], m[1])
	}
	if len(l.settings) > 0 {
		l.load = ""
		isRate := slices.ContainsFunc(l.settings, func(s Setting) bool { return s.Name == "rate" })
		if isRate && l.metric == figure.RequestThroughput {
			l.metric = ""
		}
	}
}

// Settings are those of the load that a text states with their values: `batch 16`.
func Settings(text string) []Setting {
	var l label
	l.readSettings(text, lexicon.Lower(text), &blanker{text: text})
	return l.settings
}

// OnlySettings are those of a text that says nothing else.
func OnlySettings(text string) []Setting {
	if l := parse(text); l.rest == "" && l.metric == "" {
		return l.settings
	}
	return nil
}

// statOnly reports whether the label is nothing but a statistic.
func (l label) statOnly() bool {
	named := l.metric != "" || l.load != "" || l.change || l.latency
	return !named && len(l.stats) == 1 && statisticNoise.MatchString(l.rest)
}

// spaced is an identifier as words, of the same length: mean_ttft_ms.
func spaced(text string) string { return strings.ReplaceAll(text, "_", " ") }

// A blanker is a text whose words are taken out one after the other.
type blanker struct{ text string }

func (b *blanker) out(start, end int) {
	if start < end && end <= len(b.text) {
		b.text = b.text[:start] + strings.Repeat(" ", end-start) + b.text[end:]
	}
}
