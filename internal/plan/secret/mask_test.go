package secret

import "testing"

func TestMask(t *testing.T) {
	for text, want := range map[string]string{
		`vllm bench serve --header Authorization="Bearer abc" --seed 1`: `vllm bench serve --header Authorization="***" --seed 1`,
		"--header X-Team=s3cret --tokenizer t":                          "--header X-Team=*** --tokenizer t",
		"vllm serve m --api-key sk-1 --port 1":                          "vllm serve m --api-key *** --port 1",
		"OPENAI_API_KEY=sk-1 vllm bench serve":                          "OPENAI_API_KEY=*** vllm bench serve",
		`{"api_key": "sk-1", "n": 2}`:                                   `{"api_key": "***", "n": 2}`,
		"curl http://u:p@h/v1 -H 'Authorization: Bearer abc'":           "curl http://h/v1 -H 'Authorization: ***'",
		"#Input tokens: 5376000":                                        "#Input tokens: 5376000",
		"--max-concurrency 16 --tokenizer org/t":                        "--max-concurrency 16 --tokenizer org/t",
	} {
		if got := Mask(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
