package result

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/tool/argparse"
)

// Plan is what the settings say, in the words that tables have too: Python writes
// numbers one way in JSON and another in a Namespace.
func (f *Draft) Plan(requests int) {
	s := argparse.Settings{}
	for name, text := range f.Origin.Setup {
		if text == "Infinity" {
			text = "inf"
		}
		s[strings.TrimPrefix(name, "args.")] = text
	}
	s["num_prompts"] = strconv.Itoa(requests)
	if s["request_rate"] == "trace" {
		s["use_trace_timestamps"] = "True"
	}
	f.Run.Plan = s.Plan(f.Origin.Tool)
	f.Run.Plan.Percentiles = f.Percentiles()
}

// SyntheticWorkload is a workload of lengths, in words.
func SyntheticWorkload(name string, input, output, n int) string {
	switch {
	case name != "" && input > 0 && output > 0:
		return fmt.Sprintf("%s %d→%d tokens, %d requests", name, input, output, n)
	case name != "":
		return fmt.Sprintf("%s, %d requests", name, n)
	}
	return fmt.Sprintf("%d requests", n)
}
