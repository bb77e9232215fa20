package report

import (
	"regexp"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestDefinitionsAreTranslated(t *testing.T) {
	w := newWords(compare.Comparison{}, Zh)
	for _, tool := range []string{"pitot", "vllm", "sglang", "guidellm", "aiperf", "inference-perf"} {
		for _, form := range []string{"", "2025-12"} {
			for _, figure := range []string{"ttft.mean", "tpot.mean", "itl.mean", "icl.mean", "e2el.mean", "peak.concurrency"} {
				d := metrics.DefinitionOf(tool, form, figure)
				if d.Words != "" && w.definition(d) == d.Words {
					t.Errorf("%s of %s has no Chinese: %q", figure, tool, d.Words)
				}
			}
		}
	}
}

// What other packages say in English has no English left but the field's terms.
func TestForeignPhrases(t *testing.T) {
	w := newWords(compare.Comparison{}, Zh)
	terms := regexp.MustCompile(`\b(TTFT|TPOT|ITL|E2EL|P99|chunk|token|random|req/s|ms|t|Welch)\b`)
	for said, want := range map[string]string{
		"random 256→64 tokens, 200 requests": "random 256→64 token、200 个请求",
		"Poisson 4 req/s":                    "泊松到达 4 req/s",
		"gamma (burstiness 0.5) 8 req/s":     "伽马到达（突发度 0.5）8 req/s",
		"constant 2.5 req/s":                 "匀速 2.5 req/s",
		"all at once":                        "一次性全部发出",
		"permutation of 4 and 5 runs":        "置换检验（4 次与 5 次运行）",
		"sign flips of 6 pairs":              "符号翻转检验（6 对运行）",
		"Welch, 3 and 4 runs":                "Welch t 检验（3 次与 4 次运行）",
		"Student, 3 and 3 runs":              "t 检验（3 次与 3 次运行）",
		"paired Student, 3 pairs, with the least noise there can be":                                      "配对 t 检验（3 对运行），噪声取其下限",
		"Student, with the noise of repeated runs (1 degree of freedom)":                                  "t 检验，噪声取自重复运行（自由度 1）",
		"Student, with the noise of repeated runs (2.5 degrees of freedom)":                               "t 检验，噪声取自重复运行（自由度 2.5）",
		"batch means within one run each, request by request, worth 120 independent requests":             "单次运行内的批均值法，逐请求配对，相当于 120 个独立请求",
		"requests left late: P99 12.0 ms, the limit is 10.0 ms":                                           "请求发送滞后：P99 12.0 ms，上限 10.0 ms",
		"3.5 % of the chunks are merged, read too late to be told apart: the percentiles of ITL are void": "3.5% 的 chunk 被合并读取，读取太晚而无法区分：ITL 分位数无效",
		"this process used 95 % of the one processor it could use":                                        "本进程占用了 95%：唯一可用的处理器",
		"the run has no end, so what the client used is not known":                                        "运行没有结束记录，客户端的资源占用未知",
		"6.7 %, in sample": "6.7 %，样本内",
		"not set":          "未设置",
	} {
		got := w.foreign(said)
		if got != want {
			t.Errorf("%q is %q, want %q", said, got, want)
		}
		if left := regexp.MustCompile(`[a-z]{2,}`).FindString(terms.ReplaceAllString(got, "")); left != "" {
			t.Errorf("%q is left in %q", left, got)
		}
	}
	if got := newWords(compare.Comparison{}, En).foreign("all at once"); got != "all at once" {
		t.Errorf("%q in English", got)
	}
}

// Arguments of remarks are lists in each language, and the titles that stand there.
func TestArgumentsOfRemarks(t *testing.T) {
	mean, output := metrics.QuantityOf("ttft.mean"), metrics.QuantityOf("throughput.output")
	for _, c := range []struct {
		remark compare.Remark
		en, zh string
	}{
		{
			compare.Remark{Kind: compare.RepeatedDiffer, Args: []any{"A", []compare.Spread{{Share: 0.0224, Figure: mean}, {Share: 0.013, Figure: output}}}},
			"repeated runs of A differ by 2.2 % in mean TTFT and 1.3 % in output throughput", "A 的重复运行之间相差：平均 TTFT 2.2%、输出吞吐 1.3%",
		},
		{
			compare.Remark{Kind: compare.BorrowedNoise, Args: []any{[]string{"A", "B"}, compare.Freedom(1)}},
			"for variants with one run (A and B), the noise is taken from the repeated runs, with 1 degree of freedom", "A、B 只运行了一次，噪声取自其他方案的重复运行（自由度 1）",
		},
		{
			compare.Remark{Kind: compare.LoadsApart, Args: []any{"A", "B", []compare.Gap{{Setting: "requests", One: "10", Other: "20"}}, "requests"}},
			"A and B share no load: they differ in requests (10, 20); --ignore requests puts them together", "A 与 B 的负载不同，没有放在一起比较：请求数 requests（10 与 20）；如仍要比较，可加 --ignore requests",
		},
		{
			compare.Remark{Kind: compare.DefinitionsApart, Args: []any{[]metrics.Quantity{mean, output}, []string{"pitot", "vllm"}}},
			"mean TTFT and output throughput are on rows of their own by the definitions of pitot and vllm, which do not mean the same",
			"平均 TTFT、输出吞吐在 pitot、vllm 中定义不同，分行列出，不能直接比较",
		},
		{
			compare.Remark{Kind: compare.InvalidRun, Args: []any{"r1", compare.Reasons{"the garbage collector paused the client for 12.0 ms"}}},
			"run r1 is invalid by its own verdict: the garbage collector paused the client for 12.0 ms", "运行 r1 自身判定为无效：垃圾回收使客户端停顿了 12.0 ms",
		},
		{compare.Remark{Kind: compare.BrokenRun, Args: []any{"r1", trace.Interrupted}}, "run r1 did not complete (interrupted)", "运行 r1 没有正常结束（被中断）"},
	} {
		if got := c.remark.String(); got != c.en {
			t.Errorf("got  %s\nwant %s", got, c.en)
		}
		if got := newWords(compare.Comparison{}, Zh).remark(c.remark, c.en); got != c.zh {
			t.Errorf("got  %s\nwant %s", got, c.zh)
		}
	}
}
