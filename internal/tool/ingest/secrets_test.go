package ingest

import (
	"encoding/json"
	"strings"
	"testing"
)

// Whatever stands in a note or in a result file, and wherever: no secret is kept.
func TestNoSecretIsKeptAnywhere(t *testing.T) {
	note := `# Notes https://u:hunter2@host/x
## Base api_key=sk-hunter2hunter2
OPENAI_API_KEY=sk-hunter2hunter2
Image: registry/x:1 https://u:hunter2@reg
Model: m token=hunter2
TTFT -3% (see https://u:hunter2@host)
$ OPENAI_API_KEY=hunter2 vllm bench serve --base-url http://u:hunter2@h:1 --api-key hunter2 --header "Authorization: Bearer hunter2" --header X-Api-Key=hunter2 --extra-body '{"api_key":"hunter2"}' -H 'Cookie: session=hunter2' --token hunter2 --password=hunter2
Namespace(base_url='http://u:hunter2@h', api_key='hunter2', header=['Authorization=Bearer hunter2'], extra_request_body='{"api_key": "hunter2", "auth": "hunter2"}', metadata=['key=hunter2', 'hf_token=hunter2'], num_prompts=200, model='https://u:hunter2@h/m', tokenizer='hf_hunter2hunter2')
` + strings.Replace(someTable(36), "14624.41  ", "14624.41  TTFT -3% sk-hunter2hunter2", 1)
	result := `{"date":"20260102-101112","backend":"openai","model_id":"https://u:hunter2@h/m","tokenizer_id":"t","num_prompts":2,"request_rate":"inf",
"burstiness":1.0,"max_concurrency":null,"duration":1.0,"completed":2,"total_input_tokens":10,"total_output_tokens":10,"request_throughput":2,
"output_throughput":10,"total_token_throughput":20,"mean_ttft_ms":1,"median_ttft_ms":1,"std_ttft_ms":0,"p99_ttft_ms":1,"api_key":"hunter2",
"OPENAI_API_KEY":"hunter2","auth":"Bearer hunter2","url":"http://u:hunter2@h","note":"key sk-hunter2hunter2","headers":{"X":"hunter2"}}`
	for name, text := range map[string]string{"a.md": note, "b.json": result} {
		found, problems := known.Read(source(name, text))
		if len(found) != 1 || len(problems) > 0 {
			t.Fatalf("%s: %d found, %v", name, len(found), problems)
		}
		if name == "a.md" {
			found[0].Run.Origin.Note, _ = Note(source(name, text), []int{9})
		}
		b, err := json.MarshalIndent(found[0].Run, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if strings.Contains(line, "hunter2") {
				t.Errorf("%s keeps %s", name, line)
			}
		}
	}
}
