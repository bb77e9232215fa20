package environment

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan/secret"
)

func TestHide(t *testing.T) {
	p := &Process{
		Args: []string{
			"vllm", "serve", "m", "--api-key", "abc", "de", "--port=8000", "--api-key=x", "--hf-token", "hf_CANARY1234567",
			"--tokenizer", "org/t", "--max-num-batched-tokens", "8192",
			"--header", "X-Api-Key: CANARY2", "--url", "http://me:CANARY3@host/x", "--json", `{"api_key": "CANARY4xyz"}`,
			"CANARY-by-env", "line\n\x1b[31mtwo", "HF_TOKEN=CANARY5",
		},
		Env: map[string]string{
			"VLLM_API_KEY": "CANARY-by-env", "HF_TOKEN": "zCANARY-hf", "MY_PASSWORD": "zCANARY-pw", "DB_PWD": "CANARY",
			"SECRET_THING": "zCANARY-st", "AWS_ACCESS_KEY_ID": "zCANARY-aws", "ssh_auth_sock": "CANARY/agent",
			"DATABASE_DSN": "CANARY", "TOKENIZERS_PARALLELISM": "false", "TOKENIZERS_X": "zCANARY-tx", "VLLM_USE_V1": "1",
			"PROXY": "http://u:CANARY6@p:1", "ANOTHER": "bearer CANARY7abc", "E\x1b": "a\nb", "KNOWN": "has CANARY8-known in it",
		},
		Dir: "/srv/CANARY8-known",
	}
	known := new(secret.Set)
	known.Add("CANARY8-known")
	Hide(p, known)
	wantArgs := []string{
		"vllm", "serve", "m", "--api-key", "***", "***", "--port=8000", "--api-key=***", "--hf-token", "***", "--tokenizer",
		"org/t", "--max-num-batched-tokens", "8192",
		"--header", "X-Api-Key:***", "--url", "http://host/x", "--json", `{"api_key": "***"}`, "***", "line  [31mtwo",
		"HF_TOKEN=***",
	}
	if diff := cmp.Diff(wantArgs, p.Args); diff != "" {
		t.Error(diff)
	}
	wantEnv := map[string]string{
		"TOKENIZERS_PARALLELISM": "false", "VLLM_USE_V1": "1", "PROXY": "http://p:1", "ANOTHER": "bearer ***", "E": "a b",
		"KNOWN": "has *** in it",
	}
	if diff := cmp.Diff(wantEnv, p.Env); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(p.Dir, "CANARY") {
		t.Error(p.Dir)
	}
}

// Names of secrets that only variables and flags have, and assignments within a script.
func TestHideByFurtherNames(t *testing.T) {
	p := &Process{
		Args: []string{
			"sh", "-c", `export A=1; B_PW=CANARY B_PAT='CANARY 2' DBPASS="CANARY" run --max-tokens=8 && MYSECRETKEY=CANARY; x`,
			"--pw", "CANARY", "--redis-pass=CANARY", "--jwt", "CANARY", "--lora", "name=path",
		},
		Env: map[string]string{
			"GITHUB_PAT": "CANARY", "DBPASS": "CANARY", "APP_PW": "CANARY", "MY_CREDS": "CANARY", "JWT": "CANARY",
			"SLACK_WEBHOOK": "CANARY", "PEM": "-----BEGIN RSA PRIVATE KEY----- CANARY",
			"PWD": "/work", "PATH": "/bin", "VLLM_SESSIONS": "4",
		},
	}
	Hide(p, nil)
	wantArgs := []string{
		"sh", "-c", "export A=1; B_PW=*** B_PAT=*** DBPASS=*** run --max-tokens=8 && MYSECRETKEY=***; x", "--pw", "***",
		"--redis-pass=***", "--jwt", "***", "--lora", "name=path",
	}
	if diff := cmp.Diff(wantArgs, p.Args); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"PWD": "/work", "PATH": "/bin", "VLLM_SESSIONS": "4"}, p.Env); diff != "" {
		t.Error(diff)
	}
}

func TestFacts(t *testing.T) {
	dirty := true
	e := &Environment{
		Image: Image{Name: "vllm:0.11", Digest: "sha256:1"}, Driver: "550",
		Packages: []Version{{"vllm", "0.11"}, {"torch", "2.8"}, {"zlib", "1"}},
		Trees:    []Tree{{Package: "vllm", Commit: "abc", Dirty: &dirty, Diff: "12"}},
		Devices:  []Device{{Product: "H100"}, {Product: "H100"}},
		Process: &Process{
			Args: []string{"/usr/bin/python3", "-m", "vllm.api", "--tp", "4", "--enable_x", "--a=b", "--list", "1", "-2"},
			Env:  map[string]string{"VLLM_X": "1"},
		},
		Machine: Machine{Kernel: "Linux 6", Threads: 8},
	}
	var got []string
	for _, f := range e.Facts() {
		mark := ""
		if f.Main {
			mark = "*"
		}
		got = append(got, mark+f.Name+"="+f.Value)
	}
	want := []string{
		"*image=vllm:0.11", "*image.digest=sha256:1", "*commit.vllm=abc +12", "*package.vllm=0.11", "*package.torch=2.8",
		"*driver=550", "*devices=2 × H100",
		"*command=python3 -m vllm.api", "*arg.a=b", "*arg.enable-x=true", "*arg.list=1 -2", "*arg.tp=4", "env.VLLM_X=1",
		"processors=8 threads", "kernel=Linux 6", "package.zlib=1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if facts := (*Environment)(nil).Facts(); facts != nil {
		t.Error(facts)
	}
}
