package server

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// A Device is an accelerator with the memory that is in use.
type Device struct {
	ID   string `json:"id"`   // such as "0", of an NPU with its chip: "3.1"
	Used int64  `json:"used"` // bytes
}

// A Baseline is the state before a server is started.
type Baseline struct {
	Devices []Device `json:"devices,omitempty"` // empty: the machine has none that can be read
	Unknown string   `json:"unknown,omitempty"` // why devices that there may be could not be read
}

// devices prints the name and the output of the first tool that works. A machine without either tool has no such
// device.
const devices = `
if command -v nvidia-smi >/dev/null 2>&1; then
  echo nvidia-smi; nvidia-smi --query-gpu=index,memory.used --format=csv,noheader,nounits && exit
fi
if command -v npu-smi >/dev/null 2>&1; then
  echo npu-smi; npu-smi info && exit
fi
command -v nvidia-smi >/dev/null 2>&1 || command -v npu-smi >/dev/null 2>&1 || exit 0
exit 1
`

// look reads the devices where a server runs.
func (o Options) look(ctx context.Context, h Handle) Baseline {
	out, err := runners[h.Runner].shell(ctx, h, o, devices)
	if err != nil {
		return Baseline{Unknown: o.clean(err.Error())}
	}
	if out == "" {
		return Baseline{}
	}
	read := readDevices(out)
	if len(read) == 0 {
		tool, _, _ := strings.Cut(out, "\n")
		return Baseline{Unknown: tool + " lists no memory"}
	}
	return Baseline{Devices: read}
}

// readDevices reads the output of either tool.
func readDevices(text string) (all []Device) {
	npu := ""
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, "|"); len(cells) == 5 {
			var d Device
			if npu, d = readNPU(npu, cells); d.ID != "" {
				all = append(all, d)
			}
			continue
		}
		index, used, _ := strings.Cut(line, ",")
		if mib, err := strconv.ParseInt(strings.TrimSpace(used), 10, 64); err == nil {
			all = append(all, Device{strings.TrimSpace(index), mib << 20})
		}
	}
	return all
}

// readNPU reads a row of the table of npu-smi. Each chip has two: number and name of the
// card with its health, then number and bus of the chip with memory as USED / TOTAL, that of
// the device last.
func readNPU(card string, cells []string) (string, Device) {
	head := strings.Fields(cells[1])
	if len(head) == 0 || strings.Trim(head[0], "0123456789") != "" {
		return card, Device{}
	}
	if !strings.Contains(cells[2], ":") { // no bus
		return head[0], Device{}
	}
	if memory := share.FindAllStringSubmatch(cells[3], -1); len(memory) > 0 {
		if mb, err := strconv.ParseInt(memory[len(memory)-1][1], 10, 64); err == nil {
			return card, Device{card + "." + head[0], mb << 20}
		}
	}
	return card, Device{}
}

var share = regexp.MustCompile(`(\d+)\s*/\s*\d+`)

// slack is by how much the use of a device may differ without a server: drivers and tools take some memory
// themselves.
const slack = 128 << 20

// exceeding are the devices that have more in use than before.
func exceeding(before, now []Device) (more []plan.Message) {
	used := map[string]int64{}
	for _, d := range before {
		used[d.ID] = d.Used
	}
	for _, d := range now {
		if was, known := used[d.ID]; known && d.Used > was+slack {
			more = append(more, plan.Msg("server.device-memory", "device", d.ID, "more", d.Used-was))
		}
	}
	return more
}

// answers reports whether something accepts connections at a URL.
func (o Options) answers(ctx context.Context, base string) bool {
	host, port, err := address(base)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, o.Waits.Respond)
	defer cancel()
	conn, err := o.Dial(ctx, "tcp", joined(host, port))
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// holderOf names the process that listens on a port of this machine; empty if the system
// does not tell.
func holderOf(port string) string {
	n, err := strconv.Atoi(port)
	if err != nil {
		return ""
	}
	l, found := proc.ListenerOn(context.Background(), n)
	if !found || l.PID == 0 {
		return ""
	}
	return nameOfMember(proc.Member{PID: l.PID, Command: l.Command})
}
