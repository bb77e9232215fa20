package conform

import (
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
)

// Reports of old have sentences where there are codes now.
func TestOldReportsAreRead(t *testing.T) {
	reports, err := ReadReports([]byte(`{"client": "tool", "format": "vllm", "definitions": {"ttft": "from a sentence"},
		"results": [{"cell": {"streams": 1}, "notes": ["a sentence", {"code": "conform.sent", "args": {"n": 3}}], "server": {"limit": "busy"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r := reports[0]
	if got := r.Definitions[TTFT].Code; got != metrics.ToFirstToken {
		t.Errorf("a definition is %q", got)
	}
	notes := r.Results[0].Notes
	if words, _ := notes[0].Words(); words != "a sentence" || notes[1].Code != "conform.sent" || notes[1].Args["n"] != 3. {
		t.Errorf("%v", notes)
	}
	if words, _ := r.Results[0].Server.Limit.Words(); words != "busy" {
		t.Errorf("a limit is %q", words)
	}
}
