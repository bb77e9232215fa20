package grid

import (
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// The consoles that are known.
const (
	aiperf    = "aiperf"
	genaiPerf = "genai-perf"
	guidellm  = "guidellm"
	aisbench  = "aisbench"
	evalscope = "evalscope"
	trtllm    = "trtllm"
	vllmOmni  = "vllm-omni"
	vllm      = "vllm"
	unnamed   = "unnamed" // prints a list
)

// toolOf is whose console a table is, by the words around it and those that only it has.
func toolOf(d *draft, heads []string, rows []row) string {
	above := strings.ToLower(strings.Join(d.above, "\n"))
	head := strings.ToLower(strings.Join(heads, "|"))
	begins := func(prefix string) bool { return strings.HasPrefix(head, prefix) }
	first := strings.ToLower(rows[0].cells[0])
	switch {
	case d.form != boxes && d.form != pipes:
		return ""
	case strings.Contains(above, "genai-perf | "), d.form == boxes && begins("statistic|avg|min|max|p99"):
		return genaiPerf
	case strings.Contains(above, "aiperf | "), d.form == boxes && begins("metric|avg|min|max|p99"):
		return aiperf
	case begins("performance parameters|stage|"), begins("common metric|stage|value"):
		return aisbench
	case begins("benchmark strategy|"), begins("metadata benchmark|"):
		return guidellm
	case begins("key|val") && strings.HasPrefix(first, "time taken for tests"),
		begins("percentiles|") && strings.Contains(head, "ttft"):
		return evalscope
	}
	return ""
}

var (
	requestLatency = lazy.Regexp(`^(?:Average |\[)?[Ll]atency\]?(?: |$)`)
	totalTime      = lazy.Regexp(`(?i)^(?:total|elapsed|benchmark|test) (?:time|duration)\b`)
	totalTPS       = lazy.Regexp(`(?i)^total TPS\b`) // of output tokens or of all
)

// adapt gives a label the meaning that it has in a tool's console.
func adapt(l *label, tool string) {
	switch {
	case (tool == evalscope || tool == trtllm) && l.latency && l.metric == "" && requestLatency.MatchString(l.text):
		l.metric, l.rest, l.load = string(figure.E2EL), "", ""
	case tool == unnamed && totalTime.MatchString(l.text):
		l.metric, l.rest = figure.Duration, ""
	case tool == unnamed && (l.rest != "" || totalTPS.MatchString(l.text) || len(l.stats) > 0 && !isLatency(l.metric)):
		l.foreign = true // a mean of throughput is that of a request
	case tool == aisbench && (strings.HasPrefix(l.text, "Prefill") || l.text == "OutputTokenThroughput"):
		l.foreign = true
	case tool == aisbench && l.text == "Concurrency", tool == guidellm && l.load == "concurrency":
		l.metric, l.load, l.rest = figure.Concurrency, "", ""
	case tool == guidellm && strings.HasSuffix(l.text, "Request Stats Per Second"):
		l.metric, l.rest = figure.RequestThroughput, ""
	case tool == guidellm && l.metric == "e2el" && l.unit.scale == 1e-3:
		l.foreign = true // some versions print seconds under this head
	}
}

// strategies makes of GuideLLM's strategies what they are: loads. It prints no rate with some, and those that it ran
// several times are numbered.
func strategies(results []Result) {
	seen := map[string]int{}
	for i := range results {
		r := &results[i]
		kind, rate, rated := strings.Cut(r.Variant, "@")
		if seen[r.Variant]++; seen[r.Variant] > 1 {
			kind += " (" + strconv.Itoa(seen[r.Variant]) + ")"
		}
		r.Variant = ""
		r.Load = append(r.Load, Setting{"arrival", kind})
		if rated {
			r.Load = append(r.Load, Setting{"rate", rate})
		}
	}
}
