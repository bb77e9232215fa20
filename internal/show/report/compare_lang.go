package report

// A Lang is the language of a comparison.
type Lang string

// The languages. Terms of the field, such as TTFT, are the same in both.
const (
	En Lang = "en" // so is the empty one
	Zh Lang = "zh"
)

// vocabulary is every word and sentence of a comparison in one language. Verbs of
// format are numbered, since languages order things differently.
type vocabulary struct {
	percent       string // of a number with its sign
	comma, clause string // between items; between clauses
	stop          string // between sentences
	period        string // after what the rest is about
	colon         string // after what a line is about
	open, shut    string // brackets
	quoted        string
	span          string // from one value to another
	and           string // before the number of what a list leaves out
	rule          string // what a table's first column holds
	changeHead    string
	workload      string // one without a name, by its number
	empty         string
	alone         string
	withDoubt     string // a number of runs, and of doubtful and invalid ones among them
	runOne        string
	runMany       string
	tableOne      string
	tableMany     string
	fileOne       string
	fileMany      string
	each          string
	load          string // labels of lines
	baseline      string
	against       string
	variant       string // the only one
	differs       string
	inFlight      string // parts of a load
	inputEach     string
	requestsOf    string
	atRate        string
	unstreamed    string
	through       string
	ramped        string
	result        string
	alike         string
	hidden        string
	withAll       string // what a flag shows
	note          string
	claim         string
	figures       string
	gates         string
	marks         string
	better        string // verdicts
	worse         string
	changed       string
	same          string
	cannotTell    string
	ifNoise       string // a verdict that would follow from a noise that is not known
	apart         string
	borrowed      string
	lessThan      string // a verdict on a difference smaller than the margin
	moreOne       string
	moreMany      string
	moreThan      string
	nothingSaid   string // bottom lines
	onlyLarge     string
	withinNone    string
	withinSome    string
	neither       string
	betterOf      string
	worseOf       string
	betterNone    string
	worseIn       string
	worseNone     string
	changedIn     string
	sameIn        string
	cannotIn      string
	cannotAny     string
	wouldSettle   string
	oneSettles    string // one run
	alsoSettle    string
	incomparable  string
	fresh         string // what was 0
	markInterval  string // what marks mean
	markBetter    string
	markSmall     string
	markSame      string
	markCannot    string
	markMore      string
	markCorrected string
	markApart     string
	markIf        string
	markBorrowed  string
	definitions   string // whose they are
	place         string // of a claim
	placeIn       string
	stands        string // what became of a claim
	fails         string
	undecided     string
	metricOf      string // before its changes
	higherThan    string
	lowerThan     string
	equalTo       string
	notStated     string
	noFigure      string
	oneRunNothing string
	oneRunWithin  string
	claimSame     string
	claimUnknown  string
	claimOtherWay string
	claimTrue     string
	pass          string // gates
	fail          string
	inconclusive  string
	gateOf        string
	tooltip       string // what a change rests on
	corrected     string // a p-value
	htmlTitle     string
	htmlLang      string
}

