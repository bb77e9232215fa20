package report

import (
	"regexp"
	"strings"
)

// A rendering puts a phrase that others write in English into Chinese.
type rendering struct {
	english *regexp.Regexp
	chinese string
}

func renderings(pairs ...string) (all []rendering) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, rendering{regexp.MustCompile(pairs[i]), pairs[i+1]})
	}
	return all
}

// foreign is a phrase of another package in the language of the report: a load, a
// test, a reason. What is not known stays as it is.
func (w words) foreign(s string) string {
	if w.lang != Zh {
		return s
	}
	for _, r := range chinesePhrases {
		s = r.english.ReplaceAllString(s, r.chinese)
	}
	return handSpaced(s)
}

// handSpaced takes out blanks that Chinese does not have.
func handSpaced(s string) string {
	return hanSpace.ReplaceAllString(strings.NewReplacer("（ ", "（", " ）", "）", "） ", "）", "， ", "，", "： ", "：", "； ", "；").Replace(s), "$1$2")
}

// chinesePhrases are applied one after the other.
var chinesePhrases = renderings(
	// Loads.
	`(\d+) requests\b`, `$1 个请求`,
	`, (\d+ 个请求)`, `、$1`,
	`(\d) tokens\b`, `$1 token`,
	`\ball at once\b`, `一次性全部发出`,
	`\bPoisson ([\d.]+) req/s`, `泊松到达 $1 req/s`,
	`\bconstant ([\d.]+) req/s`, `匀速 $1 req/s`,
	`\bgamma \(burstiness ([\d.]+)\)`, `伽马到达（突发度 $1）`,

	// Tests and intervals.
	`^permutation of (\d+) and (\d+) runs$`, `置换检验（$1 次与 $2 次运行）`,
	`^sign flips of (\d+) pairs$`, `符号翻转检验（$1 对运行）`,
	`^paired Student, (\d+) pairs`, `配对 t 检验（$1 对运行）`,
	`^Student, (\d+) and (\d+) runs`, `t 检验（$1 次与 $2 次运行）`,
	`^Welch, (\d+) and (\d+) runs`, `Welch t 检验（$1 次与 $2 次运行）`,
	`^Student, with the noise of repeated runs \(([\d.]+) degrees? of freedom\)`, `t 检验，噪声取自重复运行（自由度 $1）`,
	`, with the least noise there can be`, `，噪声取其下限`,
	`^batch means within one run each`, `单次运行内的批均值法`,
	`, request by request`, `，逐请求配对`,
	`, worth ([\d.]+) independent requests`, `，相当于 $1 个独立请求`,

	// Reasons of a run's verdict.
	`^requests left late: P99 ([\d.]+) ms, the limit is ([\d.]+) ms$`, `请求发送滞后：P99 $1 ms，上限 $2 ms`,
	`^(\d+) 个请求 failed since `, `$1 个请求失败：`,
	`^([\d.e-]+) % of the chunks are merged`, `$1% 的 chunk 被合并读取`,
	`, read too late to be told apart: the percentiles of ITL are void$`, `，读取太晚而无法区分：ITL 分位数无效`,
	`, by a late client or a server that writes them so: their gaps of 0 may be the client's$`, `，可能是客户端读取滞后，也可能是服务端合并写出：其中为 0 的间隔可能由客户端造成`,
	`, read too late to be told apart: the percentiles of ITL are known within bounds$`, `，读取太晚而无法区分：ITL 分位数只知道上下界`,
	`^the percentiles of TTFT are known within bounds: .*`, `TTFT 分位数只知道上下界：部分回答的第一个 chunk 与下一个被一起读出`,
	`^the percentiles of TPOT are known within bounds: .*`, `TPOT 分位数只知道上下界：部分回答的首个或末个 chunk 与其他 chunk 被一起读出`,
	`^the wall clock was set during the run, by up to ([\d.e-]+) ms: TTFT and E2EL are void$`, `运行期间系统时钟被调整，最多 $1 ms：TTFT 和 E2EL 无效`,
	`^instants were taken in user space by a client that read late: P99 ([\d.e-]+) ms, the limit is ([\d.e-]+) ms: gaps contain its delay$`, `时间戳在用户态获取，而客户端读取滞后：P99 $1 ms，上限 $2 ms；token 间隔含有这一延迟`,
	`^instants were taken in user space by a client that used (\d+) % of a processor: .*`, `时间戳在用户态获取，而客户端占用了一个处理器的 $1%：token 间隔含有其延迟，大小未知`,
	`^this process and the engine in it used (\d+) % of `, `本进程（含内置引擎）占用了 $1%：`,
	`^this process used (\d+) % of `, `本进程占用了 $1%：`,
	`the one processor it could use$`, `唯一可用的处理器`,
	`：(\d+) processors$`, `：共 $1 个处理器`,
	`^the run has no end, so what the client used is not known$`, `运行没有结束记录，客户端的资源占用未知`,
	`^the garbage collector paused the client for ([\d.]+) ms$`, `垃圾回收使客户端停顿了 $1 ms`,

	// How far a profile is from what was measured.
	`, in sample\b`, `，样本内`, `, out of sample\b`, `，样本外`, `^illustrative$`, `仅作示意`,
	`^the engine's$`, `内置引擎自带`, `^the server's /`, `服务端的 /`,

	// Settings.
	`\bnot set\b`, `未设置`, `^unknown$`, `未知`, `^unlimited$`, `不限`, `^imported$`, `导入`, `^measured$`, `实测`, `^simulated$`, `仿真`, `^true$`, `是`, `^false$`, `否`, `^no limit$`, `不限`, `^none$`, `不限`,
)

