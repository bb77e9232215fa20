package grid

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
)

// A Term is an expression for words that people use, without regard to case, and what they mean.
type Term struct{ Words, Means string }

// Throughput is what throughput means if nothing says of which tokens.
const Throughput = "throughput"

// Metrics are the names of metrics. Where two fit a place, the first counts.
var Metrics = []Term{
	{`\bTPOT\b|time[- ]per[- ]output[- ]token|每\s*token\s*` + delay + `|非首\s*(?:token|字)\s*` + delay, "tpot"},
	{`\bTTFT\b|time[- ]to[- ]first[- ]token|首\s*个?\s*(?:token|字|词)\s*的?(?:平均)?(?:` + delay + `)?|首包` + delay, "ttft"},
	{`\bITL\b|inter[- ]token[- ]lat(?:ency)?|token\s*间(?:时延|延迟|隔)`, "itl"},
	{`\bICL\b|inter[- ]chunk[- ]latency`, "icl"},
	{`\bE2EL?\b(?:\s+(?:request )?latency| lat\b)?|end[- ]to[- ]end(?:\s+(?:request )?latency)?`, "e2el"},
	{`\breq(?:uest)? lat(?:ency)?\b|端到端(?:平均)?(?:` + delay + `)?`, "e2el"},
	{requests + ` ` + throughput + `|\b(?:QPS|RPS)\b|` + requests + second +
		`|请求吞吐(?:量|率)?`, figure.RequestThroughput},
	{`(?:total|overall) ` + tokens + throughput + `|(?:total|tot) ` + token + second +
		`|总(?:token)?\s*吞吐(?:量|率)?`, figure.TotalThroughput},
	{`(?:input|prefill|prompt) ` + tokens + throughput + `|` + throughput + ` prefill|` +
		`(?:input|prefill|prompt) ` + token + second + `|输入(?:token)?\s*吞吐(?:量|率)?`, figure.InputThroughput},
	{`peak output ` + tokens + throughput + `|峰值输出吞吐(?:量|率)?`, figure.PeakOutput},
	{`(?:output|out|generation|gen|decode) ` + tokens + throughput + `|` + throughput + ` decode|` +
		`(?:output|out|generation|gen|generated|decode) ` + token + second + `|` +
		`(?:(?:output|generation|decode) )?\bTPS\b|输出(?:token)?\s*吞吐(?:量|率)?`, figure.OutputThroughput},
	{throughput + `|吞吐(?:量|率)?`, Throughput},
	{`\bgoodput\b`, figure.Goodput},
	{`(?:benchmark )?duration\b|time taken for tests`, figure.Duration},
	{`(?:mean |average )?accept(?:ance|ed)? len(?:gth)?|(?:平均)?接受长度`, figure.AcceptLength},
}

// Counts are names of counts, which labels have and nobody claims.
var Counts = []Term{
	{`(?:failed|error) requests|error request count|失败请求数?`, figure.RequestsFailed},
	{`(?:successful|succeed|success|completed) requests|request count|成功请求数?`, figure.RequestsOK},
	{`total (?:num )?(?:input|prompt) tokens`, figure.InputTokens},
	{`total (?:num )?(?:output|generated) tokens`, figure.OutputTokens},
}

// Parts of these expressions.
const (
	throughput = `(?:throughput|\btput\b)`
	tokens     = `(?:tokens? )?`
	token      = `tok(?:en)?s?`
	requests   = `\breq(?:uest)?s?`
	delay      = `(?:时延|延迟|延时|耗时|时间)`
	second     = `(?:/| per )s(?:ec(?:ond)?)?\b`
)

// Percentile is what a name of some percentile means.
const Percentile = "p"

// Statistics are the names of statistics.
var Statistics = []Term{
	{`\b(?:mean|avg|average)\b|平均值?|均值`, "mean"},
	{`\b(?:median|mdn|t?p50)\b|中位数?`, "median"},
	{`\bp\d{1,2}(?:\.\d{1,3})?\b|\btp(?:75|9\d)\b`, Percentile},
	{`\b\d{1,2}(?:\.\d{1,3})?(?:% percentile|th percentile|th\b| 分位|分位)`, Percentile},
	{`\bmax(?:imum)?\b|最大值?`, "max"},
	{`\bmin(?:imum)?\b|最小值?`, "min"},
	{`\bstd(?:ev|dev)?\b|standard deviation|标准差`, "std"},
}

