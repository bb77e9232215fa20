// Package lexicon has the words that people use for metrics, statistics, changes and settings of a load, in English
// and Chinese, and finds them in a text fast.
//
// The labels of tables (package grid) and the claims of prose (package ingest) mean the same by them. A Vocabulary is a
// list of terms; where two fit a place of a text, the earlier one counts, so that lists can be joined:
//
//	words := slices.Concat(lexicon.Metrics, lexicon.Counts).Find("Mean TTFT (ms)")
package lexicon

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
)

// A Term is an expression for words, without regard to case, and what they mean.
type Term struct {
	Expression
	Means string
}

// A Vocabulary is terms, of which the earlier ones hide the later.
type Vocabulary []Term

// A Word is a term in a text.
type Word struct {
	Start, End int
	Means      string
}

func term(text, means string) Term { return Term{Compile("(?i)" + text), means} }

// Throughput is what throughput means if nothing says of which tokens.
const Throughput = "throughput"

// Metrics are the names of metrics.
var Metrics = Vocabulary{
	term(`\bTPOT\b|time[- ]per[- ]output[- ]token|每\s*token\s*`+delay+`|非首\s*(?:token|字)\s*`+delay, "tpot"),
	term(`\bTTFT\b|time[- ]to[- ]first[- ]token|`+
		`首\s*个?\s*(?:token|字|词)\s*的?(?:平均)?(?:`+delay+`)?|首包`+delay, "ttft"),
	term(`\bITL\b|inter[- ]token[- ]lat(?:ency)?|token\s*间(?:时延|延迟|隔)`, "itl"),
	term(`\bICL\b|inter[- ]chunk[- ]latency`, "icl"),
	term(`\bE2EL?\b(?:\s+(?:request )?latency| lat\b)?|end[- ]to[- ]end(?:\s+(?:request )?latency)?`, "e2el"),
	term(`\breq(?:uest)? lat(?:ency)?\b|端到端(?:平均)?(?:`+delay+`)?`, "e2el"),
	term(requests+` `+throughput+`|\b(?:QPS|RPS)\b|`+requests+second+
		`|请求吞吐(?:量|率)?`, figure.RequestThroughput),
	term(`(?:total|overall) `+tokens+throughput+`|(?:total|tot) `+token+second+
		`|总(?:token)?\s*吞吐(?:量|率)?`, figure.TotalThroughput),
	term(`(?:input|prefill|prompt) `+tokens+throughput+`|`+throughput+` prefill|`+
		`(?:input|prefill|prompt) `+token+second+`|输入(?:token)?\s*吞吐(?:量|率)?`, figure.InputThroughput),
	term(`peak output `+tokens+throughput+`|峰值输出吞吐(?:量|率)?`, figure.PeakOutput),
	term(`(?:output|out|generation|gen|decode) `+tokens+throughput+`|`+throughput+` decode|`+
		`(?:output|out|generation|gen|generated|decode) `+token+second+`|`+
		`(?:(?:output|generation|decode) )?\bTPS\b|输出(?:token)?\s*吞吐(?:量|率)?`, figure.OutputThroughput),
	term(throughput+`|吞吐(?:量|率)?`, Throughput),
	term(`\bgoodput\b`, figure.Goodput),
	term(`(?:benchmark )?duration\b|time taken for tests`, figure.Duration),
	term(`(?:mean |average )?accept(?:ance|ed)? len(?:gth)?|(?:平均)?接受长度`, figure.AcceptLength),
}

