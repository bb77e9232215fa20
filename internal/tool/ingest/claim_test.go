package ingest

import (
	"fmt"
	"strings"
	"testing"
)

func TestClaims(t *testing.T) {
	for text, want := range map[string]string{
		"Mean TTFT 3.34% ⬇️":                                       "ttft mean -0.0334±0.0001",
		"**x：** (TTFT ⬇️ 3.44%)":                                   "ttft  -0.0344±0.0001",
		"TTFT -3.4%":                                               "ttft  -0.034±0.001",
		"TTFT−3%":                                                  "ttft  -0.03±0.01",
		"throughput +5 %":                                          "throughput  +0.05±0.01",
		"P99 ITL 降低 12%":                                           "itl p99 -0.12±0.01",
		"P99.9 ITL 降低了12%":                                         "itl p99.9 -0.12±0.01",
		"吞吐提升 5.2%":                                                "throughput  +0.052±0.001",
		"首 token 时延提升 5%":                                          "ttft  -0.05±0.01",
		"median TPOT reduced by 3%":                                "tpot median -0.03±0.01",
		"ITL ↑ 2%":                                                 "itl  +0.02±0.01",
		"TTFT 1.25x faster":                                        "ttft  -0.2±0.0064",
		"output throughput 1.5x":                                   "throughput.output  +0.5±0.1",
		"3.4% lower TTFT and 5% higher throughput":                 "ttft  -0.034±0.001; throughput  +0.05±0.01",
		"TTFT: mean -3%, p99 -5%":                                  "ttft mean -0.03±0.01; ttft p99 -0.05±0.01",
		"TTFT ⬇️3% TPOT ⬆️2%":                                      "ttft  -0.03±0.01; tpot  +0.02±0.01",
		"平均 TTFT 下降 13.5%，总吞吐提升 2%":                                "ttft mean -0.135±0.001; throughput.total  +0.02±0.01",
		"| TTFT (ms) | 945 | 817 | -13.5% |":                       "ttft  -0.135±0.001",
		"Mean TTFT improved from 945.18 to 817.56 ms (13.5%)":      "ttft mean -0.135±0.001",
		"variant B: E2E latency 2% slower":                         "e2el  +0.02±0.01",
		"QPS 增加 7%":                                                "throughput.requests  +0.07±0.01",
		"throughput is 3% worse":                                   "throughput  -0.03±0.01",
		"TTFT 312 -> 250 ms":                                       "ttft  -0.1987±0.005773",
		"P99 TTFT goes down from 718.52 ms to 574.82 ms, i.e. 20%": "ttft p99 -0.2±2.505e-05",
		"output throughput 由 1,200 提升至 1,500 tok/s":                "throughput.output  +0.25±0.001875",
		"吞吐是原来的 1.25 倍":                                            "throughput  +0.25±0.01",
		"平均 TTFT 是原来的 0.8 倍":                                       "ttft mean -0.2±0.1",
		"No change in accuracy (93.4% vs 93.5%), but output throughput rises by 25%": "throughput.output  +0.25±0.01",
		"TTFT at concurrency 1 -> 16": "",
		"TTFT is 300 to 400 ms":       "",
		"3 % noise":                   "",
		"TTFT within 3 % noise":       "",
		"TTFT varies by ±3%":          "",
		"TTFT 3-5%":                   "",
		"TTFT 3.34%":                  "",
		"TTFT did not drop by 3%":     "",
		"目标：TTFT 降低 10%":              "",
		"KV cache usage down 3%":      "",
		"TTFT 1.2x":                   "",
		"GPU -3%":                     "",
		"INFO Avg throughput: 12.3 tokens/s, usage: -3.4%":      "",
		"latency benchmark 3% down":                             "",
		"TTFT 下降不超过 5%":                                         "",
		"about 100% of the prompts; TTFT in ms":                 "",
		"temperature 0.7, throughput in tok/s, 99% of requests": "",
	} {
		var got []string
		for _, c := range claimsIn(text) {
			got = append(got, fmt.Sprintf("%s %s %+.4g±%.4g", c.Metric, c.Stat, c.Change, c.Step))
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%s: %q, want %q", text, s, want)
		}
	}
}

