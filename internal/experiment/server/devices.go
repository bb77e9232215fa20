package server

import (
	"context"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/environment"
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
  table=$(npu-smi info) && { echo npu-smi; printf '%s\n' "$table"; exit; }
  printf '%s\n' "$table" >&2
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
	if i := strings.Index(out, "\nnpu-smi\n"); i >= 0 { // the other one is installed too, and does not work
		out = out[i+1:]
	}
	tool, text, _ := strings.Cut(out, "\n")
	read, unread := readDevices(tool, text)
	switch {
	case unread != "":
		return Baseline{Unknown: o.clean(tool + ": " + unread)}
	case len(read) == 0:
		return Baseline{Unknown: o.clean(tool + " lists no memory")}
	}
	return Baseline{Devices: read}
}

// readDevices reads the output of either tool. unread says why some memory is not known.
func readDevices(tool, text string) (all []Device, unread string) {
	if tool == "npu-smi" {
		table := environment.ReadNPUs(text)
		for _, n := range table.Chips {
			if n.Total == 0 {
				return nil, "no memory of NPU " + n.ID
			}
			all = append(all, Device{n.ID, n.Used})
		}
		if len(all) == 0 && table.Unread != "" {
			return nil, "cannot read " + strconv.Quote(table.Unread)
		}
		return all, ""
	}
	for line := range strings.Lines(text) {
		index, used, _ := strings.Cut(line, ",")
		if mib, err := strconv.ParseInt(strings.TrimSpace(used), 10, 64); err == nil {
			all = append(all, Device{strings.TrimSpace(index), mib << 20})
		}
	}
	return all, ""
}

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
