package ingest

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/tool/grid"
	"github.com/pitot-bench/pitot/internal/tool/lexicon"
)

// A claim found in a line, from start to end of it.
type claim struct {
	trace.Claim
	start, end int
	named      bool // it names its metric, rather than go on with that of the clause before
}

// unitWords are the units in which values of a pair stand.
const unitWords = `ms|毫秒|µs|us|seconds|secs?|s|秒|tok(?:en)?s?/s(?:ec)?|req(?:uest)?s?/s(?:ec)?|tps|rps|qps`

var (
	rateUnit     = lazy.Regexp(`(?i)(?:/| per )s|^[tqr]ps$`)
	behindNumber = lazy.Regexp(`(?:^|[^\pL\d.,])\d[\d.,]*[kK]?\s*$`)
	// optimized are words that state a change right ahead of its amount only.
	optimized = lazy.Regexp(`(?:优化|快)[了约\s]*$`)
	// bareAmount is a clause that goes on with the change of the one before: `and by 8 % at concurrency 64`.
	bareAmount = lazy.Regexp(`(?i)^\s*(?:by\s+|to\s+)?(?:about |around |roughly |[~≈约])?\s*\d`)
	// unclaimed are words of a clause that states a bound, a wish, somebody else's
	// figures, a share or nothing.
	unclaimed = lexicon.Compile(`(?i)noise|jitter|\bvarian?(?:ce|tion)|deviation|within|±|less than|(?:under|below) \d|at most|up to|\btarget\b|\bgoal|expect|should|\bwant|\bhope|\bif\b|could|would|might|\bpaper\b|\bnot?\b|n't\b|confidence|\bSL[OA]s?\b|accepta|tolera|\berror\b|utili[sz]ation|usage|接受率|hit rate|% (?:load|ci|of (?:all|the (?:requests|max|peak|time)))\b|[?？]|误差|波动|噪声|抖动|以内|不超过|不到|不足|最多|低于|小于|目标|预期|预计|希望|如果|是否|论文|方差|标准差|利用率|命中率|没有|未`)

	amount = lexicon.Compile(`(\d+(?:\.\d+)?)\s?(%|％|[x×](?:\W|$)|倍|times\s+(?:that|of|the|as|faster|slower|higher|lower|longer)\b)`)
	// pair is a value before and one after: `312 -> 250 ms`, `from 312 ms to 250 ms`, `由 312 降至 250 ms`.
	pair = lazy.Regexp(`(?i)(from|从|由)?\s*[~约]?(\d[\d,]*(?:\.\d+)?)\s*(` + unitWords + `)?\s*(->|-->|=>|→|⇒|➜|to|到|降至|降到|降为|提升至|提升到|提高到|提升为|增至|减至|减少到|变为|至)\s*[~约]?(\d[\d,]*(?:\.\d+)?)\s*(` + unitWords + `)?`)
	// ofOriginal stands around a factor of the value before: it is no speed.
	ofOriginal = lazy.Regexp(`(?i)(?:原来|之前|基线|优化前|修改前)的\s*$`)
	ofBefore   = lazy.Regexp(`(?i)^\s*(?:that\s+)?(?:of\s+)?(?:the\s+|its\s+)?(?:original|baseline|previous|main|before)`)
	clause     = lexicon.Compile(`[;；。，、]|,\s|\.\s|\s(?:and|but|while|when|whereas)\s|以及|并且|但是?|而且?`)
	logged     = lexicon.Compile(`\b(?:INFO|WARNING|WARN|ERROR|DEBUG)\b`)
	// intoShare is what stands ahead of an amount that is what remains: `to 80%`.
	intoShare = lazy.Regexp(`(?i)(?:\bto|至|到)(?:原来的|约|about|around|~|～|\s)*$`)
	// faster is the comparison of two things, and gap how far two are apart.
	faster = lexicon.Compile(`(?i)\b(?:faster|slower) than\b`)
	gap    = lexicon.Compile(`(?i)\b(?:gap|difference|discrepancy|differs? by)\b|差距|相差|差异|差了`)
	// beside is what can stand between a metric and the factor of it.
	beside = lazy.Regexp(`(?i)^(?:is|the|of|by|=|:|：|[\s|*(（+~～约\x60])*$`)
)

// Lines longer than this state nothing that could be told apart.
const longestClaim = 500

