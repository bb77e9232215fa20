package lexicon

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	all := slices.Concat(Metrics, Loads, Statistics, Directions)
	for text, want := range map[string]string{
		"Mean TTFT (ms)":                      "mean ttft",
		"非首 token 时延的 99 分位":                  "tpot p99",
		"P50, TP99 and 99.9th percentile ITL": "median p99 p99.9 itl",
		"4th run: total throughput rises":     "throughput.total up",
		"max concurrency, 输入长度":               "concurrency input-length",
		"下降, worse":                           "down worse",
		"nothing of it":                       "",
	} {
		var got []string
		for _, w := range all.Find(text) {
			got = append(got, w.Means)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %q, want %q", text, s, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]string{
		"312":      "312±1 true",
		"1,234.50": "1234.5±0.01 true",
		"12.":      "12±1 true",
		"1.5e3":    "1500±100 true",
		"2E-2":     "0.02±0.01 true",
		"x":        "0±1 false",
	} {
		v, step, ok := Number(text)
		if got := fmt.Sprintf("%v±%v %v", v, step, ok); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