var english = vocabulary{
	percent: "%s %%", comma: ", ", clause: ", ", stop: "; ", period: ": ", colon: ": ", open: " (", shut: ")", quoted: `"%s"`,
	span: "%[1]s to %[2]s", and: "%d more", rule: "figure", changeHead: "change",
	workload: "workload %d", empty: "nothing to compare",
	alone: "one variant: there is nothing to compare it with", withDoubt: "%[1]s, %[2]d of them not valid",
	runOne: "one run", runMany: "%d runs", tableOne: "one table", tableMany: "%d tables",
	fileOne: "one result file", fileMany: "%d result files", each: "%s each",

	inFlight: "at most %s in flight", inputEach: "%s input tokens each", requestsOf: "%s requests", atRate: "%s req/s", unstreamed: "not streamed", through: "%s API", ramped: "ramp",
	load: "load", baseline: "baseline", against: "against", variant: "variant", differs: "differs", result: "result",
	alike: "alike", hidden: "hidden", withAll: "%s (--all shows them)", note: "note", claim: "claim", figures: "figures", gates: "gates", marks: "marks",

	better: "better", worse: "worse", changed: "changed", same: "same", cannotTell: "?", apart: "apart", borrowed: "~", ifNoise: "if noise <%s", lessThan: "%s <%s",
	moreOne: "? +%d run", moreMany: "? +%d runs", moreThan: "? >%d runs",

	nothingSaid: "nothing can be said of any difference: %s, so how much runs vary is not known; repeat each run",
	onlyLarge:   "yet noise of %[1]s from run to run would not explain %[2]d of %[3]d",
	withinNone:  "%s: no figure differs by more than chance within the runs, and how much runs differ from each other is not known",
	withinSome:  "%[1]s: chance within the runs does not explain %[2]d of %[3]d changes (%[4]s), but how much runs differ from each other is not known",
	neither:     "none of %d figures better or worse",
	betterOf:    "better in %[1]d of %[2]d (%[3]s)", betterNone: "better in none",
	worseOf: "worse in %[1]d of %[2]d (%[3]s)",
	worseIn: "worse in %[1]d (%[2]s)", worseNone: "worse in none", changedIn: "changed in %[1]d (%[2]s)",
	sameIn: "no difference larger than %[2]s in %[1]d", cannotIn: "cannot tell in %d", cannotAny: "cannot tell in any of %d figures",
	oneSettles:  "%[1]d more run of each would settle %[2]s",
	wouldSettle: "%[1]d more runs of each would settle %[2]s", alsoSettle: "%[1]d more %[2]s",
	fresh:        "%[1]s %[2]s against %[3]s",
	incomparable: "no figure that the baseline has too",

	markInterval: "where the change lies, in %%, %s sure",
	markBetter:   "a difference that noise does not explain, at %s",
	markSmall:    "a difference that noise does not explain, and too small to be of interest (--margin)",
	markSame:     "no difference larger than %s", markCannot: "cannot tell",
	markMore:      "cannot tell; that many more runs of each would settle a change of the size seen",
	markCorrected: "the interval leaves out 0, but of so many figures one does so by chance: no verdict after the correction for their number",
	markIf:        "a difference if repeated runs vary by less than that (standard deviation), chance otherwise; nothing here tells by how much they do",
	markApart:     "more than chance within the two runs; no verdict, since how much runs differ from each other is not known",
	markBorrowed:  "by the noise of those runs of the workload that were repeated",

	definitions: "by %s's definitions",
	place:       "line %d", placeIn: "%[1]s, line %[2]d",
	stands: "stands", fails: "does not stand", undecided: "unproven",
	metricOf: "%[1]s of %[2]s is ", higherThan: "%[1]s higher than %[2]s", lowerThan: "%[1]s lower than %[2]s", equalTo: "the same as %[2]s",
	notStated: "none of that is the %s stated", noFigure: "the tables have no such figure",
	oneRunNothing: "single runs: nothing can be said of noise",
	oneRunWithin:  "single runs: how much runs differ from each other is not known",
	claimSame:     "no difference larger than %s", claimUnknown: "noise may be all of it",
	claimOtherWay: "a difference, but not the stated one", claimTrue: "a difference that noise does not explain",

	pass: "PASS", fail: "FAIL", inconclusive: "INCONCLUSIVE", gateOf: "%[1]s, %[2]s",
	corrected: "corrected p = %.2g", tooltip: "noise from run to run %s", htmlTitle: "Comparison", htmlLang: "en",
}

