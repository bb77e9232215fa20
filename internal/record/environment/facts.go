package environment

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Fact is one value of an environment.
type Fact struct {
	Name  string // image, package.torch, arg.max-num-seqs, env.CUDA_VISIBLE_DEVICES ...
	Value string
	// Main are the few that explain most: image, commit, model, driver, the engine's packages
	// and its arguments.
	Main bool
}

// Facts are all that is known, the main ones first. What differs from one start to the next
// without meaning, such as the number of a process, is none.
func (e *Environment) Facts() []Fact {
	if e == nil {
		return nil
	}
	var l facts
	l.add(true, "image", e.Image.Name)
	l.add(true, "image.digest", e.Image.Digest)
	for _, t := range e.Trees {
		l.add(true, strings.TrimSuffix("commit."+normal(t.Package), "."), t.String())
	}
	l.model(e.Model)
	n := matter(e.Packages)
	for _, p := range e.Packages[:n] {
		l.add(true, "package."+normal(p.Name), p.Version)
	}
	l.add(true, "driver", e.Driver)
	for _, t := range e.Toolkits {
		l.add(true, t.Name, t.Version)
	}
	l.add(true, "devices", e.Products())
	l.add(true, "chip", e.Chip)
	l.add(true, "topology", e.Topology.String())
	l.add(true, "ports.link", counted(e.Ports, func(p Port) string { return p.Link }))
	l.add(true, "ports.speed", counted(e.Ports, func(p Port) string { return p.Speed }))
	l.add(true, "rank-table", short(e.RankTable))
	l.add(true, "firmware", counted(e.Devices, func(d Device) string { return d.Firmware }))
	if e.Process != nil {
		l.process(e.Process)
	}
	l.machine(e.Machine)
	l.add(false, "devices.power-cap", counted(e.Devices, func(d Device) string { return d.PowerCap }))
	l.add(false, "devices.uuid", counted(e.Devices, func(d Device) string { return d.UUID }))
	l.add(false, "python", e.Python)
	for _, p := range e.Packages[n:] {
		l.add(false, "package."+normal(p.Name), p.Version)
	}
	slices.SortStableFunc(l, func(a, b Fact) int { return order(b.Main) - order(a.Main) })
	return l
}

func order(is bool) int {
	if is {
		return 1
	}
	return 0
}

type facts []Fact

func (l *facts) add(main bool, name, value string) {
	if value != "" {
		*l = append(*l, Fact{name, value, main})
	}
}

func (l *facts) model(m *Model) {
	if m == nil {
		return
	}
	l.add(true, "model.architecture", m.Architecture)
	l.add(true, "model.dtype", m.DType)
	l.add(true, "model.quantization", m.Quantization)
	l.add(true, "model.index", short(m.Index))
	l.add(true, "model.config", short(m.Config))
	if m.Bytes > 0 {
		l.add(true, "model.bytes", strconv.FormatInt(m.Bytes, 10))
	}
	l.add(false, "model.path", m.Path)
	for _, name := range slices.Sorted(maps.Keys(m.Facts)) {
		l.add(name == "revision", "model."+name, m.Facts[name])
	}
}

func (l *facts) process(p *Process) {
	flags, words := Flags(p.Args)
	l.add(true, "command", words)
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		l.add(true, "arg."+name, flags[name])
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		l.add(false, "env."+name, p.Env[name])
	}
}

func (l *facts) machine(m Machine) {
	l.add(false, "hardware", m.Product)
	l.add(false, "cpu", m.CPU)
	if m.Threads > 0 {
		l.add(false, "processors", m.Processors())
	}
	l.add(false, "governor", m.Governor)
	l.add(false, "swappiness", m.Swappiness)
	l.add(false, "numa-balancing", m.NUMABalancing)
	l.add(false, "numa", strings.Join(m.NUMA, " "))
	if m.Memory > 0 {
		l.add(false, "memory", fmt.Sprintf("%d GiB", (m.Memory+1<<29)>>30))
	}
	if m.CPULimit > 0 {
		l.add(false, "cpu-limit", fmt.Sprintf("%g", m.CPULimit))
	}
	if m.MemoryLimit > 0 {
		l.add(false, "memory-limit", fmt.Sprintf("%d MiB", m.MemoryLimit>>20))
	}
	l.add(false, "kernel", m.Kernel)
	l.add(false, "system", m.System)
	l.add(false, "host", m.Host)
}

// Processors are their numbers: 2 sockets, 64 cores, 128 threads.
func (m Machine) Processors() string {
	var parts []string
	for _, p := range []struct {
		n    int
		unit string
	}{{m.Sockets, "socket"}, {m.Cores, "core"}, {m.Threads, "thread"}} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.unit)
		case p.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", p.n, p.unit))
		}
	}
	return strings.Join(parts, ", ")
}

// Products are the devices by name, with how many there are of each.
func (e *Environment) Products() string {
	return counted(e.Devices, func(d Device) string { return d.Product })
}

// counted are the values of devices, each once, with how many have it.
func counted[T any](all []T, of func(T) string) string {
	var names []string
	by := map[string]int{}
	for _, d := range all {
		if v := of(d); v != "" {
			if by[v]++; by[v] == 1 {
				names = append(names, v)
			}
		}
	}
	for i, name := range names {
		if by[name] > 1 {
			names[i] = fmt.Sprintf("%d × %s", by[name], name)
		}
	}
	return strings.Join(names, ", ")
}