// canClaim is a quick no for most lines: one that states a change has an amount and
// a metric.
func canClaim(text string) bool {
	if len(text) > longestClaim {
		return false
	}
	lower, amounts := lexicon.Lower(text), hasAmount(text)
	switch {
	case amounts && faster.Finds(text, lower):
	case !lexicon.Metrics.In(text, lower):
		return false
	}
	return (amounts && amount.MatchString(text) || hasPair(text) && pair.MatchString(text) || canDiffer(text, lower)) &&
		!logged.Finds(text, lower)
}

// hasAmount reports whether a unit of changes stands behind a digit.
func hasAmount(text string) bool {
	for _, unit := range []string{"%", "％", "x", "×", "倍"} {
		for rest := text; ; {
			before, after, ok := strings.Cut(rest, unit)
			if !ok {
				break
			}
			before = strings.TrimRight(before, " \t")
			if before != "" && before[len(before)-1] >= '0' && before[len(before)-1] <= '9' {
				return true
			}
			rest = after
		}
	}
	return false
}

// hasPair is a quick no for lines without a word or an arrow between two numbers.
func hasPair(text string) bool {
	for _, arrow := range []string{"->", "→", "=>", "⇒", "➜", " to ", "到", "至", "为"} {
		if strings.Contains(text, arrow) {
			return true
		}
	}
	return false
}

// claimsIn are the changes of metrics that a line states.
func claimsIn(text string) (all []claim) {
	if !canClaim(text) {
		return nil
	}
	metric, way := "", "" // of the clause before
	start := 0
	for _, cut := range append(clause.FindAll(text, ""), []int{len(text), len(text)}) {
		part, ahead := text[start:cut[0]], ""
		if unclaimed.Finds(part, lexicon.Lower(part)) {
			metric, way, start = "", "", cut[1]
			continue
		}
		words := lexicon.Directions.Find(part)
		if way != "" && len(words) == 0 && bareAmount.MatchString(part) {
			ahead = way + " "
		}
		found, last := clauseClaims(ahead+part, metric)
		for _, c := range found {
			if ahead != "" {
				c.Text = trimClaim(part)
			}
			c.start, c.end = max(0, c.start-len(ahead))+start, c.end-len(ahead)+start
			if open, closed, ok := enclosing(text, c.start, c.end); ok {
				c.Text = trimClaim(text[open:closed])
			}
			if sentence := trimClaim(text); sentence != c.Text {
				c.Sentence = sentence
			}
			if n := len(all) - 1; n >= 0 && c.repeats(all[n].Claim) {
				continue
			}
			all = append(all, c)
		}
		if last != "" {
			metric = last
		}
		if len(words) > 0 || ahead == "" {
			if way = ""; len(found) > 0 && len(words) > 0 {
				way = part[words[len(words)-1].Start:words[len(words)-1].End]
			}
		}
		start = cut[1]
	}
	return all
}

// trimClaim is a claim without the marks around it, and without brackets of which the other side is missing or the
// other end.
func trimClaim(text string) string {
	text = strings.Trim(emphasis.Replace(text), " \t|*-•")
	for _, pair := range []string{"()", "（）", "[]", "【】"} {
		r := []rune(pair)
		opened, closed := strings.HasPrefix(text, string(r[0])), strings.HasSuffix(text, string(r[1]))
		switch within := strings.Count(text, string(r[0])) - strings.Count(text, string(r[1])); {
		case opened && closed && within == 0, opened && within > 0:
			text = strings.TrimPrefix(text, string(r[0]))
			if within == 0 {
				text = strings.TrimSuffix(text, string(r[1]))
			}
		case closed && within < 0:
			text = strings.TrimSuffix(text, string(r[1]))
		}
	}
	return strings.Trim(text, " \t|*-•")
}

// metricsIn are the metrics that a clause names. The unit of a number is none: it may be of the load, as in `at 8 req/s`.
func metricsIn(text string) []lexicon.Word {
	return slices.DeleteFunc(lexicon.Metrics.Find(text), func(w lexicon.Word) bool {
		return rateUnit.MatchString(text[w.Start:w.End]) && behindNumber.MatchString(text[:w.Start])
	})
}

// clauseClaims are those of one clause; a metric that it does not name is that of
// the clause before. The last metric that it names comes back.
func clauseClaims(text, metric string) (all []claim, last string) {
	metrics := metricsIn(text)
	if len(metrics) > 0 {
		last = metrics[len(metrics)-1].Means
	}
	lower := lexicon.Lower(text)
	if len(metrics) == 0 && metric == "" && faster.Finds(text, lower) {
		metric = trace.AnySpeed
	}
	amounts := amount.FindAll(text, lower)
	from := 0
	for i, a := range amounts {
		to := len(text)
		if i+1 < len(amounts) {
			to = amounts[i+1][0]
		}
		if c, ok := readClaim(text, metric, metrics, a, from, to); ok {
			all = append(all, c)
		}
		from = a[1]
	}
	if all == nil {
		all = pairClaims(text, metric, metrics)
	}
	for _, c := range differenceClaims(text, metric, metrics) {
		if !slices.ContainsFunc(all, func(o claim) bool { return o.Metric == c.Metric }) {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b claim) int { return a.start - b.start })
	return all, last
}