var chinese = vocabulary{
	percent: "%s%%", comma: "、", clause: "，", stop: "；", period: "。", colon: "：", open: "（", shut: "）", quoted: "“%s”",
	span: "%[1]s 至 %[2]s", and: "另有 %d 项", rule: "指标", changeHead: "变化",
	workload: "负载 %d", empty: "没有可比较的内容",
	alone: "只有一个方案，没有比较对象", withDoubt: "%[1]s，其中 %[2]d 次结果存疑或无效",
	runOne: "一次运行", runMany: "%d 次运行", tableOne: "一张结果表", tableMany: "%d 张结果表",
	fileOne: "一个结果文件", fileMany: "%d 个结果文件", each: "各%s",

	inFlight: "最多 %s 个并发", inputEach: "平均输入 %s token", requestsOf: "%s 个请求", atRate: "%s req/s", unstreamed: "非流式", through: "%s 接口", ramped: "速率渐变",
	load: "负载", baseline: "基线", against: "对比", variant: "方案", differs: "差异", result: "结论",
	alike: "相同", hidden: "未列", withAll: "%s（--all 可全部列出）", note: "说明", claim: "原文", figures: "口径", gates: "门禁", marks: "标记",

	better: "更优", worse: "更差", changed: "有变化", same: "持平", cannotTell: "?", apart: "运行内显著", borrowed: "~", ifNoise: "若噪声 <%s", lessThan: "%s <%s",
	moreOne: "? 再跑 %d 次", moreMany: "? 再跑 %d 次", moreThan: "? 超过 %d 次",

	nothingSaid: "任何差异都无法下结论：%s，运行之间的波动未知；请把每个方案重复运行几次",
	onlyLarge:   "不过 %[3]d 项中有 %[2]d 项，即使运行之间的波动达到 %[1]s 也难以解释",
	withinNone:  "%s：所有差异都没有超出单次运行内部的随机波动，而运行之间的波动未知",
	withinSome:  "%[1]s：%[3]d 项变化中有 %[2]d 项超出单次运行内部的随机波动（%[4]s），但运行之间的波动未知",
	neither:     "%d 项指标中未见更优或更差",
	betterOf:    "%[2]d 项中 %[1]d 项更优（%[3]s）", betterNone: "无一更优",
	worseOf: "%[2]d 项中 %[1]d 项更差（%[3]s）",
	worseIn: "%[1]d 项更差（%[2]s）", worseNone: "无一更差", changedIn: "%[1]d 项有变化（%[2]s）",
	sameIn: "%[1]d 项差异不超过 %[2]s", cannotIn: "%d 项无法判断", cannotAny: "%d 项指标都无法判断",
	oneSettles:  "各再运行 %[1]d 次可判定 %[2]s",
	wouldSettle: "各再运行 %[1]d 次可判定 %[2]s", alsoSettle: "%[1]d 次可判定 %[2]s",
	fresh:        "%[1]s %[2]s（基线 %[3]s）",
	incomparable: "没有与基线共有的指标",

	markInterval: "变化所在的区间（%%，置信水平 %s）",
	markBetter:   "差异超出噪声（置信水平 %s）",
	markSmall:    "差异超出噪声，但小到不必关注（--margin）",
	markSame:     "差异不超过 %s", markCannot: "无法判断",
	markMore:      "无法判断；两个方案各再运行这么多次，才能判定这种大小的差异",
	markCorrected: "区间虽不含 0，但指标多了总会有偶然如此的：按指标数校正后无法下结论",
	markIf:        "同一方案各次运行之间的波动（标准差）小于该值才算有差异，否则可能只是噪声；波动有多大，这里无从得知",
	markApart:     "差异超出两次运行内部的随机波动；运行之间的波动未知，因此不作结论",
	markBorrowed:  "噪声取自同一负载下有重复运行的方案",

	definitions: "按 %s 的定义",
	place:       "第 %d 行", placeIn: "%[1]s 第 %[2]d 行",
	stands: "成立", fails: "不成立", undecided: "未证实",
	metricOf: "「%[2]s」的 %[1]s ", higherThan: "比「%[2]s」高 %[1]s", lowerThan: "比「%[2]s」低 %[1]s", equalTo: "与「%[2]s」相同",
	notStated: "均不等于原文所述的 %s", noFigure: "结果表中没有这项指标",
	oneRunNothing: "均为单次运行，噪声大小无从得知",
	oneRunWithin:  "均为单次运行，运行之间的波动未知",
	claimSame:     "差异不超过 %s", claimUnknown: "差异可能全部来自噪声",
	claimOtherWay: "确有差异，但与原文所述不同", claimTrue: "差异超出噪声",

	pass: "通过", fail: "未通过", inconclusive: "无法判定", gateOf: "%[1]s，%[2]s",
	corrected: "校正后 p = %.2g", tooltip: "运行之间的噪声 %s", htmlTitle: "对比结果", htmlLang: "zh-CN",
}

// wordsOf is the vocabulary of a language, English of one that is not known.
func wordsOf(l Lang) vocabulary {
	if l == Zh {
		return chinese
	}
	return english
}

// chineseTitles are the names of quantities in Chinese.
var chineseTitles = map[string]string{
	"requests.ok":               "成功请求数",
	"requests.failed":           "失败请求数",
	"duration":                  "总耗时",
	"tokens.input":              "输入 token 数",
	"tokens.output":             "输出 token 数",
	"tokens.input_text":         "输入文本 token 数",
	"tokens.input_vision":       "输入图像 token 数",
	"tokens.output_retokenized": "输出 token 数（重新分词）",
	"throughput.requests":       "请求吞吐",
	"goodput":                   "达标请求吞吐（goodput）",
	"slo.attainment":            "全部目标达标的请求占比",
	"throughput.input":          "输入吞吐",
	"throughput.output":         "输出吞吐",
	"throughput.total":          "总吞吐",
	"peak.output":               "峰值输出吞吐",
	"peak.concurrency":          "峰值并发",
	"concurrency":               "平均并发",
	"accept_length":             "平均接受长度",
	"throughput.inputs":         "池化输入吞吐",
	"cache.hit_rate":            "前缀缓存命中率",
	"rtfx":                      "实时率倒数（RTFx）",

	"spec_decode.acceptance_rate":  "草稿 token 接受率",
	"diffusion.throughput":         "已提交 token 吞吐",
	"diffusion.committed_per_step": "每个去噪步提交的 token 数",
	"diffusion.steps_per_canvas":   "每个画布的去噪步数",
}

// chineseMetrics are the latencies that are not written as in English.
var chineseMetrics = map[string]string{"client queue time": "客户端排队时间", "E2EL with client queue": "E2EL（含客户端排队）", "probe E2EL": "探测请求 E2EL"}

// chineseStatistics are titles of statistics of a latency in Chinese; those of
// percentiles stay.
var chineseStatistics = map[string]string{
	"mean": "平均 %s", "median": "%s 中位数", "std": "%s 标准差", "min": "%s 最小值", "max": "%s 最大值",
}
