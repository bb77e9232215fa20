package environment

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/probe"
)

// DriverAsks are the files that ReadDevices reads.
var DriverAsks = []probe.Ask{
	{Name: "nvidia-version", Dir: "/proc/driver/nvidia/version", Limit: 4 << 10},
	{Name: "nvidia-gpu", Dir: "/proc/driver/nvidia/gpus", Glob: "*/information", Limit: 4 << 10},
	{Name: "ascend-driver", Dir: "/usr/local/Ascend/driver/version.info", Limit: 4 << 10},
	{Name: "ascend-firmware", Dir: "/usr/local/Ascend/firmware/version.info", Limit: 4 << 10},
	{Name: "amdgpu-version", Dir: "/sys/module/amdgpu/version", Limit: 256},
}

// DeviceAsks are the programs of vendors that ReadDevices reads.
var DeviceAsks = []probe.Ask{
	{Name: "nvidia-smi", Kind: probe.Run, Args: []string{"nvidia-smi", "-q"}, Limit: 512 << 10},
	{Name: "npu-smi", Kind: probe.Run, Args: []string{"npu-smi", "info"}, Limit: 128 << 10},
	{Name: "amd-smi", Kind: probe.Run, Args: []string{"amd-smi", "static", "--json"}, Limit: 512 << 10},
}

// ToolkitAsks are what ReadToolkits reads, of the files that the process sees.
var ToolkitAsks = []probe.Ask{
	{Name: "cuda", Dir: "/usr/local/cuda/version.json", Limit: 64 << 10},
	{Name: "cuda-txt", Dir: "/usr/local/cuda/version.txt", Limit: 256},
	{
		Name: "cann", Dir: "/usr/local/Ascend/ascend-toolkit/latest", Glob: "*-linux/ascend_toolkit_install.info",
		Limit: 4 << 10,
	},
	{Name: "cann", Dir: "/usr/local/Ascend/cann", Glob: "*-linux/ascend_toolkit_install.info", Limit: 4 << 10},
	{Name: "atb", Dir: "/usr/local/Ascend/nnal/atb/latest/version.info", Limit: 4 << 10},
	{Name: "nnal", Kind: probe.Link, Dir: "/usr/local/Ascend/nnal/atb/latest"},
	{Name: "rocm", Dir: "/opt/rocm/.info/version", Limit: 256},
}

// ReadDevices reads the answers to DriverAsks and DeviceAsks. It returns the first line of npu-smi that is not of a
// known form.
func (e *Environment) ReadDevices(a probe.Answers) (unread string) {
	if !e.nvidiaSMI(a.Text("nvidia-smi")) && !e.nvidiaFiles(a) {
		if unread = e.npuSMI(a); len(e.Devices) == 0 {
			e.amdSMI(a.Text("amd-smi"))
		}
	}
	if driver := clean(a.Text("amdgpu-version")); driver != "" && len(e.Devices) > 0 {
		e.Driver = cmp.Or(e.Driver, driver)
	}
	return unread
}

// nvidiaSMI reads `nvidia-smi -q`: lines NAME : VALUE, sections indented under the address of
// each GPU.
func (e *Environment) nvidiaSMI(text string) bool {
	var d *Device
	section := ""
	for line := range strings.Lines(text) {
		name, value, pair := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		indent := len(name) - len(strings.TrimLeft(name, " "))
		name, value = strings.TrimSpace(name), clean(value)
		if value == "N/A" || value == "[N/A]" {
			value = ""
		}
		switch {
		case strings.HasPrefix(line, "GPU "):
			e.Devices = append(e.Devices, Device{ID: strings.ToLower(clean(line[len("GPU "):]))})
			d = &e.Devices[len(e.Devices)-1]
		case d == nil && name == "Driver Version":
			e.Driver = value
		case d == nil && name == "CUDA Version" && value != "": // that the driver goes up to
			e.Toolkits = append(e.Toolkits, Version{"cuda-driver", value})
		case d == nil:
		case !pair || value == "" && indent == 4:
			section = name
		case indent == 4 && name == "Product Name":
			d.Product = value
		case indent == 4 && name == "GPU UUID":
			d.UUID = value
		case indent == 4 && name == "VBIOS Version":
			d.Firmware = value
		case section == "FB Memory Usage" && name == "Total":
			d.Memory = memoryOf(value)
		case section == "GPU Power Readings" && name == "Current Power Limit",
			section == "Power Readings" && name == "Power Limit":
			d.PowerCap = value
		}
	}
	return len(e.Devices) > 0
}

func memoryOf(text string) int64 {
	number, unit, _ := strings.Cut(text, " ")
	return bytesOf(number, unit)
}

