package comparison

import (
	"regexp"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/words"
	tools "github.com/pitot-bench/pitot/internal/tool/known"
)

// Every figure has a title in every language, and so has what any tool means by it.
func TestFiguresHaveWords(t *testing.T) {
	names := []string{"ttft.mean", "tpot.median", "itl.std", "icl.min", "e2el.max", "queue.p99", "e2el_queue.p90", "probe.p50", "peak.concurrency"}
	for _, q := range figure.All {
		names = append(names, q.Name)
	}
	known := func(l *words.Language, m plan.Message) bool {
		metric, ok := m.Args["metric"].(plan.Message)
		return l.Knows(m.Code) && (!ok || l.Knows(metric.Code))
	}
	for _, language := range words.Names() {
		l := words.In(language)
		for _, name := range names {
			if title := figure.Lookup(name).Title(); !known(l, title) {
				t.Errorf("%s has no words for %s", language, title.Key())
			}
		}
		for _, d := range append(tools.Rules(), metrics.PitotDefinitions()) {
			for _, says := range d.Descriptions {
				if !l.Knows(says) {
					t.Errorf("%s has no words for %s", language, says)
				}
			}
		}
	}
}

func TestTitles(t *testing.T) {
	for name, want := range map[string][2]string{
		"ttft.mean": {"mean TTFT", "平均 TTFT"}, "itl.p99.9": {"P99.9 ITL", "P99.9 ITL"}, "tpot.std": {"std TPOT", "TPOT 标准差"},
		"queue.median": {"median client queue time", "客户端排队时间中位数"}, "e2el_queue.p99": {"P99 E2EL with client queue", "P99 E2EL（含客户端排队）"},
		"duration": {"benchmark duration", "总耗时"}, "probe.p50": {"P50 probe E2EL", "P50 探测请求 E2EL"}, "of their own": {"of their own", "of their own"},
	} {
		for i, language := range []string{"en", "zh"} {
			w := NewPhrases(compare.Comparison{}, words.In(language))
			if got := w.Title(figure.Lookup(name)); got != want[i] {
				t.Errorf("%s is %q, want %q", name, got, want[i])
			}
		}
	}
}

// What is said in English has no English left in Chinese but the field's terms.
func TestPhrases(t *testing.T) {
	terms := regexp.MustCompile(`\b(TTFT|TPOT|ITL|E2EL|P99|chunk|token|random|req/s|ms|t|Welch)\b`)
	tokens := plan.Msg("load.tokens", "input", 256, "output", 64)
	for _, c := range []struct {
		said   plan.Message
		en, zh string
	}{
		{plan.Msg("load.of", "kind", "random", "parts", []plan.Message{tokens, plan.Msg("load.count", "requests", 200)}), "random 256→64 tokens, 200 requests", "random 256→64 token、200 个请求"},
		{plan.Msg("arrival.poisson", "rate", 4), "Poisson 4 req/s", "泊松到达 4 req/s"},
		{plan.Msg("arrival.gamma", "burstiness", 0.5, "rate", 8), "gamma (burstiness 0.5) 8 req/s", "伽马到达（突发度 0.5）8 req/s"},
		{plan.Msg("arrival.constant", "rate", 2.5), "constant 2.5 req/s", "匀速 2.5 req/s"},
		{plan.Msg("arrival.at-once"), "all at once", "一次性全部发出"},
		{plan.Msg("method.runs-and-permutation", "a", 4, "b", 5), "Student with a variance each, and permutation of 4 and 5 runs", "方差各自估计的 t 检验，以及置换检验（4 次与 5 次运行）"},
		{plan.Msg("method.signs", "pairs", 6), "sign flips of 6 pairs", "符号翻转检验（6 对运行）"},
		{plan.Msg("method.runs", "a", 3, "b", 3, "df", 2.6486), "Student, 3 and 3 runs with a variance each, 2.65 degrees of freedom", "t 检验（3 次与 3 次运行，方差各自估计，自由度 2.65）"},
		{plan.Msg("method.paired", "pairs", 3, "least", true), "paired Student, 3 pairs, with the least noise there can be", "配对 t 检验（3 对运行），噪声取其下限"},
		{plan.Msg("method.borrowed", "df", 1), "Student, with the noise of repeated runs (1 degree of freedom)", "t 检验，噪声取自重复运行（自由度 1）"},
		{plan.Msg("method.borrowed", "df", 2.5), "Student, with the noise of repeated runs (2.5 degrees of freedom)", "t 检验，噪声取自重复运行（自由度 2.5）"},
		{
			plan.Msg("method.batches", "paired", true, "worth", 120), "batch means within one run each, request by request, worth 120 independent requests",
			"单次运行内的批均值法，逐请求配对，相当于 120 个独立请求",
		},
		{plan.Msg("method.batches", "paired", false, "worth", 0), "batch means within one run each", "单次运行内的批均值法"},
		{plan.Msg("verdict.sent-late", "p99", 0.012, "limit", 0.01), "requests were sent late: P99 12.0 ms, the limit is 10.0 ms", "请求发送滞后：P99 12.0 ms，上限 10.0 ms"},
		{
			plan.Msg("verdict.itl-void", "share", 0.035), "3.5 % of the chunks are merged because the client read late: the percentiles of ITL are invalid",
			"3.5% 的 chunk 因客户端读取滞后而被合并：ITL 分位数无效",
		},
		{
			plan.Msg("verdict.processors-busy", "engine", false, "share", 0.95, "processors", 1), "this process used 95 % of the only processor available",
			"本进程占用了唯一可用的处理器的 95%",
		},
		{plan.Msg("verdict.no-end"), "the run has no end, so the resources that the client used are not known", "运行没有结束记录，客户端的资源占用未知"},
		{plan.Msg("value.unset"), "not set", "未设置"},
	} {
		if got := words.In("en").Say(c.said); got != c.en {
			t.Errorf("%q, want %q", got, c.en)
		}
		got := words.In("zh").Say(c.said)
		if got != c.zh {
			t.Errorf("%q, want %q", got, c.zh)
		}
		if left := regexp.MustCompile(`[a-z]{2,}`).FindString(terms.ReplaceAllString(got, "")); left != "" {
			t.Errorf("%q is left in %q", left, got)
		}
	}
}