func TestHeadingsAreNames(t *testing.T) {
	for text, want := range map[string]string{
		"优化前：": "优化前",
		"**用 seq_lens cpu cache：** (TTFT ⬇️ 3.44%)": "用 seq_lens cpu cache",
		"cu cache (TTFT ⬇️ 3.44% vs base)":          "cu cache",
		"fused rope: TTFT -3.4%":                    "fused rope",
		"`--enforce-eager` **on**":                  "--enforce-eager on",
		"TTFT -3.4%":                                "TTFT -3.4%",
		"tp=8 (16k)":                                "tp=8 (16k)",
		"a - TTFT -3%, TPOT +2%":                    "a",
	} {
		if got := cleanHeading(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// Claims in the words of many authors, and words that state no change.
func TestWordsOfClaims(t *testing.T) {
	for text, want := range map[string]string{
		"TTFT 优化 3.4%":                          "ttft -0.034",
		"TTFT优化了约3.4%":                          "ttft -0.034",
		"TTFT improves by ~3.4%":                "ttft -0.034",
		"Gains: TTFT 3.4%":                      "ttft -0.034",
		"Throughput gain: 12%":                  "throughput +0.12",
		"TTFT 缩短至原来的 80%":                       "ttft -0.2",
		"TTFT reduced to about 80%":             "ttft -0.2",
		"吞吐提升 5.2%，但是 TPOT 劣化了 1.2%":            "throughput +0.052, tpot +0.012",
		"2x the throughput":                     "throughput +1",
		"throughput is 1.5x":                    "throughput +0.5",
		"TTFT at 8 QPS is 20% lower":            "ttft -0.2",
		"mean TTFT, 10 requests/s: -3%":         "ttft -0.03",
		"throughput 12 -> 15 req/s, +25%":       "throughput +0.25",
		"output tok/s +5%":                      "throughput.output +0.05",
		"the 4th run: TTFT 收益 3%":               "ttft -0.03",
		"200 requests/s | -0.007 %":             "",
		"Throughput test on 8x H100":            "",
		"2x A100 throughput test":               "",
		"We want TTFT to drop by 20%":           "",
		"if TTFT drops by 20% we stop":          "",
		"could TTFT be reduced by 20%?":         "",
		"TTFT 是否能降低 20%？":                       "",
		"如果 TTFT 降低 20% 就停":                     "",
		"The paper: 3x throughput":              "",
		"TTFT improves by up to 20%":            "",
		"with 95% confidence TTFT is lower":     "",
		"throughput at 80% load dropped":        "",
		"gpu-memory-utilization 90% TTFT lower": "",
		"TTFT 的方差降低 30%":                        "",
		"cache hit rate 提升 20%，TTFT 未知":         "",
	} {
		var got []string
		for _, c := range claimsIn(text) {
			got = append(got, fmt.Sprintf("%s %+.4g", c.Metric, c.Change))
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s: %s, want %s", text, s, want)
		}
	}
}

// Changes in the unit of the metric, and how far values are apart.
func TestDifferences(t *testing.T) {
	for text, want := range map[string]string{
		"TTFT: `-70.06 ms`":                                             "ttft  -0.07006",
		"TPS: `+2.42`":                                                  "throughput.output  +2.42",
		"This saves about 12 ms of mean TTFT":                           "ttft mean -0.012",
		"cuts mean TPOT by 1.3 ms at 32 concurrent requests":            "tpot mean -0.0013",
		"mean TTFT drops 144 ms":                                        "ttft mean -0.144",
		"adds 3 ms to P99 ITL":                                          "itl p99 +0.003",
		"mean TPOT is 1.8 ms lower":                                     "tpot mean -0.0018",
		"TTFT improves by 0.4 s":                                        "ttft  -0.4",
		"throughput +1.09 req/s":                                        "throughput.requests  +1.09",
		"TTFT drops by 172 ms at concurrency 16 and by 710 ms at 64":    "ttft  -0.172; ttft  -0.71",
		"The TPOT gap between both is about 3%":                         "tpot  ±0.03",
		"TTFT drops from 312 to 250 ms":                                 "ttft  -0.1987",
		"TTFT is 3.2x slower":                                           "ttft  +2.2",
		"throughput is 2x slower":                                       "throughput  -0.5",
		"TTFT improves by 120%":                                         "ttft  -0.5455",
		"A is 3x slower than B":                                         "speed  -0.6667",
		"TTFT drops to 250 ms":                                          "",
		"TTFT 250 ms":                                                   "",
		"We add 5 ms of sleep so that TTFT is stable":                   "",
		"A 10 ms increase of TTFT is acceptable":                        "",
		"With a TTFT SLO of 200 ms and 3x faster disks nothing changes": "",
		"TTFT -3 tok/s":                                                 "",

		"平均 TTFT 降低 38ms，TPOT 缩短 1.9 毫秒": "ttft mean -0.038; tpot  -0.0019",

		"P99 TPOT 慢了 0.4ms，输出吞吐多了 56 tok/s，端到端时延少 1.2s": "tpot p99 +0.0004; throughput.output  +56; e2el  -1.2",

		"两组数据的 TPOT 相差约 4%": "tpot  ±0.04",

		"TTFT 至少 200 ms": "",

		"TTFT 差距不到 3%": "",
	} {
		var got []string
		for _, c := range claimsIn(text) {
			change := fmt.Sprintf("%+.4g", c.Change+c.Delta)
			if c.Unsigned {
				change = fmt.Sprintf("±%.4g", c.Change)
			}
			got = append(got, fmt.Sprintf("%s %s %s", c.Metric, c.Stat, change))
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%s: %q, want %q", text, s, want)
		}
	}
}
