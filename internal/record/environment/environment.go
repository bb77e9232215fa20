// Package environment describes the systems behind a run, as data: the machine of the client, and of
// the server also its devices, its container, its process with arguments and packages, its
// working trees and its model.
//
// Package run/inspect gathers it as Answers of package probe, and this package reads them: every
// reader takes untrusted text and skips parts that it cannot read. An unknown value is empty,
// never a guess. Hide removes secrets from arguments and variables before they are stored. Bound
// limits the size, so that each run can store an environment.
//
// Facts lists it flat, starting with those that explain most differences between two runs.
package environment

import (
	"encoding/json"
	"strings"
)

// An Environment is that of one side of a run.
type Environment struct {
	Site     string    `json:"site,omitempty"` // where it was looked for, as plan.Site; empty: here, or in a note
	Role     string    `json:"role,omitempty"` // in a deployment of several processes, as plan.Site
	Machine  Machine   `json:"machine,omitzero"`
	Devices  []Device  `json:"devices,omitempty"`
	Driver   string    `json:"driver,omitempty"`   // version of that of the devices
	Chip     string    `json:"chip,omitempty"`     // of the first NPU, in full: Ascend910_9392
	Toolkits []Version `json:"toolkits,omitempty"` // cuda, cann, atb, rocm
	// RankTable is the SHA-256 of the file with the NPUs of a deployment.
	RankTable string    `json:"rank_table,omitempty"`
	Topology  *Topology `json:"topology,omitempty"` // of the devices
	Ports     []Port    `json:"ports,omitempty"`    // of NPUs
	Image     Image     `json:"image,omitzero"`
	Process   *Process  `json:"process,omitempty"` // that serves
	Python    string    `json:"python,omitempty"`  // version of the interpreter that its packages are for
	Packages  []Version `json:"packages,omitempty"`
	Trees     []Tree    `json:"trees,omitempty"`
	Model     *Model    `json:"model,omitempty"`
	// Cut means that something was left out, since it was too large to keep.
	Cut bool `json:"cut,omitempty"`
}

// IsZero reports whether nothing is known.
func (e *Environment) IsZero() bool {
	if e == nil {
		return true
	}
	b, err := json.Marshal(e)
	return err == nil && string(b) == "{}"
}

// A Machine is hardware and system.
type Machine struct {
	Host     string   `json:"host,omitempty"`
	Product  string   `json:"product,omitempty"` // of the server, as a note names it: Atlas 800I A3
	System   string   `json:"system,omitempty"`  // the distribution: Ubuntu 22.04.5 LTS
	Kernel   string   `json:"kernel,omitempty"`  // Linux 6.8.0-45-generic x86_64
	CPU      string   `json:"cpu,omitempty"`     // model
	Sockets  int      `json:"sockets,omitempty"`
	Cores    int      `json:"cores,omitempty"`   // of all sockets
	Threads  int      `json:"threads,omitempty"` // logical processors
	Governor string   `json:"governor,omitempty"`
	NUMA     []string `json:"numa,omitempty"`   // the processors of each node: 0-63
	Memory   int64    `json:"memory,omitempty"` // bytes
	// Swappiness and NUMABalancing are vm.swappiness and kernel.numa_balancing.
	Swappiness    string `json:"swappiness,omitempty"`
	NUMABalancing string `json:"numa_balancing,omitempty"`
	// CPULimit is the quota of the control group, in processors, and MemoryLimit that in
	// bytes; 0: none is known.
	CPULimit    float64 `json:"cpu_limit,omitempty"`
	MemoryLimit int64   `json:"memory_limit,omitempty"`
}

// A Device is an accelerator.
type Device struct {
	ID       string `json:"id,omitempty"`      // its number or its bus address
	Product  string `json:"product,omitempty"` // NVIDIA H100 80GB HBM3, Ascend910
	UUID     string `json:"uuid,omitempty"`
	Firmware string `json:"firmware,omitempty"` // VBIOS, or the NPU's firmware
	Memory   int64  `json:"memory,omitempty"`   // bytes
	PowerCap string `json:"power_cap,omitempty"`
	// Physical is the number by which hccn_tool knows an NPU; empty: that of its card.
	Physical string `json:"physical,omitempty"`
}