// repeats reports whether a claim says the change again that the pair before it gave, in percent.
func (c claim) repeats(pair trace.Claim) bool {
	return c.Metric == pair.Metric && !c.named && c.Delta == 0 && pair.Delta == 0 && math.Abs(c.Change-pair.Change) <= c.Step+pair.Step
}

// pairClaims are the changes of a clause that gives values before and after.
func pairClaims(text, metric string, metrics []lexicon.Word) (all []claim) {
	from := 0
	for _, m := range pair.FindAllStringSubmatchIndex(text, -1) {
		if c, ok := readPair(text, metric, metrics, m, from); ok {
			all = append(all, c)
		}
		from = m[1]
	}
	return all
}

func readPair(text, metric string, metrics []lexicon.Word, m []int, from int) (claim, bool) {
	c := claim{start: m[4], end: m[1]}
	c.Text, c.Metric = trimClaim(text), metric
	best, named := nearest(metrics, m[0], m[1], from, len(text))
	if named {
		c.Metric, c.named = best.Means, true
		c.cover(best)
	}
	hasUnit := m[6] >= 0 || m[12] >= 0
	adjacent := named && beside.MatchString(between(text, best, []int{m[4], m[11], m[10], m[11], m[10], m[11]}))
	isRange := strings.EqualFold(text[m[8]:m[9]], "to") && m[2] < 0 && len(lexicon.Directions.Find(text)) == 0
	if c.Metric == "" || isRange || !hasUnit && !adjacent {
		return c, false
	}
	c.readStatistic(text, from, m[4])
	before, stepBefore, _ := lexicon.Number(text[m[4]:m[5]])
	after, stepAfter, _ := lexicon.Number(text[m[10]:m[11]])
	if before <= 0 || after <= 0 || before == after {
		return c, false
	}
	c.Change = after/before - 1
	c.Step = stepAfter/before + after*stepBefore/(before*before)
	return c, math.Abs(c.Change) < 100
}

// readClaim reads what belongs to one amount: what stands from one end of its
// surroundings to the other.
func readClaim(text, metric string, metrics []lexicon.Word, a []int, from, to int) (claim, bool) {
	c := claim{start: a[0], end: a[1]}
	c.Text = trimClaim(text)
	c.Metric = metric
	m, named := nearest(metrics, a[0], a[1], 0, len(text))
	if named {
		c.Metric, c.named = m.Means, true
		c.cover(m)
	}
	if c.Metric == "" {
		return c, false
	}
	c.readStatistic(text, from, a[0])
	way, ok := c.direction(text, a, from, to)
	if !ok && named && isShare(text[a[4]:a[5]]) && gap.Find(text[from:to]) != nil {
		way, ok, c.Unsigned = "gap", true, true
	}
	if way == "factor" {
		ok = ok && named && beside.MatchString(between(text, m, a))
	}
	if !ok {
		return c, false
	}
	if !c.quantify(text[a[2]:a[3]], text[a[4]:a[5]], way) {
		return c, false
	}
	if isShare(text[a[4]:a[5]]) && intoShare.MatchString(text[from:a[0]]) {
		c.Change = math.Abs(c.Change) - 1 // what remains
	}
	return c, true
}

// between is what stands between a lexicon.Word and an amount.
func between(text string, m lexicon.Word, a []int) string {
	if m.End <= a[0] {
		return text[m.End:a[0]]
	}
	return text[a[5]:max(a[5], m.Start)]
}

func isShare(unit string) bool { return strings.ContainsAny(unit, "%％") }

// nearest is the last lexicon.Word ahead of a place, or else the first one behind it.
func nearest(all []lexicon.Word, start, end, from, to int) (best lexicon.Word, ok bool) {
	for _, m := range all {
		if m.Start >= from && m.End <= start {
			best, ok = m, true
		}
	}
	for _, m := range all {
		if !ok && m.Start >= end && m.End <= to {
			return m, true
		}
	}
	return best, ok
}

