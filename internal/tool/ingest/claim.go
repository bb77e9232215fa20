package ingest

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A claim found in a line, from start to end of it.
type claim struct {
	trace.Claim
	start, end int
	named      bool // it names its metric, rather than go on with that of the clause before
}

// A mention is a word of a claim.
type mention struct {
	start, end int
	means      string
}

// A vocabulary is what words mean; the first that fits a place counts.
type vocabulary []entry

type entry struct {
	words expression
	means string
}

func word(text, means string) entry { return entry{compile(`(?i)` + text), means} }

// unitWords are the units in which values of a pair stand.
const unitWords = `ms|毫秒|µs|us|seconds|secs?|s|秒|tok(?:en)?s?/s(?:ec)?|req(?:uest)?s?/s(?:ec)?|tps|rps|qps`

// The names that people give to metrics, statistics and directions.
var (
	metricWords = vocabulary{
		word(`\bTTFT\b|time to first token|首\s*个?\s*(?:token|字)\s*的?(?:时延|延迟|耗时)?`, "ttft"),
		word(`\bTPOT\b|time per output token`, "tpot"),
		word(`\bITL\b|inter[- ]token latency`, "itl"),
		word(`\bICL\b`, "icl"),
		word(`\bE2EL?\b(?:\s+latency)?|end[- ]to[- ]end(?:\s+latency)?|端到端(?:时延|延迟|耗时)?`, "e2el"),
		word(`request throughput|\b(?:QPS|RPS)\b|请求吞吐(?:量|率)?`, figure.RequestThroughput),
		word(`(?:total|overall) (?:token )?throughput|总吞吐(?:量|率)?`, figure.TotalThroughput),
		word(`(?:input|prefill) (?:token )?throughput|输入吞吐(?:量|率)?`, figure.InputThroughput),
		word(`peak output (?:token )?throughput|峰值输出吞吐(?:量|率)?`, figure.PeakOutput),
		word(`(?:output|generation|decode) (?:token )?throughput|\bTPS\b|输出吞吐(?:量|率)?`, figure.OutputThroughput),
		word(`throughput|吞吐(?:量|率)?`, "throughput"),
		word(`\bgoodput\b`, figure.Goodput),
		word(`(?:benchmark )?duration\b`, figure.Duration),
		word(`accept(?:ance)? length|接受长度`, figure.AcceptLength),
	}
	statisticWords = vocabulary{
		word(`\b(?:mean|avg|average)\b|平均|均值`, "mean"),
		word(`\b(?:median|p50)\b|中位数?`, "median"),
		word(`\bp\d{1,2}(?:\.\d{1,3})?\b`, "p"),
		word(`\b\d{1,2}(?:\.\d{1,3})?(?:th percentile| 分位|分位)`, "p"),
		word(`\bmax(?:imum)?\b|最大`, "max"),
		word(`\bmin(?:imum)?\b|最小`, "min"),
	}
	arrows = vocabulary{
		word(`[⬇↓▼🔻↘]\x{FE0F}?`, "down"),
		word(`[⬆↑▲🔺↗]\x{FE0F}?`, "up"),
	}
	directions = vocabulary{
		word(`\b(?:reduc\w*|decreas\w*|drop\w*|down|lower\w*|fell|shorte\w+|less|cut)\b|降低?|下降|减少?|减小|缩短`, "down"),
		word(`\b(?:speed[ -]?up|faster|improv\w*|better|gain\w*)\b|提升|改善|加速|变快`, "better"),
		word(`\b(?:slow\w*|regress\w*|degrad\w*|worse\w*)\b|劣化|恶化|变差|变慢|退化`, "worse"),
		word(`\b(?:increas\w*|rais\w*|rose|ris(?:es?|en|ing)|higher|up|grow\w*)\b|增加?|升高|上升|上涨|提高`, "up"),
	}
	// optimized is the noun and the verb: it states a change right ahead of its amount.
	optimized = regexp.MustCompile(`优化[了约\s]*$`)
	// unclaimed are words of a clause that states a bound, a wish, somebody else's
	// figures, a share or nothing.
	unclaimed = compile(`(?i)noise|jitter|\bvarian?(?:ce|tion)|deviation|within|±|less than|(?:under|below) \d|at most|up to|\btarget\b|\bgoal|expect|should|\bwant|\bhope|\bif\b|could|would|might|\bpaper\b|\bnot?\b|n't\b|confidence|utili[sz]ation|usage|accept(?:ance)? rate|acceptance|接受率|hit rate|% (?:load|ci|of (?:all|the (?:requests|max|peak|time)))\b|[?？]|误差|波动|噪声|抖动|以内|不超过|最多|低于|小于|目标|预期|预计|希望|如果|是否|论文|方差|标准差|利用率|命中率|没有|未`)

	amount = compile(`(\d+(?:\.\d+)?)\s?(%|％|[x×](?:\W|$)|倍|times\s+(?:that|of|the|as|faster|higher|lower)\b)`)
	// pair is a value before and one after: `312 -> 250 ms`, `from 312 ms to 250 ms`, `由 312 降至 250 ms`.
	pair = regexp.MustCompile(`(?i)(from|从|由)?\s*[~约]?(\d[\d,]*(?:\.\d+)?)\s*(` + unitWords + `)?\s*(->|-->|=>|→|⇒|➜|to|到|降至|降到|降为|提升至|提升到|提高到|提升为|增至|减至|减少到|变为|至)\s*[~约]?(\d[\d,]*(?:\.\d+)?)\s*(` + unitWords + `)?`)
	// ofOriginal stands around a factor of the value before: it is no speed.
	ofOriginal = regexp.MustCompile(`(?i)(?:原来|之前|基线|优化前|修改前)的\s*$`)
	ofBefore   = regexp.MustCompile(`(?i)^\s*(?:that\s+)?(?:of\s+)?(?:the\s+|its\s+)?(?:original|baseline|previous|main|before)`)
	clause     = compile(`[;；。，、]|,\s|\.\s|\s(?:and|but|while|when|whereas)\s|以及|并且|但是?|而且?`)
	logged     = compile(`\b(?:INFO|WARNING|WARN|ERROR|DEBUG)\b`)
	// intoShare is what stands ahead of an amount that is what remains: `to 80%`.
	intoShare = regexp.MustCompile(`(?i)(?:\bto|至|到)(?:原来的|约|about|around|~|～|\s)*$`)
	// beside is what can stand between a metric and the factor of it.
	beside = regexp.MustCompile(`(?i)^(?:is|the|of|by|=|:|：|[\s|*(（+~～约])*$`)
)

