package note

import "github.com/pitot-bench/pitot/internal/show/report"

// phrases are the words of a note in a language. Verbs of format are numbered where
// languages order things differently.
type phrases struct {
	// Headings.
	conclusion, next, environment, commands, comparison, plots, results, method string

	comma, stop, colon, end, gap string // between items, between clauses, after what a line is about, of a sentence, between sentences
	open, shut                   string // brackets
	workload                     string // one without a name, by its number
	runNumber                    string // a run among several of a variant
	more                         string // what a list leaves out

	// Verdicts.
	nothing, alone, incomparable, against, each                                                      string
	betterIn, worseIn, changedIn, sameIn, unknownIn                                                  string
	settle, noBasis, withinBasis, withinNone, apart, borrowed, noise, nothingFound, settling, advise string
	claims, invalid, doubtful, simulated, interrupted, residue                                       string

	// Environment.
	model, server, embedded, virtual, client, cpus, tokenizer, source, period string
	table, summary, undated, recorded                                         string
	sharedSettings, around                                                    string

	// Plots.
	dotsCaption, bareDots, ttftCaption, itlCaption, outputCaption string
	timelineCaption, timelineEvery, timelineFirst                 string
	severalRuns                                                   string

	// Method.
	level, tests, noTests, definitions, plotRules string
}

// phrasesOf are those of a language, English of one that is not known.
func phrasesOf(l report.Lang) phrases {
	if l == report.Zh {
		return chinese
	}
	return english
}

var english = phrases{
	conclusion: "Verdict", next: "What would settle it", environment: "Environment", commands: "Commands", comparison: "Comparison",
	plots: "Plots", results: "Results", method: "Method",

	comma: ", ", stop: "; ", colon: ": ", end: ".", gap: " ", open: " (", shut: ")",
	workload: "Workload %d", runNumber: "run %[1]d of %[2]d", more: "%d more",

	nothing:      "There is nothing to compare.",
	alone:        "There is one variant, %s, and nothing to compare it with.",
	incomparable: "it has no figure that the baseline has too",
	against:      "Compared with **%[1]s** (%[2]s):", each: "%s each",
	betterIn: "**Better**: %s.", worseIn: "**Worse**: %s.", changedIn: "**Changed**: %s.",
	sameIn: "**No difference larger than %[1]s**: %[2]s.", unknownIn: "**Cannot tell**: %s.",
	settle: "%[2]s %[1]d", settling: "more runs of each that would settle changes of that size: ",
	noBasis:      "No run was repeated and there are no records of requests, so how large the noise is nobody can say. **Whether any of these differences is real cannot be told.**",
	withinBasis:  "Each was run once. What follows holds for these two runs; how much runs differ from each other is not known, so **there is no verdict**.",
	withinNone:   "no difference beyond the chance within the runs",
	apart:        "beyond the chance within the runs: %s",
	nothingFound: "**No difference is certain to be more than noise.**", noise: "Noise from run to run (relative standard deviation): %s.",
	borrowed:    "For variants that were not repeated it is taken from the others.",
	advise:      "Run each variant %d times or more, in turns, and compare again: then the noise from run to run is known.",
	claims:      "What the author states:",
	invalid:     "**Not to be relied on**: %[1]s is invalid%[2]s",
	doubtful:    "With caution: %[1]s is doubtful%[2]s",
	simulated:   "Simulated, so no server was measured: %s.",
	interrupted: "Ended early: %s.",
	residue:     "The variants differ in other settings too, which may be what made the difference: %s.",

	model: "model", server: "server", embedded: "Pitot's engine", virtual: "simulated in virtual time", client: "client",
	cpus: "%d CPUs", tokenizer: "tokenizer", source: "source", period: "time",
	table: "result tables", summary: "result files", undated: "result files with the timing of each request", recorded: "result files with every request",
	sharedSettings: "Settings that all runs share (%d)", around: "Found beside the tables",

	dotsCaption: "Change of each figure against %[1]s. The arrow says which way is good. A line is the interval at %[2]s, a full dot has a verdict, a hollow one has none; the grey band is ±%[3]s.",
	bareDots:    "Change of each figure against %[1]s. The arrow says which way is good. There are no intervals, since no run was repeated; the grey band is ±%[2]s.",

	ttftCaption: "Share of requests whose first token came within the time. Further left is faster; the axis gives the tail room.",

	itlCaption: "Share of gaps between tokens that took no longer than the time. Further left is faster; the axis gives the tail room.",

	outputCaption: "Output tokens per second, in windows of %s s.",

	timelineCaption: "Each line is a request of %s.", timelineEvery: "One in %d is shown.", timelineFirst: "The first run is shown.",

	severalRuns: "One line for each run: how far lines of one colour are apart is the noise from run to run.",

	level:       "Intervals are at %[1]s; p values are corrected over the metrics of a workload. Differences below %[2]s are of no interest.",
	tests:       "What changes rest on: %s.",
	noTests:     "No test was made: without repeated runs there is nothing to test with.",
	definitions: "Figures by the definitions of %s.",
	plotRules:   "Plots of records are by Pitot's definitions.",
}

