package ingest

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/result"
	"github.com/pitot-bench/pitot/internal/tool/sglang"

	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

var (
	someNumber = rapid.Custom(func(t *rapid.T) float64 {
		scale := rapid.SampledFrom([]float64{1, 100, 1e4, 1e7, 1e9}).Draw(t, "scale")
		return rapid.Float64Range(0, scale).Draw(t, "number")
	})
	someCount = rapid.IntRange(0, 1e9)
)

func someSection(t *rapid.T, percentiles []float64) metrics.Distribution {
	s := metrics.Distribution{Mean: someNumber.Draw(t, "mean"), Median: someNumber.Draw(t, "median")}
	for _, p := range percentiles {
		s.Percentiles = append(s.Percentiles, metrics.Percentile{P: p, Value: someNumber.Draw(t, "percentile")})
	}
	return s
}

// vllmTable is a table that the report of some run of `vllm bench serve` would
// have.
func vllmTable(t *rapid.T) string {
	var args []string
	add := func(name string, a ...string) {
		if rapid.Bool().Draw(t, name) {
			args = append(append(args, "--"+name), a...)
		}
	}
	add("max-concurrency", fmt.Sprint(rapid.IntRange(1, 5000).Draw(t, "limit")))
	add("request-rate", fmt.Sprint(rapid.Float64Range(0.001, 1e4).Draw(t, "rate")))
	add("goodput", "ttft:100")
	add("skip-tokenizer-init")
	add("percentile-metrics", rapid.SampledFrom([]string{"e2el", "ttft,tpot,itl,e2el", "ttft,client_queue_time,e2el_including_client_queue", "itl"}).Draw(t, "metrics"))
	version := rapid.SampledFrom(vllm.Versions()).Draw(t, "version")
	a, err := vllm.Parse(append(args, "--dialect-version", string(version)), "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.Compile(tool.Env{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := vllm.NewReport(&trace.Trace{Run: trace.Run{Plan: trace.Load{Spec: &c.Spec}}}, "")
	if err != nil {
		t.Fatal(err)
	}
	percentiles := rapid.SampledFrom([][]float64{{99}, {50, 99.9}, {1, 25, 99.99}, nil}).Draw(t, "percentiles")
	r.Figures = vllm.Figures{
		Figures: result.Figures{
			Duration: someNumber.Draw(t, "duration"), Completed: someCount.Draw(t, "ok"), Failed: someCount.Draw(t, "failed"),
			TotalInput: someCount.Draw(t, "input"), TotalOutput: someCount.Draw(t, "output"),
			RequestThroughput: someNumber.Draw(t, "rps"), OutputThroughput: someNumber.Draw(t, "tps"),
			TotalTokenThroughput: someNumber.Draw(t, "total"), MaxOutputPerSecond: someNumber.Draw(t, "peak"), MaxConcurrent: someCount.Draw(t, "concurrent"),
			Latencies: metrics.Latencies{TTFT: someSection(t, percentiles), TPOT: someSection(t, percentiles), ITL: someSection(t, percentiles), E2EL: someSection(t, percentiles)},
		},
		RequestGoodput: someNumber.Draw(t, "good"), QueueTime: someSection(t, percentiles), E2ELWithQueue: someSection(t, percentiles),
	}
	if rapid.Bool().Draw(t, "probe") {
		r.Figures.Probe = &vllm.Probe{Completed: 3, Failed: 1, Median: someNumber.Draw(t, "p"), P99: someNumber.Draw(t, "p"), Max: someNumber.Draw(t, "p")}
	}
	switch rapid.IntRange(0, 2).Draw(t, "decoding") {
	case 1:
		r.SpecDecode = &metrics.SpecDecode{
			Drafts: 7, DraftTokens: 21, AcceptedTokens: 9, AcceptanceRate: someNumber.Draw(t, "a"), AcceptanceLength: someNumber.Draw(t, "l"),
			PerPosition: rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 12).Draw(t, "positions"),
		}
	case 2:
		r.Diffusion = &metrics.Diffusion{CommittedTokens: 3, CanvasPositions: 9, DenoisingSteps: 4.5, CommittedThroughput: someNumber.Draw(t, "d"), StepsPerCanvas: 1.25, CommittedPerStep: 2}
	}
	return written(t, r)
}