// nvidiaFiles reads what the driver itself tells, without a program.
func (e *Environment) nvidiaFiles(a probe.Answers) bool {
	for line := range strings.Lines(a.Text("nvidia-version")) {
		if strings.HasPrefix(line, "NVRM version:") {
			e.Driver = cmp.Or(e.Driver, version.FindString(line))
		}
	}
	for _, one := range a.All("nvidia-gpu") {
		d := Device{ID: path.Base(path.Dir(one.Path))}
		for line := range strings.Lines(one.Text) {
			name, value, _ := strings.Cut(line, ":")
			switch value = clean(value); strings.TrimSpace(name) {
			case "Model":
				d.Product = value
			case "GPU UUID":
				d.UUID = value
			case "Video BIOS":
				d.Firmware = value
			}
		}
		e.Devices = append(e.Devices, d)
	}
	return len(e.Devices) > 0
}

// npuSMI reads the table of `npu-smi info`.
func (e *Environment) npuSMI(a probe.Answers) (unread string) {
	e.Driver = cmp.Or(e.Driver, assigned(a.Text("ascend-driver"), "Version"))
	if a.Text("npu-smi") == "" {
		e.Driver = clean(e.Driver)
		return ""
	}
	table := ReadNPUs(a.Text("npu-smi"))
	e.Driver = clean(cmp.Or(e.Driver, table.Version))
	firmware := clean(assigned(a.Text("ascend-firmware"), "Version"))
	for _, n := range table.Chips {
		e.Devices = append(e.Devices, Device{
			ID: n.ID, Product: n.Product, Firmware: firmware, Memory: n.Total, Physical: n.Physical,
		})
	}
	return table.Unread
}

// amdGPU is an item of `amd-smi static --json`.
type amdGPU struct {
	GPU  int `json:"gpu"`
	ASIC struct {
		Name   string `json:"market_name"`
		Serial string `json:"asic_serial"`
	} `json:"asic"`
	Bus struct {
		Address string `json:"bdf"`
	} `json:"bus"`
	VBIOS struct {
		Version string `json:"version"`
	} `json:"vbios"`
	Driver struct {
		Version string `json:"version"`
	} `json:"driver"`
	VRAM struct {
		Size json.RawMessage `json:"size"`
	} `json:"vram"`
}

// amdSMI reads a list of devices, which newer versions put under gpu_data.
func (e *Environment) amdSMI(text string) bool {
	var list []json.RawMessage
	var under struct {
		List []json.RawMessage `json:"gpu_data"`
	}
	if plan.Unmarshal([]byte(text), &list) != nil {
		if plan.Unmarshal([]byte(text), &under) != nil {
			return false
		}
		list = under.List
	}
	for _, raw := range list[:min(len(list), mostItems)] {
		var g amdGPU
		if json.Unmarshal(raw, &g) != nil && g.ASIC.Name == "" { // a field of another type leaves the others
			continue
		}
		var size struct {
			Value json.Number `json:"value"`
			Unit  string      `json:"unit"`
		}
		_ = json.Unmarshal(g.VRAM.Size, &size) // not every version has it
		known := func(text string) string {
			if text == "N/A" {
				return ""
			}
			return clean(text)
		}
		e.Devices = append(e.Devices, Device{
			ID: clean(g.Bus.Address), Product: known(g.ASIC.Name), UUID: known(g.ASIC.Serial), Firmware: known(g.VBIOS.Version),
			Memory: bytesOf(size.Value.String(), size.Unit),
		})
		e.Driver = cmp.Or(e.Driver, known(g.Driver.Version))
	}
	return len(e.Devices) > 0
}

// ReadToolkits reads the answers to ToolkitAsks.
func (e *Environment) ReadToolkits(a probe.Answers) {
	var cuda struct {
		CUDA struct {
			Version string `json:"version"`
		} `json:"cuda"`
	}
	_ = plan.Unmarshal([]byte(a.Text("cuda")), &cuda) // any other file has no version
	e.addToolkit("cuda", cmp.Or(cuda.CUDA.Version, version.FindString(a.Text("cuda-txt"))))
	for _, file := range a.All("cann") {
		e.addToolkit("cann", assigned(file.Text, "version"))
	}
	e.addToolkit("rocm", a.Text("rocm"))
	e.ReadAscend(a)
}

// addToolkit keeps the version of a toolkit, the first one of each.
func (e *Environment) addToolkit(name, version string) {
	if version = clean(version); version != "" &&
		!slices.ContainsFunc(e.Toolkits, func(v Version) bool { return v.Name == name }) {
		e.Toolkits = append(e.Toolkits, Version{name, version})
	}
}