// readStatistic takes the last statistic between two places of a text.
func (c *claim) readStatistic(text string, from, to int) {
	for _, s := range lexicon.Statistics.Find(text) {
		average := strings.HasSuffix(lexicon.Lower(text[:s.Start]), "on ") // of the runs
		if s.Start >= from && s.End <= to && !average {
			c.Stat = s.Means
			c.cover(s)
		}
	}
}

func (c *claim) cover(m lexicon.Word) { c.start, c.end = min(c.start, m.Start), max(c.end, m.End) }

// direction is where an amount points: up, down, better or worse; by its sign, an
// arrow, or a word.
func (c *claim) direction(text string, a []int, from, to int) (way string, ok bool) {
	before, width := utf8.DecodeLastRuneInString(text[:a[0]])
	ahead, _ := utf8.DecodeLastRuneInString(text[:a[0]-width])
	attached := ahead < '0' || ahead > '9' // else it is a range
	switch {
	case strings.ContainsRune("-−－", before) && attached && text[:a[0]] != "":
		c.start = min(c.start, a[0]-width)
		return "down", true
	case strings.ContainsRune("+＋", before) && attached:
		c.start = min(c.start, a[0]-width)
		return "up", true
	case strings.ContainsRune("~～", before) && attached:
	case strings.ContainsRune("-−－–~～.<>≤≥", before):
		return "", false
	}
	if !isShare(text[a[4]:a[5]]) && (ofOriginal.MatchString(text[from:a[0]]) || ofBefore.MatchString(text[a[5]:to])) {
		return "ratio", true
	}
	if optimized.MatchString(text[from:a[0]]) {
		return "better", true
	}
	for _, v := range []lexicon.Vocabulary{lexicon.Arrows, lexicon.Directions} {
		if m, ok := nearest(v.Find(text), a[0], a[1], from, to); ok {
			c.cover(m)
			return m.Means, true
		}
	}
	return "factor", !isShare(text[a[4]:a[5]])
}

// quantify sets the change. A factor is one of speed: of a latency it divides.
func (c *claim) quantify(number, unit, way string) bool {
	v, step, ok := lexicon.Number(number)
	if !ok || len(number) > 12 {
		return false
	}
	c.Step = step
	latency := !strings.Contains(c.Metric, "throughput") && !slices.Contains([]string{figure.Goodput, figure.AcceptLength, figure.PeakOutput, trace.AnySpeed}, c.Metric)
	if !isShare(unit) {
		return c.factor(v, way, latency)
	}
	c.Change, c.Step = v/100, c.Step/100
	if way == "better" && latency && v >= 100 { // a gain of speed: no latency falls by more than all of it
		return c.factor(1+c.Change, way, latency)
	}
	if way == "down" || way == "better" && latency || way == "worse" && !latency {
		c.Change = -c.Change
	}
	return true
}

func (c *claim) factor(v float64, way string, latency bool) bool {
	switch {
	case v > 0 && way == "ratio":
		c.Change = v - 1
	case v <= 0 || way == "factor" && latency:
		return false // the direction is ambiguous
	case latency && way != "up" && way != "worse", way == "down", way == "worse" && !latency:
		c.Change, c.Step = 1/v-1, c.Step/(v*v)
	default:
		c.Change = v - 1
	}
	return true
}

// An item of a list that ends with a colon names what those below it are about.
type item struct {
	indent int
	text   string
}

// enterItem keeps an item of a list that others may stand below.
func (r *textReader) enterItem(text string) {
	if t := strings.TrimSpace(text); len(r.items) < mostMarks && len(t) < longestClaim && strings.HasSuffix(strings.TrimRight(t, "*"), ":") {
		r.items = append(r.items, item{indentOf(text), unlisted(t)})
	}
}

func indentOf(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }

// locate notes of a claim the items of a list that it stands below, and the settings of the load that its clause names,
// or else its sentence.
func (r *textReader) locate(c *trace.Claim) {
	sentence := cmp.Or(c.Sentence, c.Text)
	for _, above := range slices.Backward(r.items) {
		sentence = above.text + " " + sentence
	}
	if sentence != c.Text {
		c.Sentence = sentence
	}
	for _, text := range []string{c.Text, sentence} {
		several := map[string]bool{}
		for _, s := range grid.Settings(text) {
			if c.Load == nil {
				c.Load = map[string]string{}
			}
			if v, ok := c.Load[s.Name]; ok && v != s.Value {
				several[s.Name] = true
			}
			c.Load[s.Name] = s.Value
		}
		maps.DeleteFunc(c.Load, func(name, _ string) bool { return several[name] })
		if len(c.Load) > 0 {
			return
		}
	}
	c.Load = nil
}