// sglangTable is one of sglang.bench_serving.
func sglangTable(t *rapid.T) string {
	spread := func(name string) metrics.Distribution {
		d := metrics.Distribution{Mean: someNumber.Draw(t, name), Median: someNumber.Draw(t, name), Max: someNumber.Draw(t, name)}
		for _, p := range metrics.DefaultPercentiles() {
			d.Percentiles = append(d.Percentiles, metrics.Percentile{P: p, Value: someNumber.Draw(t, name)})
		}
		return d
	}
	args := []string{
		"--dialect-version", string(rapid.SampledFrom(sglang.Versions()).Draw(t, "version")),
		"--backend", rapid.SampledFrom([]string{"sglang", "sglang-oai-chat", "vllm"}).Draw(t, "backend"),
		"--max-concurrency", strconv.Itoa(rapid.IntRange(0, 99).Draw(t, "limit")),
		"--dataset-name", rapid.SampledFrom([]string{"random", "image"}).Draw(t, "dataset"),
	}
	args = append(args, rapid.SampledFrom([][]string{{"--request-rate", "inf"}, {"--request-rate", "4"}, {"--use-trace-timestamps"}, {"--request-rate", "1e-5"}}).Draw(t, "rate")...)
	a, err := sglang.Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.Compile(tool.Env{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := sglang.NewReport(&trace.Trace{Run: trace.Run{Plan: trace.Load{Spec: &c.Spec}}}, "")
	if err != nil {
		t.Fatal(err)
	}
	r.Figures = sglang.Figures{
		Figures: result.Figures{
			Duration: someNumber.Draw(t, "duration"), Completed: someCount.Draw(t, "ok"), TotalInput: someCount.Draw(t, "input"), TotalOutput: someCount.Draw(t, "output"),
			RequestThroughput: someNumber.Draw(t, "rps"), OutputThroughput: someNumber.Draw(t, "out"),
			TotalTokenThroughput: someNumber.Draw(t, "total"), MaxOutputPerSecond: someNumber.Draw(t, "peak"), MaxConcurrent: someCount.Draw(t, "concurrent"),
			Latencies: metrics.Latencies{TTFT: spread("ttft"), TPOT: spread("tpot"), ITL: spread("itl"), E2EL: spread("e2el")},
		},
		TotalInputText: someCount.Draw(t, "text"), TotalInputVision: someCount.Draw(t, "vision"), TotalRetokenized: someCount.Draw(t, "again"),
		InputThroughput: someNumber.Draw(t, "in"), Concurrency: someNumber.Draw(t, "concurrency"), AcceptLength: rapid.SampledFrom([]float64{0, 2.5}).Draw(t, "accept"),
	}
	return written(t, r)
}

func written(t *rapid.T, r interface{ WriteTable(w io.Writer) error }) string {
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// only is the one run in a text that has no problems.
func only(t rapid.TB, name, text string) trace.Run {
	found, problems := known.Read(source(name, text))
	if len(found) != 1 || len(problems) > 0 {
		t.Fatalf("%d found, %v in\n%s", len(found), problems, text)
	}
	return found[0].Run
}

func TestTablesOfEveryFormComeBackToTheByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := vllmTable(t)
		if rapid.Bool().Draw(t, "sglang") {
			text = sglangTable(t)
		}
		if rapid.Bool().Draw(t, "trimmed") {
			text = eachLine(text, func(_ int, l string) string { return strings.TrimRight(l, " ") })
		}
		var b strings.Builder
		if err := result.WriteReported(&b, only(t, "a.txt", text), vllm.Table(), sglang.Table()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text, b.String()); diff != "" {
			t.Error(diff)
		}
	})
}

func eachLine(text string, f func(int, string) string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = f(i, l)
	}
	return strings.Join(lines, "\n") + "\n"
}