// String is a tree in one line: its commit, and the hash of its changes.
func (t Tree) String() string {
	switch {
	case t.Commit == "":
		return ""
	case t.Dirty == nil || !*t.Dirty:
		return t.Commit
	}
	return t.Commit + " +" + t.Diff
}

func short(hash string) string { return hash[:min(len(hash), 16)] }

// Flags are the flags of a command line by name, without dashes; one without a value has true.
// Words are the arguments before the first one: the program, without its folder, and its
// subcommand.
func Flags(args []string) (flags map[string]string, words string) {
	flags = map[string]string{}
	last := ""
	var ahead []string
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		dashes := len(name) - len(strings.TrimLeft(name, "-"))
		_, err := strconv.ParseFloat(arg, 64)
		module := arg == "-m" && i == 1
		switch {
		case dashes > 0 && len(name) > dashes && err != nil && !module:
			last = strings.ReplaceAll(name[dashes:], "_", "-")
			if flags[last] = "true"; joined {
				flags[last], last = value, ""
			}
		case last == "":
			if i < 2 {
				arg = arg[strings.LastIndex(arg, "/")+1:]
			}
			ahead = append(ahead, arg)
		case flags[last] == "true":
			flags[last] = arg
		default:
			flags[last] += " " + arg
		}
	}
	return flags, strings.Join(ahead, " ")
}

// Main are the packages that matter.
func (e *Environment) Main() []Version { return e.Packages[:matter(e.Packages)] }

// Tunes reports whether a variable is one that engines, their libraries and their drivers read.
func Tunes(name string) bool { return begins(name, tuning) }

// tuning are the beginnings of such variables.
var tuning = []string{
	"VLLM_", "SGLANG_", "SGL_", "CUDA_", "NVIDIA_VISIBLE", "NCCL_", "HCCL_", "ASCEND_", "ATB_", "PYTORCH_", "TORCH",
	"TRITON_", "FLASHINFER_", "OMP_", "MKL_", "HIP_", "ROCR_", "HSA_", "RCCL_", "GLOO_", "UCX_", "RAY_", "LMCACHE_",
	"KVCACHED_", "MOONCAKE_", "TASK_QUEUE", "STREAMS_PER", "CPU_AFFINITY", "HF_HUB_OFFLINE", "GGML_", "LLAMA_",
	"TOKENIZERS_", "ACL_", "AUTO_USE_", "DEEP_", "DEEPEP_", "DISAGG", "ENABLE_", "INF_NAN_", "KMP_", "LCCL_", "LD_PRELOAD", "MALLOC_",
	"MOE_", "MSMONITOR_", "PD_", "PYTHONHASHSEED", "RANK_TABLE", "TNG_", "TP_SOCKET", "USE_",
}

// Idle reports whether a variable never explains a difference: those of a login, a terminal, a shell and a desktop,
// of certificates and of a cluster's services, those that name what is recorded elsewhere, and those that are new with
// each start.
func Idle(name string) bool {
	return slices.Contains(idle, name) || begins(name, idling) || strings.Contains(name, "_SERVICE_") ||
		strings.Contains(name, "_PORT_") && strings.Contains(name, "_TCP") ||
		strings.Contains(name, "_CA_") || strings.Contains(name, "_CERT")
}

var (
	idle = []string{
		"COLORTERM", "COLUMNS", "CONTAINER_NAME", "DISPLAY", "EDITOR", "GPG_KEY", "HOME", "HOSTNAME", "INVOCATION_ID", "LANG", "LANGUAGE",
		"LINES", "LOGNAME", "MAIL", "MANPATH", "OLDPWD", "PAGER", "PATH", "PROMETHEUS_MULTIPROC_DIR", "PROMPT_COMMAND",
		"PS1", "PS2", "PWD", "PYTHON_SHA256", "PYTHON_VERSION", "SHELL", "SHLVL", "STY", "TEMP", "TERM", "TMP", "TMPDIR", "TZ",
		"USER", "USERNAME", "WINDOWID", "container", "_",
	}
	idling = []string{
		"BASH_FUNC_", "CONDA_", "DBUS_", "DEBIAN_", "DEBUGINFOD_", "GIT_", "GNOME_", "GPG_", "GTK_", "HIST", "JOURNAL_",
		"KUBERNETES_", "LC_", "LESS", "LS_COLORS", "NVIDIA_REQUIRE", "NV_", "PIP_", "PITOT_", "PYTHON_PIP_", "SSH_",
		"SUDO_", "SYSTEMD_", "TERM_", "TMUX", "UV_", "VIRTUAL_ENV_PROMPT", "VSCODE_", "WT_", "XDG_", "ZSH",
	}
)

func begins(name string, with []string) bool {
	return slices.ContainsFunc(with, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// Variables are the names of those that may explain a difference, the ones that engines read first, and how many
// others there are.
func (p *Process) Variables() (names []string, others int) {
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		if !Idle(name) {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return order(Tunes(b)) - order(Tunes(a)) })
	return names, len(p.Env) - len(names)
}
