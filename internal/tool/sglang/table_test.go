package sglang

import (
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// The table of a result file has the rows that the tool prints with such a load, and
// the backend by the name that it was asked for.
func TestTableOfAnSGLangResultFile(t *testing.T) {
	run := trace.Run{Plan: trace.Load{Protocol: "completions"}, Origin: &trace.Origin{
		Tool: "sglang", Detail: trace.Summed, Setup: map[string]string{"backend": "vllm", "dataset_name": "random"},
		Figures: []trace.ReportedFigure{{Name: "tokens.input_text", Value: 960}, {Name: "tokens.input_vision"}},
	}}
	for dataset, pictures := range map[string]bool{"random": false, "image": true, "mmmu": true} {
		run.Origin.Setup["dataset_name"] = dataset
		var b strings.Builder
		if err := result.WriteReported(&b, run, Table()); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "vision") != pictures || !strings.Contains(b.String(), "Backend:                                 vllm ") {
			t.Errorf("%s:\n%s", dataset, b.String())
		}
	}
}