// disguises are what happens to a table on its way into a file. None of them
// touches what it says.
var disguises = map[string]func(string) string{
	"CRLF":   func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"indent": func(s string) string { return eachLine(s, func(_ int, l string) string { return "      " + l }) },
	"quote":  func(s string) string { return eachLine(s, func(_ int, l string) string { return "> " + l }) },
	"quoted fence": func(s string) string {
		return eachLine("```txt\n"+s+"```\n", func(_ int, l string) string { return "> " + l })
	},
	"list": func(s string) string {
		return "- It was run again.\n\n" + eachLine("~~~\n"+s+"~~~\n", func(_ int, l string) string { return "    " + l })
	},
	"bom":   func(s string) string { return "\ufeff" + s },
	"html":  func(s string) string { return "<pre>\n" + strings.ReplaceAll(s, " ", "&nbsp;") + "</pre>\n" },
	"diff":  func(s string) string { return eachLine(s, func(_ int, l string) string { return "+" + l }) },
	"utf16": func(s string) string { return inUTF16("\ufeff" + s) },
	"utf16 without a mark": func(s string) string {
		return inUTF16(s)
	},
	"colours": func(s string) string {
		return eachLine(s, func(i int, l string) string { return fmt.Sprintf("\x1b[%d;1m%s\x1b[0m\x1b[K", 31+i%7, l) })
	},
	"progress": func(s string) string {
		bars := "  0%|          | 0/500 [00:00<?, ?it/s]"
		for i := range 200 {
			bars += fmt.Sprintf("\r%3d%%|%-10s| %d/500 [00:%02d<00:10, 9.9it/s]", i/2, strings.Repeat("█", i/20), i, i%60)
		}
		return bars + "\n" + eachLine(s, func(i int, l string) string {
			if i%5 == 1 {
				return "\r 99%|#########9| 499/500 [00:51<00:00, 9.7it/s]\r\x1b[2K" + l
			}
			return l
		})
	},
	"log": func(s string) string {
		return eachLine(s, func(i int, l string) string {
			return fmt.Sprintf("INFO 01-02 10:11:%02d [serve.py:%d] %s", i%60, 90+i, l)
		})
	},
	"pods": func(s string) string {
		return eachLine(s, func(i int, l string) string {
			return fmt.Sprintf("[pod/bench-0/main] 2026-01-02T10:11:%02d.123Z \x1b[36m(APIServer pid=%d)\x1b[0;0m %s", i%60, i, l)
		})
	},
	"compose": func(s string) string {
		return eachLine(s, func(_ int, l string) string { return "bench-1  | " + l })
	},
	"interleaved": func(s string) string {
		return eachLine(s, func(i int, l string) string {
			if i%3 == 0 {
				return l
			}
			return "INFO 01-02 10:11:12 [loggers.py:127] Engine 000: Avg prompt throughput: 12.3 tokens/s, Running: 3 reqs, GPU KV cache usage: 3.4%\n\n" + l
		})
	},
	"remarks": func(s string) string {
		return eachLine(s, func(_ int, l string) string {
			if strings.Contains(l, "==") || strings.Contains(l, "--") || strings.HasSuffix(l, ":") {
				return l
			}
			return l + "   <- here"
		})
	},
}

func inUTF16(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}

func TestDisguisedTablesSayTheSame(t *testing.T) {
	names := slices.Sorted(maps.Keys(disguises))
	rapid.Check(t, func(t *rapid.T) {
		text := vllmTable(t)
		if rapid.Bool().Draw(t, "sglang") {
			text = sglangTable(t)
		}
		plain := only(t, "a.txt", text)
		for _, name := range names {
			got := only(t, "a.txt", disguises[name](text))
			if diff := cmp.Diff(plain.Origin.Figures, got.Origin.Figures); diff != "" {
				t.Fatalf("%s: %s", name, diff)
			}
			if got.ID != plain.ID || !cmp.Equal(got.Plan, plain.Plan) || !cmp.Equal(got.Origin.Setup, plain.Origin.Setup) {
				t.Fatalf("%s: %s is not %s: %s%s", name, got.ID, plain.ID, cmp.Diff(plain.Plan, got.Plan), cmp.Diff(plain.Origin.Setup, got.Origin.Setup))
			}
			if keepsBlanks := name != "remarks"; keepsBlanks && got.Origin.Trimmed != plain.Origin.Trimmed {
				t.Fatalf("%s: trimmed %v", name, got.Origin.Trimmed)
			}
		}
	})
}