// Counts are names of counts, which labels have and nobody claims.
var Counts = Vocabulary{
	term(`(?:failed|error) requests|error request count|失败请求数?`, figure.RequestsFailed),
	term(`(?:successful|succeed|success|completed) requests|request count|成功请求数?`, figure.RequestsOK),
	term(`total (?:num )?(?:input|prompt) tokens`, figure.InputTokens),
	term(`total (?:num )?(?:output|generated) tokens`, figure.OutputTokens),
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

// anyPercentile is what terms of percentiles mean: the word has the number.
const anyPercentile = "p"

// Statistics are the names of statistics.
var Statistics = Vocabulary{
	term(`\b(?:mean|avg|average)\b|平均值?|均值`, "mean"),
	term(`\b(?:median|mdn|t?p50)\b|中位数?`, "median"),
	term(`\bp\d{1,2}(?:\.\d{1,3})?\b|\btp(?:75|9\d)\b`, anyPercentile),
	term(`\b\d{1,2}(?:\.\d{1,3})?(?:(?:%|th) percentile| ?分位)`, anyPercentile),
	term(`\bmax(?:imum)?\b|最大值?`, "max"),
	term(`\bmin(?:imum)?\b|最小值?`, "min"),
	term(`\bstd(?:ev|dev)?\b|standard deviation|标准差`, "std"),
}

// Ordinals are percentiles in labels; in prose they count.
var Ordinals = Vocabulary{term(`\b\d{1,2}(?:\.\d{1,3})?th\b`, anyPercentile)}

// Loads are the names of settings of the load.
var Loads = Vocabulary{
	term(`\b(?:max(?:imum)?[- ]?|num(?:ber)?(?: of)? )?(?:request )?`+
		`(?:concurrenc(?:y|ies)|concurrent(?: requests| users)?|concur|conc)\b\.?|^\s*parallel\s*$|并发(?:数|量|度)?`, "concurrency"),
	term(`\b(?:traffic )?req(?:uest)?s?[- ]rate\b|\barrival rate\b|请求速率|请求率|发送速率|请求频率`, "rate"),
	term(`(?:\b(?:num(?:ber)?(?: of)?|total|n)|#) ?(?:prompts|req(?:uest)?s?)\b|(?:\bprocessed )?\bprompts\b|`+
		`请求总?数|样本数|总请求数`, "requests"),
	term(`\bisl\b|`+mean+`(?:random )?(?:input|prompt|context|in)`+length+`|`+
		`(?:average|avg) (?:input|prompt) tokens(?: per request)?|`+
		`^\s*(?:context|ctx|prompt|seq(?:uence)?)`+`[- ]?(?:len(?:gth)?|size|tokens)?\s*$|^inputtokens$|^\s*inputs?(?: tokens)?\s*$|输入(?:序列)?长度|输入\s*tokens?数?`, "input-length"),
	term(`\bosl\b|`+mean+`(?:random )?(?:output|generation|out)`+length+`|`+
		`(?:average|avg) output tokens(?: per request)?|`+
		`^outputtokens$|^\s*outputs?(?: tokens)?\s*$|输出(?:序列)?长度|输出\s*tokens?数?`, "output-length"),
	term(`\bbatch(?:[- ]?size)?\b|\bbs\b|批大小`, "batch-size"),
	term(`\bdatasets?\b|\bworkloads?\b|\bscenario\b|数据集|场景`, "workload"),
}

const (
	mean   = `\b(?:mean |average |avg )?`
	length = `[- ]?(?:seq(?:uence)?[- ]?)?len(?:gth)?s?\b`
)

// Arrows point where a change goes.
var Arrows = Vocabulary{
	term(`[⬇↓▼🔻↘]\x{FE0F}?`, "down"),
	term(`[⬆↑▲🔺↗]\x{FE0F}?`, "up"),
}

// Directions are words for where it goes: down, up, better or worse.
var Directions = Vocabulary{
	term(`\b(?:reduc\w*|decreas\w*|drop\w*|down|lower\w*|fell|shorte\w+|less|cuts?|cutting)\b|降低?|下降|减少?|减小|缩短`, "down"),
	term(`\b(?:speed[ -]?up|faster|improvement\w*|improv\w*|impr\b|better|gain\w*|uplift)\b|`+
		`提升|改善|加速|变快|快了|更快|优化(?:幅度|比例?|率)|收益`, "better"),
	term(`\b(?:slow\w*|regress\w*|degrad\w*|worse\w*)\b|劣化|恶化|变差|变慢|慢了|更慢|退化`, "worse"),
	term(`\b(?:increas\w*|rais\w*|rose|ris(?:es?|en|ing)|higher|up|grow\w*)\b|增加?|升高|上升|上涨|提高`, "up"),
}

// In is a quick no: without it, Find finds nothing. lower is the text's Lower.
func (v Vocabulary) In(text, lower string) bool {
	return slices.ContainsFunc(v, func(t Term) bool { return t.In(text, lower) })
}

// Find returns the words in a text, in its order. A percentile means its statistic: p99, or median for the 50th.
func (v Vocabulary) Find(text string) (all []Word) {
	lower := Lower(text)
	for _, t := range v {
		for _, m := range t.FindAll(text, lower) {
			overlaps := slices.ContainsFunc(all, func(o Word) bool { return m[0] < o.End && o.Start < m[1] })
			if m[0] == m[1] || overlaps {
				continue
			}
			w := Word{m[0], m[1], t.Means}
			if w.Means == anyPercentile {
				w.Means = Percentile(text[m[0]:m[1]])
			}
			all = append(all, w)
		}
	}
	slices.SortFunc(all, func(a, b Word) int { return a.Start - b.Start })
	return all
}

// Means returns the meanings of words, each once.
func Means(words []Word) (all []string) {
	for _, w := range words {
		if !slices.Contains(all, w.Means) {
			all = append(all, w.Means)
		}
	}
	return all
}

// Percentile is the statistic that a text has the number of: p99 for `P99`, `TP99` and `99th percentile`.
func Percentile(text string) string {
	p := strings.TrimFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if p == "50" {
		return "median"
	}
	return "p" + p
}

// Number reads a printed number, which may have commas and an exponent, and the value of its last digit.
func Number(text string) (value, step float64, ok bool) {
	text = strings.ReplaceAll(text, ",", "")
	value, err := strconv.ParseFloat(text, 64)
	digits, power := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		digits = text[:i]
		power, _ = strconv.Atoi(text[i+1:])
	}
	_, fraction, _ := strings.Cut(digits, ".")
	return value, math.Pow10(power - len(fraction)), err == nil
}