// Arguments of notes are lists in each language, and the titles that stand there.
func TestArgumentsOfNotes(t *testing.T) {
	mean, output := figure.Lookup("ttft.mean"), figure.Lookup("throughput.output")
	spread := func(share float64, q figure.Figure) plan.Message {
		return plan.Msg("compare.spread", "share", share, "figure", q.Title())
	}
	for _, c := range []struct {
		note   plan.Message
		en, zh string
	}{
		{
			plan.Msg("compare.repeated-differ", "variant", "A", "spreads", []plan.Message{spread(0.0224, mean), spread(0.013, output)}),
			"repeated runs of A differ by 2.2 % in mean TTFT and 1.3 % in output throughput", "A 的重复运行之间相差：平均 TTFT 2.2%、输出吞吐 1.3%",
		},
		{
			plan.Msg("compare.borrowed-noise", "variants", []string{"A", "B"}, "df", 1),
			"for variants with one run (A and B), the noise is taken from the repeated runs, with 1 degree of freedom", "A、B 只运行了一次，噪声取自其他方案的重复运行（自由度 1）",
		},
		{
			plan.Msg("compare.loads-apart", "one", "A", "other", "B", "settings", "requests",
				"gaps", []plan.Message{plan.Msg("compare.gap", "setting", plan.Msg("setting.requests"), "one", "10", "other", "20")}),
			"A and B share no load: they differ in requests (10, 20); --ignore requests puts them together", "A 与 B 的负载不同，没有放在一起比较：请求数 requests（10 与 20）；如仍要比较，可加 --ignore requests",
		},
		{
			plan.Msg("compare.definitions-apart", "figures", figure.Titles([]figure.Figure{mean, output}), "definitions", []string{"pitot", "vllm"}),
			"mean TTFT and output throughput are on rows of their own by the definitions of pitot and vllm, which do not mean the same",
			"平均 TTFT、输出吞吐在 pitot、vllm 中定义不同，分行列出，不能直接比较",
		},
		{
			plan.Msg("compare.invalid-run", "run", "r1", "causes", []plan.Message{plan.Msg("verdict.collector-paused", "pause", 0.012)}),
			"run r1 is invalid by its own verdict: the garbage collector paused the client for 12.0 ms", "运行 r1 自身判定为无效：垃圾回收使客户端停顿了 12.0 ms",
		},
		{
			plan.Msg("compare.broken-run", "run", "r1", "status", plan.Msg(plan.Code("status."+string(trace.Interrupted)))),
			"run r1 did not complete (interrupted)", "运行 r1 没有正常结束（被中断）",
		},
	} {
		if got := words.In("en").Say(c.note); got != c.en {
			t.Errorf("got  %s\nwant %s", got, c.en)
		}
		if got := words.In("zh").Say(c.note); got != c.zh {
			t.Errorf("got  %s\nwant %s", got, c.zh)
		}
	}
}
