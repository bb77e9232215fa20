package environment

import (
	"cmp"
	"path"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/sys/probe"
)

// AscendAsks are what a server with NPUs says of itself in its variables, for ReadAscend: where its CANN and ATB are,
// and its rank table. They go ahead of ToolkitAsks.
func AscendAsks(p *Process) (asks []probe.Ask) {
	add := func(a probe.Ask) {
		if path.IsAbs(a.Dir) {
			a.Dir = path.Clean(a.Dir)
			asks = append(asks, a)
		}
	}
	for _, name := range []string{"ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"} {
		add(probe.Ask{Name: "cann", Dir: p.Env[name], Glob: "*-linux/ascend_toolkit_install.info", Limit: 4 << 10})
	}
	if home := p.Env["ATB_HOME_PATH"]; home != "" { // .../nnal/atb/latest/atb/cxx_abi_1
		add(probe.Ask{Name: "atb", Dir: path.Join(home, "../../version.info"), Limit: 4 << 10})
		add(probe.Ask{Name: "nnal", Kind: probe.Link, Dir: path.Join(home, "../..")})
	}
	add(probe.Ask{Name: "rank-table", Kind: probe.Hash, Dir: p.Env["RANK_TABLE_FILE"]})
	return asks
}

// ReadAscend reads the answers to AscendAsks and ToolkitAsks that are about NPUs alone.
func (e *Environment) ReadAscend(a probe.Answers) {
	for _, file := range a.All("atb") {
		for line := range strings.Lines(file.Text) {
			name, value, _ := strings.Cut(line, ":")
			if strings.TrimSpace(name) == "Ascend-cann-atb" {
				e.addToolkit("atb", value)
			}
		}
	}
	for _, file := range a.All("atb") {
		e.nnal(file.Path, path.Dir(file.Path))
	}
	for _, latest := range a.All("nnal") {
		e.nnal(latest.Path, strings.TrimSpace(latest.Text))
	}
	e.RankTable = cmp.Or(e.RankTable, hexadecimal.FindString(a.Text("rank-table")))
}

var hexadecimal = lazy.Regexp(`\b[0-9a-f]{64}\b`)

// nnal keeps the version of the package that ATB is installed with: the name of its folder, which a link named latest
// leads to.
func (e *Environment) nnal(at, folder string) {
	if version := path.Base(folder); strings.Contains(at, "/nnal/") && version == versionIn(version) {
		e.addToolkit("nnal", version)
	}
}

func (e *Environment) isNPU() bool {
	return len(e.Devices) > 0 && card.MatchString(e.Devices[0].ID) &&
		(strings.Contains(e.Devices[0].Product, "Ascend") || ascend.MatchString(e.Devices[0].Product))
}

var (
	card   = lazy.Regexp(`^\d{1,4}(?:\.\d{1,4})?$`)
	ascend = lazy.Regexp(`^[39]\d0[A-Z0-9]*$`) // 310, 310P3, 910B3
)

func (e *Environment) boardAsks() []probe.Ask {
	board := []string{"npu-smi", "info", "-t", "board", "-i", firstCard(e.Devices[0].ID)}
	return []probe.Ask{
		{Name: "npu-board", Kind: probe.Run, Args: board, Limit: 16 << 10},
		{Name: "npu-board", Kind: probe.Run, Args: append(board[:len(board):len(board)], "-c", "0"), Limit: 16 << 10},
	}
}

// firstCard is the number of the card of a device: 12 of 12.0.
func firstCard(id string) string {
	id, _, _ = strings.Cut(id, ".")
	return id
}

// readBoard reads the answers to boardAsks: the full name of the chip, as CANN has it, and the firmware of the card.
// A2 has Chip Type Ascend and Chip Name 910B4; A3 and 950 have NPU Name 9392 and Chip Name Ascend910.
func (e *Environment) readBoard(a probe.Answers) {
	board := map[string]string{}
	for _, one := range a.All("npu-board") {
		for line := range strings.Lines(one.Text) {
			name, value, _ := strings.Cut(line, ":")
			if value = clean(value); value != "" && value != "NA" && len(value) < longestProduct {
				board[strings.TrimSpace(name)] = value
			}
		}
	}
	kind, chip, npu := board["Chip Type"], board["Chip Name"], board["NPU Name"]
	switch {
	case chip != "" && npu != "":
		e.Chip = chip + "_" + npu
	case chip != "" && kind != "" && !strings.HasPrefix(chip, kind):
		e.Chip = kind + chip
	default:
		e.Chip = chip
	}
	for i, d := range e.Devices {
		if firstCard(d.ID) == board["NPU ID"] {
			e.Devices[i].Firmware = cmp.Or(d.Firmware, board["Firmware Version"])
		}
	}
}