// find are the mentions in a text, in its order; longer ones hide those inside.
func (v vocabulary) find(text string) (all []mention) {
	lower := lowered(text)
	for _, w := range v {
		if !w.words.in(text, lower) {
			continue
		}
		for _, m := range w.words.FindAllStringIndex(text, -1) {
			overlaps := slices.ContainsFunc(all, func(o mention) bool { return m[0] < o.end && o.start < m[1] })
			if !overlaps {
				all = append(all, mention{m[0], m[1], w.means})
			}
		}
	}
	slices.SortFunc(all, func(a, b mention) int { return a.start - b.start })
	return all
}

// Lines longer than this state nothing that could be told apart.
const longestClaim = 500

// canClaim is a quick no for most lines: one that states a change has an amount and
// a metric.
func canClaim(text string) bool {
	if len(text) > longestClaim || !hasAmount(text) && !hasPair(text) {
		return false
	}
	lower := lowered(text)
	known := func(e entry) bool { return e.words.in(text, lower) }
	return slices.ContainsFunc(metricWords, known) && !logged.finds(text, lower) && (amount.MatchString(text) || pair.MatchString(text))
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
	metric := ""
	start := 0
	var cuts [][]int
	if clause.in(text, "") {
		cuts = clause.FindAllStringIndex(text, -1)
	}
	for _, cut := range append(cuts, []int{len(text), len(text)}) {
		found, last := clauseClaims(text[start:cut[0]], metric)
		for _, c := range found {
			c.start, c.end = c.start+start, c.end+start
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
		start = cut[1]
	}
	return all
}

// trimClaim is a claim without the marks around it, and without brackets of which the other side is missing or the
// other end.
func trimClaim(text string) string {
	text = strings.Trim(text, " \t|*-•")
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

// clauseClaims are those of one clause; a metric that it does not name is that of
// the clause before. The last metric that it names comes back.
func clauseClaims(text, metric string) (all []claim, last string) {
	metrics := metricWords.find(text)
	if len(metrics) > 0 {
		last = metrics[len(metrics)-1].means
	}
	lower := lowered(text)
	if unclaimed.finds(text, lower) {
		return nil, last
	}
	if !hasAmount(text) {
		return pairClaims(text, metric, metrics), last
	}
	amounts := amount.FindAllStringSubmatchIndex(text, -1)
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
	return all, last
}

// repeats reports whether a claim says the change again that the pair before it gave, in percent.
func (c claim) repeats(pair trace.Claim) bool {
	return c.Metric == pair.Metric && !c.named && math.Abs(c.Change-pair.Change) <= c.Step+pair.Step
}

// pairClaims are the changes of a clause that gives values before and after.
func pairClaims(text, metric string, metrics []mention) (all []claim) {
	from := 0
	for _, m := range pair.FindAllStringSubmatchIndex(text, -1) {
		if c, ok := readPair(text, metric, metrics, m, from); ok {
			all = append(all, c)
		}
		from = m[1]
	}
	return all
}

func readPair(text, metric string, metrics []mention, m []int, from int) (claim, bool) {
	c := claim{start: m[4], end: m[1]}
	c.Text, c.Metric = trimClaim(text), metric
	best, named := nearest(metrics, m[0], m[1], from, len(text))
	if named {
		c.Metric, c.named = best.means, true
		c.cover(best)
	}
	hasUnit := m[6] >= 0 || m[12] >= 0
	adjacent := named && beside.MatchString(between(text, best, []int{m[4], m[11], m[10], m[11], m[10], m[11]}))
	isRange := strings.EqualFold(text[m[8]:m[9]], "to") && m[2] < 0 && len(directions.find(text)) == 0
	if c.Metric == "" || isRange || !hasUnit && !adjacent {
		return c, false
	}
	for _, s := range statisticWords.find(text) {
		if s.start >= from && s.end <= m[4] {
			c.Stat = statistic(text[s.start:s.end], s.means)
			c.cover(s)
		}
	}
	before, stepBefore := digits(text[m[4]:m[5]])
	after, stepAfter := digits(text[m[10]:m[11]])
	if before <= 0 || after <= 0 || before == after {
		return c, false
	}
	c.Change = after/before - 1
	c.Step = stepAfter/before + after*stepBefore/(before*before)
	return c, math.Abs(c.Change) < 100
}

// digits is a printed number, and the value of its last digit.
func digits(text string) (value, step float64) {
	text = strings.ReplaceAll(text, ",", "")
	_, fraction, _ := strings.Cut(text, ".")
	value, _ = strconv.ParseFloat(text, 64)
	return value, math.Pow10(-len(fraction))
}

// readClaim reads what belongs to one amount: what stands from one end of its
// surroundings to the other.
func readClaim(text, metric string, metrics []mention, a []int, from, to int) (claim, bool) {
	c := claim{start: a[0], end: a[1]}
	c.Text = trimClaim(text)
	c.Metric = metric
	m, named := nearest(metrics, a[0], a[1], 0, len(text))
	if named {
		c.Metric, c.named = m.means, true
		c.cover(m)
	}
	if c.Metric == "" {
		return c, false
	}
	for _, m := range statisticWords.find(text) {
		if m.start >= from && m.end <= a[0] {
			c.Stat = statistic(text[m.start:m.end], m.means)
			c.cover(m)
		}
	}
	way, ok := c.direction(text, a, from, to)
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

// between is what stands between a mention and an amount.
func between(text string, m mention, a []int) string {
	if m.end <= a[0] {
		return text[m.end:a[0]]
	}
	return text[a[5]:max(a[5], m.start)]
}

func isShare(unit string) bool { return strings.ContainsAny(unit, "%％") }

// nearest is the last mention ahead of a place, or else the first one behind it.
func nearest(all []mention, start, end, from, to int) (best mention, ok bool) {
	for _, m := range all {
		if m.start >= from && m.end <= start {
			best, ok = m, true
		}
	}
	for _, m := range all {
		if !ok && m.start >= end && m.end <= to {
			return m, true
		}
	}
	return best, ok
}

func (c *claim) cover(m mention) { c.start, c.end = min(c.start, m.start), max(c.end, m.end) }

// statistic is its name: p99 for `P99` and `99th percentile`.
func statistic(text, means string) string {
	if means != "p" {
		return means
	}
	return "p" + strings.TrimFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}

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
	for _, v := range []vocabulary{arrows, directions} {
		if m, ok := nearest(v.find(text), a[0], a[1], from, to); ok {
			c.cover(m)
			return m.means, true
		}
	}
	return "factor", !isShare(text[a[4]:a[5]])
}

// quantify sets the change. A factor is one of speed: of a latency it divides.
func (c *claim) quantify(number, unit, way string) bool {
	v, err := strconv.ParseFloat(number, 64)
	_, fraction, _ := strings.Cut(number, ".")
	if err != nil || len(number) > 12 {
		return false
	}
	c.Step = math.Pow10(-len(fraction))
	latency := !strings.Contains(c.Metric, "throughput") && !slices.Contains([]string{figure.Goodput, figure.AcceptLength, figure.PeakOutput}, c.Metric)
	if !isShare(unit) {
		return c.factor(v, way, latency)
	}
	c.Change, c.Step = v/100, c.Step/100
	if way == "down" || way == "better" && latency || way == "worse" && !latency {
		c.Change = -c.Change
	}
	return true
}

func (c *claim) factor(v float64, way string, latency bool) bool {
	switch {
	case v > 0 && way == "ratio":
		c.Change = v - 1
	case v <= 0 || way == "factor" && latency || way == "worse":
		return false // the direction is ambiguous
	case latency && way != "up", way == "down":
		c.Change, c.Step = 1/v-1, c.Step/(v*v)
	default:
		c.Change = v - 1
	}
	return true
}