// A Version is that of a package or of a toolkit.
type Version struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// An Image is that of a container.
type Image struct {
	Name   string `json:"name,omitempty"`   // as it was asked for, with its tag
	Digest string `json:"digest,omitempty"` // sha256:... of the registry, else of the image itself
	// Container is the container's id, if the image is not known.
	Container string `json:"container,omitempty"`
}

// A Process is what serves.
type Process struct {
	PID  int               `json:"pid,omitempty"`
	Args []string          `json:"args,omitempty"`
	Env  map[string]string `json:"env,omitempty"`
	Dir  string            `json:"dir,omitempty"` // its working directory
}

// A Tree is a working tree of git.
type Tree struct {
	Path string `json:"path,omitempty"`
	// Package is the one installed from it; empty: it was given, or is the working directory.
	Package string `json:"package,omitempty"`
	Commit  string `json:"commit,omitempty"`
	// Dirty says whether files under version control were changed; nil: not known.
	Dirty *bool `json:"dirty,omitempty"`
	// Diff is the hash of the changes (of `git diff HEAD`): two dirty trees differ in it.
	Diff string `json:"diff,omitempty"`
}

// A Model is a model folder or file.
type Model struct {
	Path         string            `json:"path,omitempty"`
	Architecture string            `json:"architecture,omitempty"`
	DType        string            `json:"dtype,omitempty"`
	Quantization string            `json:"quantization,omitempty"`
	Facts        map[string]string `json:"facts,omitempty"`  // further ones of its config.json
	Config       string            `json:"config,omitempty"` // SHA-256 of config.json
	Index        string            `json:"index,omitempty"`  // SHA-256 of the index of its weights
	Files        int               `json:"files,omitempty"`  // of weights
	Bytes        int64             `json:"bytes,omitempty"`  // of them together
}

// Bounds of a stored Environment.
const (
	mostItems   = 2048      // of any list
	longestText = 4 << 10   // bytes of one text
	mostBytes   = 192 << 10 // of all, as JSON
)

// Bound shortens values that are too large, and drops the least informative parts if that
// is not enough: variables, then packages that do not matter, then arguments.
func (e *Environment) Bound() {
	e.boundLists()
	for _, drop := range []func(){
		func() {
			if e.Process != nil {
				e.Process.Env = nil
			}
		},
		func() { e.Packages = e.Packages[:matter(e.Packages)] },
		func() { e.Devices, e.Trees = e.Devices[:min(len(e.Devices), 64)], e.Trees[:min(len(e.Trees), 8)] },
		func() { e.Process.shorten() },
		func() { e.Process, e.Packages, e.Model, e.Trees, e.Topology, e.Ports = nil, nil, nil, nil, nil, nil },
	} {
		if b, err := json.Marshal(e); err == nil && len(b) <= mostBytes {
			return
		}
		drop()
		e.Cut = true
	}
}

// Tidy makes an Environment from another program fit to be stored: without secrets, and bounded.
// One that Pitot wrote stays as it is.
func (e *Environment) Tidy() {
	if e == nil {
		return
	}
	if e.Process != nil {
		env := e.Process.Env
		if Hide(e.Process, nil); env == nil {
			e.Process.Env = nil
		}
	}
	e.Bound()
}

// shorten leaves what every real command line has.
func (p *Process) shorten() {
	if p == nil {
		return
	}
	p.Args = p.Args[:min(len(p.Args), 256)]
	for i, arg := range p.Args {
		p.Args[i] = clean(arg[:min(len(arg), 256)])
	}
}

func (e *Environment) boundLists() {
	n := len(e.Packages) + len(e.Devices) + len(e.Trees) + len(e.Machine.NUMA)
	e.Packages, e.Devices, e.Trees = head(e.Packages), head(e.Devices), head(e.Trees)
	e.Machine.NUMA = head(e.Machine.NUMA)
	e.Cut = e.Cut || n > len(e.Packages)+len(e.Devices)+len(e.Trees)+len(e.Machine.NUMA)
	if p := e.Process; p != nil {
		e.Cut = e.Cut || len(p.Args) > mostItems || len(p.Env) > mostItems
		p.Args = head(p.Args)
		if len(p.Env) > mostItems {
			p.Env = nil
		}
	}
}

func head[T any](list []T) []T { return list[:min(len(list), mostItems)] }

// clean makes one line of valid text without control characters, of limited length.
func clean(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), longestText)], "")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
	return strings.TrimSpace(text)
}