var chinese = phrases{
	conclusion: "结论", next: "下一步", environment: "环境", commands: "命令", comparison: "对比", plots: "图", results: "结果", method: "方法",

	comma: "、", stop: "；", colon: "：", end: "。", gap: "", open: "（", shut: "）",
	workload: "负载 %d", runNumber: "第 %[1]d 次，共 %[2]d 次", more: "另有 %d 项",

	nothing:      "没有可比较的内容。",
	alone:        "只有一个方案 %s，没有比较对象。",
	incomparable: "没有与基线共有的指标",
	against:      "以 **%[1]s** 为基线（%[2]s）：", each: "均为%s",
	betterIn: "**更优**：%s。", worseIn: "**更差**：%s。", changedIn: "**有变化**：%s。",
	sameIn: "**差异不超过 %[1]s**：%[2]s。", unknownIn: "**无法判断**：%s。",
	settle: "%[2]s %[1]d 次", settling: "各再运行以下次数可判定：",
	noBasis:      "没有重复运行，也没有逐请求数据，噪声大小未知。**下列差异是方案带来的，还是噪声，无法判断。**",
	withinBasis:  "每个方案只运行了一次。以下只针对这几次运行；运行之间的波动未知，**因此不下结论**。",
	withinNone:   "没有超出运行内部随机波动的差异",
	apart:        "超出运行内部的随机波动：%s",
	nothingFound: "**没有一项差异能确认超出噪声。**", noise: "运行之间的噪声（相对标准差）：%s。",
	borrowed:    "未重复的方案，其噪声取自其他方案的重复运行。",
	advise:      "各方案交替运行，每个至少 %d 次，测出运行之间的噪声，再作对比。",
	claims:      "原文中的说法：",
	invalid:     "**不可采信**（结果无效）：%[1]s%[2]s",
	doubtful:    "需谨慎（结果存疑）：%[1]s%[2]s",
	simulated:   "仿真结果，未测量真实服务：%s。",
	interrupted: "提前结束的运行：%s。",
	residue:     "各方案还有其他设置不同，差异也可能来自这些设置：%s。",

	model: "模型", server: "服务端", embedded: "Pitot 内置引擎", virtual: "虚拟时间仿真", client: "客户端",
	cpus: "%d 核", tokenizer: "tokenizer", source: "来源", period: "时间",
	table: "结果表", summary: "结果文件", undated: "含每个请求耗时的结果文件", recorded: "含逐请求数据的结果文件",
	sharedSettings: "所有运行一致的参数（%d 项）", around: "结果表旁的环境记录",

	dotsCaption: "各指标相对 %[1]s 的变化。箭头表示该指标的优化方向；横线为 %[2]s 置信区间；实心点已有结论，空心点没有；灰色区域为 ±%[3]s。",
	bareDots:    "各指标相对 %[1]s 的变化。箭头表示该指标的优化方向；没有重复运行，所以没有区间；灰色区域为 ±%[2]s。",

	ttftCaption: "TTFT 不超过横轴时间的请求占比。曲线越靠左越快；纵轴放大了尾部。",

	itlCaption: "ITL 不超过横轴时间的间隔占比。曲线越靠左越快；纵轴放大了尾部。",

	outputCaption: "每秒输出 token 数，窗口 %s s。",

	timelineCaption: "每条横线是 %s 的一个请求。", timelineEvery: "每 %d 个请求画一个。", timelineFirst: "只画第一次运行。",

	severalRuns: "每次运行一条线：同色线之间的差距就是运行之间的噪声。",

	level:       "区间的置信水平为 %[1]s，p 值按负载内的指标数做了多重比较校正；小于 %[2]s 的差异不予关注。",
	tests:       "判断依据：%s。",
	noTests:     "没有重复运行，未做检验。",
	definitions: "指标按 %s 的定义计算。",
	plotRules:   "由逐请求数据画的图按 Pitot 的定义。",
}
