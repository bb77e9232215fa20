package environment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/sys/probe"
)

// The full name of a chip is made of its board as CANN makes it, by the documented forms of A2, A3 and 950.
func TestBoard(t *testing.T) {
	for _, c := range []struct{ id, product, card, chip, name, firmware string }{
		{"12.0", "910B4", "	NPU ID      : 12\n	Firmware Version               : 7.1.0.3.220\n", "	NPU ID : 12\n	Chip Type : Ascend\n	Chip Name : 910B4\n", "Ascend910B4", "7.1.0.3.220"},
		{"0.0", "Ascend910", "	NPU ID : 0\n	Firmware Version : 7.8.0.6.201\n", "	NPU Name : 9392\n	Chip ID : 0\n	Chip Name : Ascend910\n", "Ascend910_9392", "7.8.0.6.201"},
		{"0", "Ascend950PR", "NPU ID : 0\nNPU Name : 9579\nChip Name : Ascend950PR\nFirmware Version : 9.0.0.105.229\n", "Error parameter of -c\n", "Ascend950PR_9579", "9.0.0.105.229"},
		{"0.0", "310P3", "NPU ID : 0\nFirmware Version : NA\n", "NPU Name : NA\nChip Name : NA\n", "", ""},
	} {
		e := environment.Environment{Devices: []environment.Device{{ID: c.id, Product: c.product}, {ID: "99.0"}}}
		if asks := e.DetailAsks(); len(asks) != 4 || asks[0].Args[5] == "" || len(asks[1].Args) != 8 || len(asks[0].Args) != 6 {
			t.Errorf("%s: %+v", c.id, asks)
		}
		e.ReadDetails(probe.Answers{{Name: "npu-board", Text: c.card}, {Name: "npu-board", Text: c.chip}})
		if e.Chip != c.name || e.Devices[0].Firmware != c.firmware || e.Devices[1].Firmware != "" {
			t.Errorf("%s: chip %q, firmware %q", c.id, e.Chip, e.Devices[0].Firmware)
		}
	}
	for _, d := range []environment.Device{{ID: "0", Product: "NVIDIA H100"}, {ID: "0000:01:00.0", Product: "Ascend910"}} {
		e := environment.Environment{Devices: []environment.Device{d}}
		if asks := e.DetailAsks(); asks != nil {
			t.Errorf("%+v: %+v", d, asks)
		}
	}
}

// A server says where its CANN and ATB are; a folder that is none of this machine's is not looked into.
func TestAscendAsks(t *testing.T) {
	var got []string
	for _, a := range environment.AscendAsks(&environment.Process{Env: map[string]string{
		"ASCEND_HOME_PATH": "/home/x/Ascend/latest", "ASCEND_TOOLKIT_HOME": "../x", "RANK_TABLE_FILE": "/data/ranks.json",
		"ATB_HOME_PATH": "/opt/nnal/atb/latest/atb/cxx_abi_1",
	}}) {
		got = append(got, a.Name+" "+a.Dir)
	}
	want := []string{"cann /home/x/Ascend/latest", "atb /opt/nnal/atb/latest/version.info", "nnal /opt/nnal/atb/latest", "rank-table /data/ranks.json"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var e environment.Environment
	e.ReadToolkits(probe.Answers{
		{Name: "cann", Text: "version=8.5.1\n"},
		{Name: "cann", Text: "version=8.3.0\n"},
		{Name: "nnal", Path: "/opt/nnal/atb/latest", Text: "8.1.RC1\n"},
		{Name: "nnal", Path: "/usr/local/Ascend/nnal/atb/latest", Text: "./8.0.0\n"},
		{Name: "atb", Path: "/opt/nnal/atb/latest/version.info", Text: "    Ascend-cann-atb : 8.1.RC1\n    Ascend-cann-atb Version : 8.1.RC1.B110\n"},
		{Name: "rank-table", Text: "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9  -\n"},
	})
	if diff := cmp.Diff([]environment.Version{{Name: "cann", Version: "8.5.1"}, {Name: "atb", Version: "8.1.RC1"}, {Name: "nnal", Version: "8.1.RC1"}}, e.Toolkits); diff != "" || len(e.RankTable) != 64 {
		t.Error(diff, e.RankTable)
	}
}
