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
		"---------------Inter-token Latency----------------":            "---------------Inter-token Latency----------------",
		"--max-concurrency 16 --tokenizer org/t":                        "--max-concurrency 16 --tokenizer org/t",
	} {
		if got := Mask(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// What leads to the server of a fleet is in no text, whichever way it was given.
func TestTheTokenOfAFleet(t *testing.T) {
	const url = "nats://t0k3n-of-it@10.0.0.1:4222,nats://me:pw@10.0.0.2:4222"
	if got, want := WithoutUser("--fleet "+url), "--fleet nats://10.0.0.1:4222,nats://10.0.0.2:4222"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	env := map[string]string{"PITOT_FLEET": "tls://t0k3n-of-env@h", "PITOT_FLEET_TOKEN": "t0k3n-alone"}
	var s Set
	s.Add(InArgs([]string{"bench", "--fleet", url, "--fleet-key", "client-key.pem", "--join=" + "nats://joined-by@h"})...)
	s.Add(InEnv(func(name string) string { return env[name] })...)
	got := s.Hide("t0k3n-of-it t0k3n-of-env t0k3n-alone joined-by client-key.pem")
	if want := "*** *** *** *** client-key.pem"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
