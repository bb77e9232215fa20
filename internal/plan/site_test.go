package plan

import (
	"encoding/json"
	"testing"
)

func TestParseSite(t *testing.T) {
	for text, want := range map[string]Site{
		"local": {Kind: Here}, "none": {Kind: Nowhere}, "pid:123": {Kind: ByPID, Name: "123"}, "docker:a b": {}, "docker:vllm-1": {Kind: InDocker, Name: "vllm-1"},
		"ssh:me@host": {Kind: OverSSH, Name: "me@host"}, "kubectl:pod-1": {Kind: InCluster, Name: "pod-1"},
		"kubectl:deployment/vllm@prod": {Kind: InCluster, Name: "deployment/vllm", Namespace: "prod"},
		"":                             {}, "docker": {}, "docker:": {}, "pid:x": {}, "pid:0": {}, "pid:-1": {}, "pid:99999999999": {}, "local:x": {}, "http://h": {},
		"ssh:-oProxyCommand=x": {}, "kubectl:p@-n": {}, "docker:a\nb": {}, "docker:--privileged": {},
	} {
		got, err := ParseSite(text)
		if got != want || (err == nil) != !want.IsZero() {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
		if err == nil && got.String() != text {
			t.Errorf("%q is written as %q", text, got)
		}
	}
	var in struct{ P Site }
	if err := json.Unmarshal([]byte(`{"P": "docker:x"}`), &in); err != nil || in.P.Name != "x" {
		t.Errorf("%+v, %v", in, err)
	}
}