// Loads are the names of settings of the load.
var Loads = []Term{
	{`\b(?:max(?:imum)?[- ]?|num(?:ber)?(?: of)? )?(?:request )?` +
		`(?:concurrenc(?:y|ies)|concurrent(?: requests| users)?|concur|conc)\b\.?|并发(?:数|量|度)?`, "concurrency"},
	{`\b(?:traffic )?req(?:uest)?s?[- ]rate\b|\barrival rate\b|请求速率|请求率|发送速率|请求频率`, "rate"},
	{`(?:\b(?:num(?:ber)?(?: of)?|total|n)|#) ?(?:prompts|req(?:uest)?s?)\b|(?:\bprocessed )?\bprompts\b|` +
		`请求总?数|样本数|总请求数`, "requests"},
	{`\bisl\b|` + mean + `(?:random )?(?:input|prompt|context|in)` + length + `|` +
		`(?:average|avg) (?:input|prompt) tokens(?: per request)?|` +
		`^inputtokens$|^\s*inputs?(?: tokens)?\s*$|输入(?:序列)?长度|输入\s*tokens?数?`, "input-length"},
	{`\bosl\b|` + mean + `(?:random )?(?:output|generation|out)` + length + `|` +
		`(?:average|avg) output tokens(?: per request)?|` +
		`^outputtokens$|^\s*outputs?(?: tokens)?\s*$|输出(?:序列)?长度|输出\s*tokens?数?`, "output-length"},
	{`\bbatch(?:[- ]?size)?\b|\bbs\b|批大小`, "batch-size"},
	{`\bdatasets?\b|\bworkloads?\b|\bscenario\b|数据集|场景`, "workload"},
}

const (
	mean   = `\b(?:mean |average |avg )?`
	length = `[- ]?(?:seq(?:uence)?[- ]?)?len(?:gth)?s?\b`
)

// Arrows are where a change goes.
var Arrows = []Term{
	{`[⬇↓▼🔻↘]\x{FE0F}?`, "down"},
	{`[⬆↑▲🔺↗]\x{FE0F}?`, "up"},
}

// Directions are the words for it: down, up, better or worse.
var Directions = []Term{
	{`\b(?:reduc\w*|decreas\w*|drop\w*|down|lower\w*|fell|shorte\w+|less|cut)\b|降低?|下降|减少?|减小|缩短`, "down"},
	{`\b(?:speed[ -]?up|faster|improvement\w*|improv\w*|impr\b|better|gain\w*|uplift)\b|` +
		`提升|改善|加速|变快|优化(?:幅度|比例?|率)|收益`, "better"},
	{`\b(?:slow\w*|regress\w*|degrad\w*|worse\w*)\b|劣化|恶化|变差|变慢|退化`, "worse"},
	{`\b(?:increas\w*|rais\w*|rose|higher|up|grow\w*)\b|增加?|升高|上升|上涨|提高`, "up"},
}

// A Word is a term in a text.
type Word struct {
	Start, End int
	Means      string
}

// A vocabulary is terms that can be found.
type vocabulary []struct {
	words expression
	means string
}

func compile(terms ...[]Term) (v vocabulary) {
	for _, t := range slices.Concat(terms...) {
		v = append(v, struct {
			words expression
			means string
		}{express(t.Words), t.Means})
	}
	return v
}

var (
	metricWords    = compile(Metrics, Counts)
	statisticWords = compile(Statistics)
	loadWords      = compile(Loads)
	directionWords = compile(Arrows, Directions)
)

// find are the words in a text, in its order; those of earlier terms hide the rest.
func (v vocabulary) find(text string) (all []Word) {
	lower := lowered(text)
	for _, t := range v {
		if !t.words.in(lower) {
			continue
		}
		for _, m := range t.words.FindAllStringIndex(text, -1) {
			overlaps := slices.ContainsFunc(all, func(o Word) bool { return m[0] < o.End && o.Start < m[1] })
			if m[0] < m[1] && !overlaps {
				all = append(all, Word{m[0], m[1], t.means})
			}
		}
	}
	slices.SortFunc(all, func(a, b Word) int { return a.Start - b.Start })
	return all
}

// means are the meanings of the words, each once.
func means(words []Word) (all []string) {
	for _, w := range words {
		if !slices.Contains(all, w.Means) {
			all = append(all, w.Means)
		}
	}
	return all
}

// spaced is an identifier as words, of the same length: mean_ttft_ms.
func spaced(text string) string { return strings.ReplaceAll(text, "_", " ") }

// Metric names the metric and the statistic of a label: ttft and p99 for `P99 TTFT (ms)`. The statistic is "" if the
// label states none.
func Metric(text string) (name, stat string, ok bool) {
	l := parse(text)
	if len(l.stats) > 0 {
		stat = l.stats[0]
	}
	return l.metric, stat, l.metric != "" && len(l.stats) < 2
}

// statistic is its name: p99 for `P99`, `TP99` and `99th percentile`.
func statistic(text, means string) string {
	if means != Percentile {
		return means
	}
	p := strings.TrimFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if p == "50" {
		return "median"
	}
	return "p" + p
}

// statistics are those that a text names, in its order.
func statistics(text string, words []Word) (all []string) {
	for _, w := range words {
		if s := statistic(text[w.Start:w.End], w.Means); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
