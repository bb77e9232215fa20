package apiserver

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tidwall/gjson"
)

// sglang-router sends the same body to both workers.
const toBoth = `"prompt":"Hi","max_tokens":8,"ignore_eos":true,"bootstrap_host":"127.0.0.1","bootstrap_port":8998,` +
	`"bootstrap_room":5083928374651029}`

func TestAPrefillWorkerGivesTheFirstTokenOnly(t *testing.T) {
	for role, want := range map[Role]int64{RolePrefill: 1, RoleDecode: 8, "": 8} {
		synctest.Test(t, func(t *testing.T) {
			cfg := constantConfig()
			cfg.Role = role
			s := newRig(t, cfg)
			_, body := s.whole("POST", "/v1/completions", `{`+toBoth)
			if n := gjson.Get(body, "usage.completion_tokens").Int(); n != want ||
				gjson.Get(body, "choices.0.finish_reason").String() != "length" {
				t.Errorf("role %q: %s", role, body)
			}
			_, body = s.whole("POST", "/v1/completions", `{"stream":true,`+toBoth)
			if n := strings.Count(body, `"text":`); int64(n) != want || !strings.Contains(body, "[DONE]") {
				t.Errorf("role %q: %d chunks: %s", role, n, body)
			}
			_, body = s.whole("POST", "/generate",
				`{"text":"Hi","sampling_params":{"max_new_tokens":8,"min_new_tokens":4,"ignore_eos":true},"bootstrap_room":7}`)
			if n := gjson.Get(body, "meta_info.completion_tokens").Int(); n != want {
				t.Errorf("role %q: %s", role, body)
			}
		})
	}
	if err := (Config{Role: "router"}).Validate(); err == nil {
		t.Error("an unknown role was accepted")
	}
}
