package ingest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlanOfAFolder(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		files, read, skipped string
	}{
		{"a sweep of vLLM's", "s/c1/run=0.json s/c1/run=1.json s/c1/summary.json s/c1/summary.csv s/c2/run=0.json", "s/c1/run=0.json s/c1/run=1.json s/c2/run=0.json", "s/c1/summary.json"},
		{"a summary alone", "s/summary.json", "s/summary.json", ""},
		{"for PyTorch", "a.json a.pytorch.json b.pytorch.json", "a.json b.pytorch.json", "a.pytorch.json"},
		{"AIPerf", "r/profile_export_aiperf.json r/inputs.json r/profile_export.jsonl r/profile_export_console.txt r/server_metrics_export.json r/logs/aiperf.log r/.aiperf_results_ready.json r/profile_export_aiperf.csv", "r/profile_export_aiperf.json", ""},
		{"GenAI-Perf", "r/profile_export_genai_perf.json r/profile_export.json r/inputs.json", "r/profile_export_genai_perf.json", ""},
		{"inference-perf", "r/config.yaml r/per_request_lifecycle_metrics.json r/stage_0_lifecycle_metrics.json r/stage_1_lifecycle_metrics.json r/summary_lifecycle_metrics.json r/summary_prometheus_metrics.json r/stage_0_prometheus_metrics.json r/validation.json", "r/stage_0_lifecycle_metrics.json r/stage_1_lifecycle_metrics.json", "r/summary_lifecycle_metrics.json"},
		{"inference-perf without stages", "summary_lifecycle_metrics.json", "summary_lifecycle_metrics.json", ""},
		{"notes and pictures", "n/README.md n/a.TXT n/plot.png .git/x.json logs/serve.log", "n/README.md n/a.TXT logs/serve.log", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			read, skipped := known.Files(strings.Fields(tt.files))
			if want := strings.Fields(tt.read); !slices.Equal(read, want) {
				t.Error(cmp.Diff(want, read))
			}
			var names []string
			for _, p := range skipped {
				names = append(names, p.File)
				if p.Reason == "" {
					t.Errorf("%s: no reason", p.File)
				}
			}
			if want := strings.Fields(tt.skipped); !slices.Equal(names, want) {
				t.Error(cmp.Diff(want, names))
			}
		})
	}
}

// The name of a result file is no heading: comparisons take numbered files of a folder
// for repeats, which headings never are.
func TestResultFilesHaveNoHeadings(t *testing.T) {
	text := `{"backend":"openai","duration":1.0,"completed":2,"total_input_tokens":10,"request_throughput":2,"mean_ttft_ms":1,"median_ttft_ms":1,"p99_ttft_ms":1}`
	found, problems := known.Read(source("base/run1.json", text))
	if len(found) != 1 {
		t.Fatalf("%d found, %v", len(found), problems)
	}
	if run := found[0].Run; run.Name != "base / run1" || run.Origin.Path != nil {
		t.Errorf("named %q, below %q", run.Name, run.Origin.Path)
	}
}
