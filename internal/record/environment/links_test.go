package environment

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/sys/probe"
)

// Matrices as npu-smi prints them on A2, A3 and 950, and nvidia-smi; and what is none.
func TestTopology(t *testing.T) {
	for name, c := range map[string]struct{ text, want, unread string }{
		"A2":            {"\t   NPU0       NPU1       CPU Affinity\nNPU0       X          HCCS       144-167\nNPU1       HCCS       X          0-23\n\nLegend:\n\n  X    = Self\n", "HCCS", ""},
		"A3":            {"          Phy-ID2    Phy-ID3    Phy-ID12\nPhy-ID2    X          SIO        HCCS_SW\nPhy-ID3    SIO        X          HCCS_SW\nPhy-ID12   HCCS_SW    HCCS_SW    X\n", "HCCS_SW SIO", ""},
		"950":           {"       NPU0       NPU1       NIC0\nNPU0       X          UB         NA\nNPU1       UB         X          NA\nNIC0       NA         NA         X\n", "NA UB", ""},
		"NVIDIA":        {"\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\nGPU0\t X \tNV18\tPIX\t0-47\t0\t\tN/A\nGPU1\tNV18\t X \tSYS\t48-95\t1\t\tN/A\nNIC0\tPIX\tSYS\t X \t\t\t\t\n\nLegend:\n\n  X    = Self\n  NIC0: mlx5_0\n", "NV18 PIX SYS", ""},
		"one":           {"WARNING: infoROM is corrupted\n\tGPU0\tCPU Affinity\nGPU0\t X \t0-47\n", "", ""},
		"an error":      {"Error parameter of topo\n", "none", ""},
		"nothing":       {"", "none", ""},
		"cut":           {"NPU0 NPU1\nNPU0 X HCCS\n", "none", "1 of 2 rows"},
		"a gap":         {"NPU0 NPU1\n\n", "none", "0 of 2 rows"},
		"another order": {"NPU0 NPU1\nNPU1 HCCS X\n", "none", "NPU1 HCCS X"},
		"too few":       {"NPU0 NPU1 NPU2\nNPU0 X HCCS\n", "none", "NPU0 X HCCS"},
		"no diagonal":   {"NPU0 NPU1\nNPU0 HCCS X\n", "none", "NPU0 HCCS X"},
		"no connection": {"NPU0 NPU1\nNPU0 X 12%\n", "none", "NPU0 X 12%"},
	} {
		got, unread := readTopology(c.text)
		links := "none"
		if got != nil {
			links = strings.Join(got.Links, " ")
		}
		if links != c.want || unread != c.unread {
			t.Errorf("%s: %s, %q, want %s, %q", name, links, unread, c.want, c.unread)
		}
	}
	near, _ := readTopology("NPU0\nNPU0 X 0-23\n")
	far, _ := readTopology("NPU0\nNPU0 X 24-47\n")
	if near.String() == far.String() || len(near.Hash) != 64 {
		t.Error(near, far)
	}
	wide := strings.Repeat(" NPU1", 500)
	if large, unread := readTopology(wide[1:] + "\n" + strings.Repeat("NPU1 X\n", 500)); large != nil || unread == "" {
		t.Error(large, unread)
	}
}

func TestPorts(t *testing.T) {
	got, unread := readPorts(`@ 0 link
link status: UP

@ 0 ip
ipaddr:10.0.0.11
netmask:255.255.255.0

@ 0 speed
Speed: 200000 Mb/s

@ 1 link
link status: DOWN
@ 1 ip
@ 1 speed
Speed: Unknown!
@ 2 link
hccn_tool is busy, please try again later.
@ 2 ip
ipaddr:x
`)
	want := []Port{{"0", "UP", "200000 Mb/s", "10.0.0.11"}, {Device: "1", Link: "DOWN"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if unread == nil || *unread != (Unread{"hccn_tool -i 2 -link -g", "hccn_tool is busy, please try again later."}) {
		t.Error(unread)
	}
}

// NPUs are asked by their physical numbers; two chips of a card that have none are not.
func TestPortAsks(t *testing.T) {
	for _, c := range []struct {
		devices []Device
		want    string
	}{
		{[]Device{{ID: "0.0", Product: "Ascend910", Physical: "0"}, {ID: "0.1", Product: "Ascend910", Physical: "1"}}, "for i in 0 1;"},
		{[]Device{{ID: "12.0", Product: "910B2C"}}, "for i in 12;"},
		{[]Device{{ID: "3", Product: "Ascend950DT"}}, "for i in 3;"},
		{[]Device{{ID: "2.0", Product: "310P3"}, {ID: "2.1", Product: "310P3"}}, ""},
	} {
		script := ""
		for _, a := range (&Environment{Devices: c.devices}).DetailAsks() {
			if a.Name == "npu-ports" {
				script = a.Args[2]
			}
		}
		if !strings.Contains(script, c.want) || c.want == "" && script != "" {
			t.Errorf("%+v: %s", c.devices, script)
		}
	}
	gpus := &Environment{Devices: []Device{{ID: "00000000:17:00.0", UUID: "GPU-1"}}}
	if asks := gpus.DetailAsks(); len(asks) != 1 || asks[0].Args[0] != "nvidia-smi" {
		t.Error(asks)
	}
	if unread := gpus.ReadDetails(probe.Answers{{Name: "topology", Text: "GPU0\nGPU0 ?\n"}}); len(unread) != 1 || unread[0] != (Unread{"nvidia-smi topo -m", "GPU0 ?"}) {
		t.Error(unread)
	}
}

func FuzzDetails(f *testing.F) {
	f.Add("@ 0 link\nlink status: UP\n", "NPU0 NPU1\nNPU0 X HCCS\nNPU1 HCCS X\n")
	f.Fuzz(func(_ *testing.T, ports, topology string) {
		var e Environment
		e.ReadDetails(probe.Answers{{Name: "npu-ports", Text: ports}, {Name: "topology", Text: topology}})
		e.Bound()
	})
}