// setting is what a setting is called: in Chinese with the name that --ignore knows.
func (w words) setting(name string) string {
	if zh := chineseSettings[name]; zh != "" && w.lang == Zh {
		return zh + " " + name
	}
	return name
}

var chineseSettings = map[string]string{
	"requests": "请求数", "rate": "请求速率", "ramp": "速率渐变", "arrival": "到达方式", "concurrency": "并发上限", "workload": "数据集",
	"input-length": "平均输入长度", "protocol": "接口", "stream": "流式输出", "model": "模型", "url": "服务地址", "server": "服务端", "seed": "随机种子",
	"kind": "运行方式", "tool": "测试工具", "pitot": "Pitot 版本", "client": "客户端", "host": "客户端主机", "os": "操作系统", "cpus": "处理器数",
	"profile": "仿真配置", "profile-text": "仿真配置内容", "tokenizer": "分词器", "input-len": "输入长度", "output-len": "输出长度",
}

// chineseDefinitions are the words of metrics' definitions.
var chineseDefinitions = map[string]string{
	// pitot
	"from the first byte sent to the first chunk with output":                    "从发出请求首字节到第一个含输出的 chunk",
	"(last output chunk - first) / (output tokens - 1), one value a request":     "（最后一个输出 chunk − 第一个）/（输出 token 数 − 1），每个请求一个值",
	"gaps between output chunks, of all requests in one sample":                  "相邻输出 chunk 的间隔，所有请求合并统计",
	"from the first byte sent to the end of the answer, its end marker included": "从发出请求首字节到回答结束（含结束标记）",
	"requests in flight at one instant, from released to done":                   "同一时刻在途的请求数，从发出到完成",
	// vllm
	"from the concurrency gate, connection included, to the first event with a choice":       "从通过并发限制（含建连）到第一个带 choice 的事件",
	"(last event - first) / (output tokens - 1), one value a request":                        "（最后一个事件 − 第一个）/（输出 token 数 − 1），每个请求一个值",
	"gaps between events, not tokens, of all requests in one sample":                         "相邻事件（不是 token）的间隔，所有请求合并统计",
	"from the concurrency gate to the last event with a choice":                              "从通过并发限制到最后一个带 choice 的事件",
	"events in a clock second; requests in flight at one instant":                            "吞吐按自然秒内的事件数，并发按同一时刻在途的请求数",
	"requests that are in flight at any time in a clock second, so more than at one instant": "按自然秒统计，该秒内任何时刻在途的请求都计入，因此多于同一时刻的并发",
	// sglang
	"from the concurrency gate, handshake included, to the first chunk with text":                                                "从通过并发限制（含握手）到第一个含文本的 chunk",
	"(end of the answer - first chunk) / (output tokens - 1); output tokens are those asked for where the stream does not count": "（回答结束 − 第一个 chunk）/（输出 token 数 − 1）；流中没有计数时取请求的输出长度",
	"gaps between chunks, divided over their tokens, of all requests in one sample":                                              "相邻 chunk 的间隔，按其 token 数均分，所有请求合并统计",
	"from the concurrency gate to the last line of the answer":                                                                   "从通过并发限制到回答的最后一行",
	"token events in a clock second; requests that touch one":                                                                    "吞吐按自然秒内的 token 事件数，并发按该秒内有过活动的请求数",
	// guidellm
	"from the request to its first token":                                      "从发出请求到首 token",
	"(last token - request) / tokens, weighed by tokens: it contains the TTFT": "（末 token − 发出请求）/ token 数，按 token 数加权：包含 TTFT",
	"(last token - first) / (tokens - 1), weighed by tokens less one":          "（末 token − 首 token）/（token 数 − 1），按 token 数减一加权",
	"from the request to the end of its answer":                                "从发出请求到回答结束",
	// aiperf
	"(last token - first) / (tokens - 1), one value a request: what others call TPOT": "（末 token − 首 token）/（token 数 − 1），每个请求一个值：即其他工具的 TPOT",
	"gaps between chunks: what others call ITL":                                       "相邻 chunk 的间隔：即其他工具的 ITL",
	"from the request to its last token":                                              "从发出请求到末 token",
	// inference-perf
	"(last token - first) / (tokens - 1), one value a request": "（末 token − 首 token）/（token 数 − 1），每个请求一个值",
	"gaps between tokens by its own tokenizer's count":         "按自带 tokenizer 计数的相邻 token 间隔",
}
