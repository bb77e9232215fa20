package environment

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/sys/probe"
)

func sample(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func answers(pairs ...string) (all probe.Answers) {
	for i := 0; i < len(pairs); i += 3 {
		all = append(all, probe.Answer{Name: pairs[i], Path: pairs[i+1], Text: pairs[i+2]})
	}
	return all
}

// The samples have the documented forms of the vendors' programs; numbers are made up.
func TestDevices(t *testing.T) {
	const gib = 1 << 30
	for name, c := range map[string]struct {
		given probe.Answers
		want  Environment
	}{
		"nvidia-smi": {answers("nvidia-smi", "", sample(t, "nvidia-smi-q.txt")), Environment{
			Driver: "550.90.07", Toolkits: []Version{{"cuda-driver", "12.4"}}, Devices: []Device{
				{
					"00000000:17:00.0", "NVIDIA H100 80GB HBM3", "GPU-11111111-2222-3333-4444-555555555555", "96.00.89.00.01",
					81559 << 20, "700.00 W", "",
				},
				{"00000000:2a:00.0", "NVIDIA H100 80GB HBM3", "GPU-66666666-7777-8888-9999-000000000000", "", 81559 << 20, "", ""},
			},
		}},
		"driver's files": {answers(
			"nvidia-version", "",
			"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\n"+
				"GCC version: gcc version 11.4.0\n",
			"nvidia-gpu", "/proc/driver/nvidia/gpus/0000:07:00.0/information",
			"Model: \t\t NVIDIA A100-SXM4-80GB\nIRQ: 16\nGPU UUID: \t GPU-1\nVideo BIOS: \t 92.00.36.00.01\n",
		), Environment{
			Driver: "535.129.03", Devices: []Device{{"0000:07:00.0", "NVIDIA A100-SXM4-80GB", "GPU-1", "92.00.36.00.01", 0, "", ""}},
		}},
		"npu-smi": {answers(
			"npu-smi", "", sample(t, "npu-smi-info.txt"),
			"ascend-firmware", "", "Version=7.8.0.2.212\nfirmware_version=1.0\n",
		), Environment{
			Driver: "25.3.rc1", Devices: []Device{
				{"0.0", "Ascend910", "", "7.8.0.2.212", 64 * gib, "", "0"}, {"0.1", "Ascend910", "", "7.8.0.2.212", 64 * gib, "", "1"},
			},
		}},
		"amd-smi": {answers("amd-smi", "", sample(t, "amd-smi-static.json")), Environment{
			Driver: "6.10.5", Devices: []Device{
				{"0000:83:00.0", "AMD Instinct MI300X", "0x6F1F0A2B3C4D5E6F", "022.040.003.043.000001", 196592 << 20, "", ""},
				{"0000:a3:00.0", "AMD Instinct MI300X", "", "", 0, "", ""},
			},
		}},
		"nothing": {
			answers("nvidia-smi", "", "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"),
			Environment{},
		},
		"no JSON":     {answers("amd-smi", "", strings.Repeat("[", 1<<20)), Environment{}},
		"driver only": {answers("amdgpu-version", "", "6.10.5\n"), Environment{}},
	} {
		var got Environment
		got.ReadDevices(c.given)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestToolkits(t *testing.T) {
	var e Environment
	e.ReadToolkits(answers(
		"cuda", "", `{"cuda": {"name": "CUDA SDK", "version": "12.4.1"}, "nvcc": {"version": "1"}}`, "cuda-txt", "",
		"CUDA Version 11.8.0\n",
		"cann", "/x", "package_name=Ascend-cann-toolkit\nversion=8.3.RC2\ninnerversion=V100R001\n", "cann", "/y",
		"version=8.1\n", "rocm", "", "6.4.1-83\n",
	))
	if diff := cmp.Diff([]Version{{"cuda", "12.4.1"}, {"cann", "8.3.RC2"}, {"rocm", "6.4.1-83"}}, e.Toolkits); diff != "" {
		t.Error(diff)
	}
}

func TestMachine(t *testing.T) {
	cpu := func(lines ...string) (text string) {
		for _, line := range lines {
			text += "/proc/cpuinfo:" + line + "\n"
		}
		return text
	}
	core := func(socket, id string) []string {
		return []string{"model name\t: Intel(R) Xeon(R) Platinum 8480+", "physical id\t: " + socket, "core id\t\t: " + id}
	}
	var lines []string
	for _, c := range [][2]string{
		{"0", "0"}, {"0", "1"}, {"1", "0"}, {"1", "1"}, {"0", "0"}, {"0", "1"}, {"1", "0"}, {"1", "1"},
	} {
		lines = append(lines, core(c[0], c[1])...)
	}
	got := ReadMachine(answers(
		"host", "", "gpu-1\n", "kernel-type", "", "Linux\n", "kernel", "", "6.8.0-45-generic\n", "arch", "", "x86_64\n",
		"system", "", "NAME=x\nPRETTY_NAME=\"Ubuntu 22.04.5 LTS\"\n",
		"cpu", "", cpu(lines...), "online", "", "0-7\n", "governor", "/a", "performance\n", "governor", "/b", "powersave\n",
		"governor", "/c", "performance\n",
		"numa", "/node0", "0-3\n", "numa", "/node1", "4-7\n", "numa", "/node2", "\n", "memory", "",
		"MemTotal:       32768 kB\nMemFree: 1 kB\n", "cpu-limit", "", "150000 100000\n", "memory-limit", "", "max\n",
	))
	want := Machine{
		Host: "gpu-1", System: "Ubuntu 22.04.5 LTS", Kernel: "Linux 6.8.0-45-generic x86_64",
		CPU: "Intel(R) Xeon(R) Platinum 8480+", Sockets: 2, Cores: 4, Threads: 8,
		Governor: "performance ×2, powersave ×1", NUMA: []string{"0-3", "4-7"}, Memory: 32 << 20, CPULimit: 1.5,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	ascend := ReadMachine(answers("cpu", "",
		cpu("CPU implementer\t: 0x48", "CPU part\t: 0xd01", "CPU implementer\t: 0x48", "CPU part\t: 0xd01")))
	if ascend.CPU != "Kunpeng-920" || ascend.Threads != 2 {
		t.Errorf("%+v", ascend)
	}
	for _, bad := range []string{"0-99999999999", "x", "5-1", "-1", "0-", ","} {
		if n := countList(bad); n != 0 {
			t.Errorf("%q: %d", bad, n)
		}
	}
	if got := ReadMachine(answers("cpu-limit", "", "1e300 1e-300", "memory", "", "MemTotal: 99999999999999999 kB",
		"memory-limit", "", "-5")); got.CPULimit != 0 || got.Memory != 0 || got.MemoryLimit != 0 {
		t.Errorf("%+v", got)
	}
}

func TestPackages(t *testing.T) {
	got := ReadPackages(strings.Join([]string{
		"/v/zlib-1.dist-info/METADATA:Name: zlib", "/v/zlib-1.dist-info/METADATA:Version: 1",
		"/v/torch_npu-2.8.0.dist-info/METADATA:Name: torch_npu", "/v/torch_npu-2.8.0.dist-info/METADATA:Version: 2.8.0.post2",
		"/v/torch-2.8.0+cpu.dist-info/METADATA:Name: torch", "/v/torch-2.8.0+cpu.dist-info/METADATA:Version: 2.8.0+cpu",
		// behind the first in the path
		"/u/Torch-1.dist-info/METADATA:Name: Torch", "/u/Torch-1.dist-info/METADATA:Version: 1",
		"/v/vllm-0.11.0.dist-info/METADATA:Version: 0.11.0", // the folder has its name
		"/v/evil-1.dist-info/METADATA:Name: a\x1b[31mb\x00", "/v/evil-1.dist-info/METADATA:Version: 1",
		"nonsense", "/METADATA:", "/METADATA:Name: x",
	}, "\n"))
	want := []Version{
		{"vllm", "0.11.0"}, {"torch", "2.8.0+cpu"}, {"torch_npu", "2.8.0.post2"}, {"a [31mb", "1"}, {"zlib", "1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestModel(t *testing.T) {
	config := `{"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "torch_dtype": "bfloat16",
		"num_hidden_layers": 61,
		"quantization_config": {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic"}}`
	got := ReadModel("org/m", answers(
		"config", "/c/models--org--m/snapshots/abc/config.json", config,
		"sizes", "",
		"10 /c/models--org--m/snapshots/abc/a.safetensors\n32 /c/models--org--m/snapshots/abc/b.safetensors\n"+
			"5 /elsewhere/c.safetensors\n",
	))
	want := &Model{
		Path: "/c/models--org--m/snapshots/abc", Architecture: "DeepseekV3ForCausalLM", DType: "bfloat16",
		Quantization: "fp8 fmt=e4m3 activation_scheme=dynamic",
		Facts:        map[string]string{"model_type": "deepseek_v3", "num_hidden_layers": "61", "revision": "abc"},
		Files:        2, Bytes: 42,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	vision := ReadModel("/m", answers("config", "/m/config.json",
		`{"architectures": ["Qwen3VL"], "text_config": {"dtype": "float16", "num_hidden_layers": 28}}`,
		"quant", "", "/m/quant_model_description_w8a8.json:  \"model_quant_type\": \"W8A8_DYNAMIC\",\n"))
	if vision.DType != "float16" || vision.Facts["num_hidden_layers"] != "28" ||
		vision.Quantization != "model_quant_type=W8A8_DYNAMIC" {
		t.Errorf("%+v", vision)
	}
	if m := ReadModel("/m/x.gguf", answers("file", "", "77 /m/x.gguf\n")); m.Path != "/m/x.gguf" || m.Bytes != 77 {
		t.Errorf("%+v", m)
	}
	for _, bad := range []string{
		strings.Repeat(`{"a":`, 1<<20), "[]", `{"architectures": {"x": 1}, "torch_dtype": [1], "quantization_config": 5}`,
		"", "{", `{"architectures": ["\u001b[31m"]}`,
	} {
		if m := ReadModel("/m", answers("config", "/m/config.json", bad)); m == nil || m.Path != "/m" ||
			strings.ContainsRune(m.Architecture, 0x1b) {
			t.Errorf("%.20q: %+v", bad, m)
		}
	}
	if m := ReadModel("", nil); m != nil {
		t.Errorf("%+v", m)
	}
}

func TestModelOfACommandLine(t *testing.T) {
	for line, want := range map[string]string{
		"python3 -m vllm.entrypoints.openai.api_server --model /m --tp 4": "/m",
		"/usr/bin/python3 /usr/bin/vllm serve Qwen/Qwen3-8B --port 8000":  "Qwen/Qwen3-8B",
		"python -m sglang.launch_server --model-path=/d":                  "/d", "llama-server -m x.gguf": "x.gguf",
		"python3 -m http.server 80": "", "vllm serve --config x": "", "x --model": "", "": "",
	} {
		if got := ModelName(strings.Fields(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestPythonSites(t *testing.T) {
	of := func(exe, maps string, env map[string]string, args ...string) (all []string) {
		for _, a := range PythonSites(&Process{Args: args, Env: env}, exe, maps) {
			all = append(all, strings.TrimSuffix(a.Dir+" "+a.Glob, " "))
		}
		return all
	}
	venv := of("/usr/bin/python3.12",
		"/proc/1/maps:7f r-xp 00:1 1 /opt/venv/lib/python3.12/site-packages/torch/lib/libtorch.so\n",
		map[string]string{"PYTHONPATH": "/src:", "HOME": "/h"}, "/opt/venv/bin/python", "/opt/venv/bin/vllm")
	if diff := cmp.Diff([]string{
		"/src", "/opt/venv/lib/python3.12/site-packages", "/opt/venv lib/python3*/site-packages",
		"/opt/venv local/lib/python3*/dist-packages",
	}, venv); diff != "" {
		t.Error(diff)
	}
	system := of("/usr/bin/python3.10", "", map[string]string{"HOME": "/root"}, "python3", "/usr/local/bin/vllm", "serve")
	if !strings.Contains(strings.Join(system, ","), "/usr/local lib/python3*/dist-packages") ||
		!strings.Contains(strings.Join(system, ","), "/root .local/lib/python3*/site-packages") {
		t.Error(system)
	}
	if got := of("/usr/bin/llama-server", "", nil, "llama-server"); got != nil {
		t.Error(got)
	}
}

func TestContainerID(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	for text, want := range map[string]string{
		"0::/system.slice/docker-" + id + ".scope\n": id, "12:cpu:/docker/" + id + "\n0::/\n": id,
		"0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-" + id + ".scope": id,
		"0::/machine.slice/libpod-" + id + ".scope/container":                         id, "0::/user.slice/user-0.slice": "",
		"0::/docker-abc": "",
	} {
		if got := ContainerID(text); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// The commit of a server is that of what it imports, and not of the folder that it was started in.
func TestTreeOfTheModule(t *testing.T) {
	for _, c := range []struct {
		args, pythonPath, there string
		want                    []Tree
	}{
		{"python3 -u -m sglang.launch_server --model x", "", "/w/sglang/launch_server.py", []Tree{{Path: "/w", Package: "sglang"}}},
		{"python3 -X dev -m vllm", "/src/vllm:rel", "/src/vllm/vllm/__main__.py", []Tree{{Path: "/src/vllm", Package: "vllm"}}},
		{"python3 server.py", "", "/w/server.py", []Tree{{Path: "/w"}}},
		{"python3 /opt/engine/server.py", "", "/opt/engine/server.py", []Tree{{Path: "/opt/engine"}}},
		{"/venv/bin/python /venv/bin/vllm serve x", "/src", "/w/vllm/__main__.py", nil},
		{"python3 -m ../../etc", "", "/etc.py", nil},
		{"python3 -m", "", "/w", nil},
		{"python3 -c x", "", "/w/x.py", nil},
	} {
		p := &Process{Args: strings.Fields(c.args), Dir: "/w", Env: map[string]string{"PYTHONPATH": c.pythonPath}}
		var found probe.Answers
		for _, a := range ModuleAsks(p) {
			if a.Dir == c.there {
				found = append(found, probe.Answer{Name: a.Name, Path: a.Dir, Text: "#"})
			}
		}
		if diff := cmp.Diff(c.want, ReadModule(p, found)); diff != "" {
			t.Errorf("%s: %s", c.args, diff)
		}
	}
	versions := []Version{
		{"vllm", "0.11.1.dev3+g3cf059a72.d20251101"},
		{"sglang", "0.5+cu129"},
		{"vllm-ascend", "0.11+cpu.gABC"},
		{"lmdeploy", "1+git1a2b3c4d"},
		{"torch", "2.8.0a0+g1a2b3c4d"},
		{"text-generation-server", "3+d20251101"},
	}
	if diff := cmp.Diff([]Tree{{Package: "vllm", Commit: "3cf059a72"}, {Package: "lmdeploy", Commit: "1a2b3c4d"}}, VersionTrees(versions)); diff != "" {
		t.Error(diff)
	}
}

func TestTree(t *testing.T) {
	id := strings.Repeat("a", 40)
	clean := answers("commit", "", id+"\n", "status", "", "# branch.oid "+id+"\n# branch.head main\n")
	dirty := answers("commit", "", id+"\n", "status", "", "# branch.oid "+id+"\n1 .M N... x\n", "diff", "",
		"diff --git a/x b/x\n")
	for name, c := range map[string]struct {
		given probe.Answers
		want  string
	}{
		"clean": {clean, id}, "dirty": {dirty, id + " +"},
		"no git": {answers("head", "", "ref: refs/heads/main\n", "ref", "/w/.git/refs/heads/main", id+"\n"), id},
		"packed": {
			answers("head", "", "ref: refs/heads/main\n", "packed", "", "# pack-refs\n"+id+" refs/heads/main\n"), id,
		},
		"detached": {answers("head", "", id), id}, "none": {nil, ""},
		"hostile": {answers("head", "", "ref: ../../../etc/passwd", "commit", "", "fatal: not a git repository"), ""},
	} {
		tree := Tree{Path: "/w"}
		if found := tree.Settle(c.given); found != (c.want != "") || !strings.HasPrefix(tree.String(), c.want) {
			t.Errorf("%s: %q", name, tree)
		}
	}
	sources := ReadSources([]probe.Answer{
		{Path: "/s/vllm-0.dist-info/direct_url.json", Text: `{"url": "file:///srv/vllm", "dir_info": {"editable": true}}`},
		{
			Path: "/s/sglang-0.dist-info/direct_url.json",
			Text: `{"url": "https://me:token@host/sglang", "vcs_info": {"vcs": "git", "commit_id": "` + id + `"}}`,
		},
		{Path: "/s/wheel-0.dist-info/direct_url.json", Text: `{"url": "file:///tmp/wheel.whl", "archive_info": {}}`},
		{Path: "/s/x/direct_url.json", Text: strings.Repeat("[", 1000)},
	})
	if diff := cmp.Diff([]Tree{
		{Path: "https://host/sglang", Package: "sglang", Commit: id}, {Path: "/srv/vllm", Package: "vllm"},
	}, sources); diff != "" {
		t.Error(diff)
	}
}

// Large values are dropped, and the rest is valid.
func TestBound(t *testing.T) {
	e := &Environment{Process: &Process{Env: map[string]string{}}}
	for i := range 10000 {
		e.Packages = append(e.Packages, Version{fmt.Sprint("package-", i), strings.Repeat("1", 100)})
		e.Process.Env[fmt.Sprint("V", i)] = strings.Repeat("x", 4000)
		e.Process.Args = append(e.Process.Args, strings.Repeat("y", 100))
	}
	e.Packages = append([]Version{{"torch", "2"}}, e.Packages...)
	e.Bound()
	b, err := json.Marshal(e)
	if err != nil || len(b) > mostBytes || !e.Cut || len(e.Packages) == 0 || e.Packages[0].Name != "torch" {
		t.Errorf("%d bytes, cut %v, %d packages, %v", len(b), e.Cut, len(e.Packages), err)
	}
	small := &Environment{Driver: "1"}
	if small.Bound(); small.Cut || small.Driver != "1" {
		t.Errorf("%+v", small)
	}
	if !new(Environment).IsZero() || small.IsZero() {
		t.Error("what is zero")
	}
}

// Whatever a machine says is read without a panic, is valid text of one line each, and small.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"nvidia-smi-q.txt", "npu-smi-info.txt", "amd-smi-static.json"} {
		f.Add(sample(f, name))
	}
	f.Add("vllm\x00serve\x00--api-key\x00x\x00")
	f.Add("/v/a-1.dist-info/METADATA:Name: a\n")
	f.Fuzz(func(t *testing.T, text string) {
		var all probe.Answers
		for _, asks := range [][]probe.Ask{
			MachineAsks, DriverAsks, DeviceAsks, ToolkitAsks, Tree{Path: "/"}.Asks(), ModelAsks([]probe.Ask{{Dir: "/m"}}),
		} {
			for _, a := range asks {
				all = append(all, probe.Answer{Name: a.Name, Path: "/m/config.json", Text: text})
			}
		}
		e := &Environment{
			Machine: ReadMachine(all), Packages: ReadPackages(text), Process: ReadProcess(1, text, text, text),
			Model: ReadModel(text, all), Trees: ReadSources(all),
		}
		e.ReadDevices(all)
		e.ReadToolkits(all)
		tree := Tree{Path: "/"}
		tree.Settle(all)
		PythonSites(e.Process, text, text)
		ModelFolders(e.Process, ModelName(e.Process.Args))
		ContainerID(text)
		Hide(e.Process, nil)
		e.Bound()
		for _, fact := range e.Facts() {
			if strings.ContainsFunc(fact.Name+fact.Value, func(r rune) bool { return r < ' ' || r == 0x7f }) ||
				strings.ToValidUTF8(fact.Value, "") != fact.Value {
				t.Errorf("%q: %q", fact.Name, fact.Value)
			}
		}
		if b, err := json.Marshal(e); err != nil || len(b) > mostBytes {
			t.Errorf("%d bytes, %v", len(b), err)
		}
	})
}
