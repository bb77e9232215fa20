package environment_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/environment"
)

// listings are lines of the scripts that issue templates ask for, and of notes, with the facts that they state.
var listings = []struct{ name, text, command, want string }{
	{"collect_env of vllm-ascend", `
PyTorch version: 2.8.0+cpu
Is debug build: False
OS: Ubuntu 22.04.5 LTS (aarch64)
GCC version: (Ubuntu 11.4.0-1ubuntu1~22.04.2) 11.4.0
Python version: 3.11.13 (main, Jul 26 2025, 07:27:32) [GCC 11.4.0] (64-bit runtime)
Python platform: Linux-5.10.0-60.18.0.50.oe2203.aarch64-aarch64-with-glibc2.35
CPU(s):                          192
Model name:                      Kunpeng-920
[pip3] torch_npu==2.8.0
[conda] numpy                     1.26.4          py311h0a7f_0    conda-forge
[conda] Could not collect
vLLM Ascend Version: 0.13.0rc2.dev84+g3cf059a72 (git sha: 3cf059a72)
HCCL_OP_EXPANSION_MODE=AIV
| npu-smi 25.2.0                   Version: 25.2.0                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 94.8        36                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3407 / 65536         |
+===========================+===============+====================================================+
package_name=Ascend-cann-toolkit
version=8.5.0
innerversion=V100R001C23SPC002B210`, "", `package.vllm-ascend 0.13.0rc2.dev84+g3cf059a72
package.torch 2.8.0+cpu
package.torch-npu 2.8.0
package.numpy 1.26.4
driver 25.2.0
cann 8.5.0
devices 910B3
env.HCCL_OP_EXPANSION_MODE AIV
cpu Kunpeng-920
processors 192 threads
kernel Linux 5.10.0-60.18.0.50.oe2203.aarch64 aarch64
system Ubuntu 22.04.5 LTS
python 3.11.13`},
	{"check_env of sglang", `
Python: 3.11.14 (main, Oct 21 2025, 18:27:30) [GCC 10.3.1]
NPU available: True
NPU 0,1,2,3: Ascend910_9392
CANN_HOME: /usr/local/Ascend/cann-8.5.0
CANN: 8.5.0
Ascend Driver Version: 25.5.0
PyTorch: 2.8.0+cpu
sgl_kernel: Module Not Found
sgl_kernel_npu: 2026.02.01
fastapi: 0.128.0
ulimit soft: 1048576`, "", `package.sgl-kernel-npu 2026.02.01
package.torch 2.8.0+cpu
driver 25.5.0
cann 8.5.0
devices 4 × Ascend910_9392
python 3.11.14
package.fastapi 0.128.0`},
	{"a note", `
**CANN版本**：8.5.1
驱动版本：25.5.1
固件版本: 7.8.0.6.201
torch_npu: 2.9.0.post2
硬件：Atlas 800I A3
NPU: Ascend910_9392 x16
NPU: 910B3
vLLM commit: 3cf059a72
export HCCL_BUFFSIZE=1024 MY_PASS=hunter22 LD_LIBRARY_PATH=$HOME/lib:$LD_LIBRARY_PATH`, "TASK_QUEUE_ENABLE=1 vllm serve M -tp 4", `commit.vllm 3cf059a72
package.torch-npu 2.9.0.post2
driver 25.5.1
cann 8.5.1
devices 16 × Ascend910_9392
firmware 16 × 7.8.0.6.201
command vllm serve M
arg.tp 4
env.HCCL_BUFFSIZE 1024
env.TASK_QUEUE_ENABLE 1
hardware Atlas 800I A3`},
	{"lscpu in Chinese", "CPU:   Architecture:   aarch64\nCPU:   192\n每个核的线程数：  1\n座：  4\n型号名称：  Kunpeng-920\nNUMA 节点0 CPU：  0-23\nNUMA 节点1 CPU：  24-47", "", "cpu Kunpeng-920\nprocessors 4 sockets, 192 threads\nnuma 0-23 24-47"},
	{"in one line", "环境：CANN 8.5.1，torch_npu 2.9.0.post2\n驱动：Ascend HDK 25.2.0", "", "package.torch-npu 2.9.0.post2\ndriver 25.2.0\ncann 8.5.1"},
	{"in pairs", "GPU 0: NVIDIA L40S (UUID: GPU-1)\nGPU 1: NVIDIA L40S\nGPU 1: NVIDIA L40S\nCUDA runtime version         : 12.9.86", "", "cuda 12.9.86\ndevices 2 × NVIDIA L40S"},
	{"not known", "CANN: 8.5.0 / 8.5.1\nDriver: >= 25.0\nCANN: 8.5.1+\nCUDA: N/A\nGPU: <your GPU>\nGPU: 95%\nNPU: 8卡\nGPU: 12.5 GB\nNPU: 16\nhcclbuff: 1.5\nTP=8\nvLLM: main", "", ""},
}

func TestListing(t *testing.T) {
	for _, c := range listings {
		t.Run(c.name, func(t *testing.T) {
			var l environment.Listing
			for line := range strings.Lines(c.text) {
				l.Line(line, true)
			}
			var got []string
			for _, f := range l.Environment(c.command).Facts() {
				got = append(got, f.Name+" "+f.Value)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "\n")); diff != "" {
				t.Error("(- want, + got):\n" + diff)
			}
		})
	}
}

func FuzzListing(f *testing.F) {
	f.Add("| npu-smi 25.2.0 Version: 25.2.0 |\npackage_name=x\nversion=1.2.3\nGPU 0,1: X", "A=1 vllm serve M")
	f.Fuzz(func(_ *testing.T, text, command string) {
		var l environment.Listing
		for line := range strings.Lines(text) {
			l.Line(line, len(line)%2 == 0)
		}
		l.Environment(command).Facts()
	})
}
