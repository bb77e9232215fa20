package plan

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseSite(t *testing.T) {
	for text, want := range map[string]Site{
		"local": {Kind: Here}, "none": {Kind: Nowhere}, "pid:123": {Kind: ByPID, Name: "123"}, "docker:a b": {}, "docker:vllm-1": {Kind: InDocker, Name: "vllm-1"},
		"ssh:me@host": {Kind: OverSSH, Name: "me@host"}, "kubectl:pod-1": {Kind: InCluster, Name: "pod-1"},
		"kubectl:deployment/vllm@prod": {Kind: InCluster, Name: "deployment/vllm", Namespace: "prod"},
		"":                             {}, "docker": {}, "docker:": {}, "pid:x": {}, "pid:0": {}, "pid:-1": {}, "pid:99999999999": {}, "local:x": {}, "http://h": {},
		"local:8100": {Kind: Here, Port: 8100}, "ssh:h:8100": {Kind: OverSSH, Name: "h", Port: 8100}, "ssh:fd00::1": {Kind: OverSSH, Name: "fd00::1"},
		"ssh:[fd00::1]:22": {Kind: OverSSH, Name: "[fd00::1]", Port: 22}, "docker:c:1": {Kind: InDocker, Name: "c", Port: 1},
		"decode-1=kubectl:p@n:9": {Role: "decode-1", Kind: InCluster, Name: "p", Namespace: "n", Port: 9}, "proxy=local": {Role: Proxy, Kind: Here},
		"ssh:h:0": {}, "ssh:h:65536": {}, "local:": {}, "pid:1:2": {}, "none:1": {}, "p=none": {}, "=local": {}, "client=local": {}, "server=local": {}, "A=local": {}, "p=": {},
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

func TestSites(t *testing.T) {
	var got Sites
	const text = "proxy=local prefill=ssh:a:8100 decode=ssh:b"
	if err := json.Unmarshal([]byte(`"`+text+`"`), &got); err != nil || got.String() != text || got.Serving().Kind != Here || len(got.Others()) != 2 {
		t.Error(got, err)
	}
	for _, bad := range []string{"", "local none", "local proxy=pid:1", "a=local:1 a=local:2", "local x", strings.Repeat("local ", MostSites+1)} {
		if err := new(Sites).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if Sites(nil).Serving() != (Site{}) {
		t.Error("a site where there is none")
	}
}
