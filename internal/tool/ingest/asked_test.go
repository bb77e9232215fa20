package ingest

import (
	"fmt"
	"strings"
	"testing"
)

// How many requests were asked for is told by num_prompts, where the dataset is as large as that.
func TestRequestsThatWereAskedFor(t *testing.T) {
	table := strings.ReplaceAll(someTable(36), "Failed requests:                         0         \n", "")
	for namespace, want := range map[string]int{
		"": 200,
		"Namespace(backend='vllm', dataset_name='random', random_input_len=8, random_output_len=8, num_prompts=640)": 640,
		"Namespace(backend='vllm', dataset_name='custom', no_oversample=True, num_prompts=640)":                      200,
		"Namespace(backend='vllm', dataset_name='prefix_repetition', num_prompts=204)":                               200,
		"Namespace(backend='vllm', num_prompts=640)":                                                                 640,
	} {
		found, _ := known.Read(source("a.log", namespace+"\n"+table))
		if len(found) != 1 || found[0].Run.Plan.Requests != want {
			t.Errorf("%s: %d, want %d", namespace, found[0].Run.Plan.Requests, want)
		}
	}
	const result = `{"date": "20250601-120000", "backend": "vllm", "num_prompts": 64, "duration": 10.0, "completed": 20%s, "total_input_tokens": 200}`
	for failed, want := range map[string]int{"": 64, `, "failed": 3`: 23} {
		if got := one(t, FromText("a.json", fmt.Sprintf(result, failed))).Run.Plan.Requests; got != want {
			t.Errorf("%q: %d, want %d", failed, got, want)
		}
	}
}
