package secret

import (
	"strings"
	"testing"
)

// keysOfServices are keys as services make them, with random parts.
var keysOfServices = []string{
	"sk-0123456789abcdef0123456789abcdef", "sk-proj-Ab3dEf6hIj9lMnOp_qrs-tuv", "sk-ant-api03-Zx81kQ0pLm2_a", "sk-torture-5f0e9c41d7", "sk_live_51HabcDEF123456789", "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH",
	"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "gho_16C7e42F292c6912E7710c838347Ae178B4a", "github_pat_11ABCDEFG0abcdefghijkl_mno", "glpat-abcdefghij1234567890", "xoxb-123456789012-abcdefABCDEF",
	"xoxp-123456789012-abcdefABCDEF", "AKIAIOSFODNN7EXAMPLE", "AIzaSyA1234567890abcdefghijklmnopqrstuv", "nvapi-abcdefghij0123456789klmnop", "gsk_abcdefghijklmnopqrstuvwxyz0123", "r8_abcdefghijklmnop1234567890",
	"pplx-abcdef1234567890abcdef", "xai-abcdef1234567890ABCDEF", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "SUAMLK2ZNL35WSMW37E7UD4VZ7ELPKW7DHC3BWBSD2GCZ7IUQQXZIORRBU",
	"ms-1a2b3c4d-5e6f-7a8b-9c0d-1a2b3c4d5e6f", "Bearer abcdef", "Basic dXNlcjpwYXNzd29yZA==",
}

// A key of a known form is found wherever it stands, and is hidden as a whole.
func TestKeysOfKnownForms(t *testing.T) {
	for _, key := range keysOfServices {
		if !Known(key) {
			t.Errorf("%s is not known", key)
		}
		bare := key[strings.LastIndexByte(key, ' ')+1:]
		for _, args := range [][]string{
			{"bench", "--header", "X-Subscription=" + key},
			{"--header=X-Subscription=" + key},
			{"--body", `{"x": ["` + key + `"]}`},
			{"--extra-body.x=" + key},
			{"--url", "http://h/v1?x=" + key + "&y=1"},
			{"--name", "with " + key},
			{"--tenant", "name=a 'header=X-Team=" + key + "'"},
			{"+" + key},
		} {
			text := strings.Join(args, " ")
			if got := setOf(InArgs(args)...).Hide(text); strings.Contains(got, bare) {
				t.Errorf("%s: %s", text, got)
			}
			if got := Mask(text); strings.Contains(got, bare) {
				t.Errorf("%s: masked as %s", text, got)
			}
		}
	}
	if !Known("sk-verysecret") { // alone it is likely one
		t.Error("sk-verysecret alone is not known")
	}
}

func TestWhatOnlyLooksLikeAKey(t *testing.T) {
	for _, text := range []string{
		"sk-model", "sk-learn", "sk-learn-1.5", "scikit-learn/sk-learn", "sk-no-key-required", "hf_home", "hf_transfer", "HF_HUB_ENABLE_HF_TRANSFER", "hf-internal-testing/tiny-random-gpt2", "xai-org/grok-1", "ms-marco-MiniLM-L6-v2", "fw_version",
		"pplx-70b-online", "sk-large-70b-v2", "gsk-8k", "task-0123456789abcdef", "/models/sk-model/snapshots/main", "550e8400-e29b-41d4-a716-446655440000", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"AKIA", "eyJ", "Qwen/Qwen3-8B", "meta-llama/Llama-3.1-8B-Instruct", "no-cache, max-age=0", "http://127.0.0.1:8000/v1",
	} {
		if Known(text) {
			t.Errorf("%s is called a key", text)
		}
		if found := InArgs([]string{"bench", "--model", text, "--header", "X-A=" + text}); len(found) > 0 {
			t.Errorf("%s: %q", text, found)
		}
		if got := Mask(text); got != text {
			t.Errorf("%s is masked as %s", text, got)
		}
	}
}
