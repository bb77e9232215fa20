package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
)

// Environment shows one side of a run; all of its packages and variables, or those that matter.
func Environment(w io.Writer, e *environment.Environment, all bool) error {
	rows := environmentRows(e, all)
	if p := e.Process; p != nil {
		rows = append(rows, processRows(p)...)
	}
	rows = append(rows, packageRows(e, all)...)
	if p := e.Process; p != nil {
		rows = append(rows, variableRows(p, all)...)
	}
	if e.Cut {
		rows = append(rows, []string{"note", "it was too large to keep all of it"})
	}
	return doc.Columns(w, rows)
}

func environmentRows(e *environment.Environment, all bool) (rows [][]string) {
	m := e.Machine
	add := func(name string, parts ...string) {
		if value := doc.Join(" · ", parts...); value != "" {
			rows = append(rows, []string{name, plain.Line(value)})
		}
	}
	add("target", e.Site)
	add("host", m.Host, m.Product, m.System)
	add("kernel", m.Kernel)
	add("CPU", m.CPU, m.Processors(), m.Governor)
	if len(m.NUMA) > 1 {
		add("NUMA", fmt.Sprintf("%d nodes: %s", len(m.NUMA), strings.Join(m.NUMA, " | ")))
	}
	add("memory", gib(m.Memory), titled("vm.swappiness ", m.Swappiness), titled("kernel.numa_balancing ", m.NUMABalancing))
	if m.CPULimit > 0 {
		add("CPU limit", fmt.Sprintf("%g processors", m.CPULimit))
	}
	if m.MemoryLimit > 0 {
		add("memory limit", gib(m.MemoryLimit))
	}
	add("devices", e.Products(), e.Chip, titled("driver ", e.Driver))
	for _, d := range e.Devices {
		add("  "+d.ID, d.Product, gib(d.Memory), titled("firmware ", d.Firmware), d.PowerCap, d.UUID)
	}
	for _, p := range e.Ports {
		add("  port "+p.Device, titled("link ", p.Link), p.Speed, p.Address)
	}
	add("topology", e.Topology.String())
	if all && e.Topology != nil {
		for _, row := range e.Topology.Rows {
			add("", row)
		}
	}
	for _, t := range e.Toolkits {
		add(t.Name, t.Version)
	}
	if e.RankTable != "" {
		add("rank table", "sha256:"+e.RankTable)
	}
	add("image", e.Image.Name, e.Image.Digest)
	add("container", e.Image.Container)
	for _, t := range e.Trees {
		add("commit", t.Package, treeState(t), t.Path)
	}
	if d := e.Model; d != nil {
		size := ""
		if d.Files > 0 {
			size = fmt.Sprintf("%d files, %s", d.Files, gib(d.Bytes))
		}
		add("model", d.Path, d.Architecture, d.DType, d.Quantization, size)
		if d.Index != "" {
			add("  index", "sha256:"+d.Index)
		}
		var facts []string
		for _, name := range slices.Sorted(maps.Keys(d.Facts)) {
			facts = append(facts, name+"="+d.Facts[name])
		}
		add("  config", strings.Join(facts, " "))
	}
	return rows
}

// titled is a value behind its title; empty if it is not known.
func titled(title, value string) string {
	if value == "" {
		return ""
	}
	return title + value
}

func treeState(t environment.Tree) string {
	switch {
	case t.Dirty == nil:
		return t.Commit
	case *t.Dirty:
		return t.Commit + " with changes " + t.Diff
	}
	return t.Commit + " without changes"
}

// gib is a size in GiB, or in MiB if it is less; empty for none.
func gib(n int64) string {
	switch {
	case n <= 0:
		return ""
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

func processRows(p *environment.Process) (rows [][]string) {
	if p.PID > 0 {
		rows = append(rows, []string{"process", fmt.Sprintf("%d in %s", p.PID, plain.Line(p.Dir))})
	}
	if len(p.Args) > 0 {
		rows = append(rows, []string{"command", plain.Line(shell.Join(p.Args))})
	}
	return rows
}

func packageRows(e *environment.Environment, all bool) (rows [][]string) {
	shown := e.Packages
	if !all {
		shown = e.Main()
	}
	if e.Python != "" {
		rows = append(rows, []string{"python", e.Python})
	}
	for _, v := range shown {
		rows = append(rows, []string{plain.Line(v.Name), plain.Line(v.Version)})
	}
	if more := len(e.Packages) - len(shown); more > 0 {
		rows = append(rows, []string{"packages", fmt.Sprintf("%d more; --all shows them", more)})
	}
	return rows
}

func variableRows(p *environment.Process, all bool) (rows [][]string) {
	names, hidden := p.Variables()
	if all {
		names, hidden = slices.Sorted(maps.Keys(p.Env)), 0
	}
	for _, name := range names {
		rows = append(rows, []string{plain.Line(name), plain.Line(p.Env[name])})
	}
	if hidden > 0 {
		rows = append(rows, []string{"variables", fmt.Sprintf("%d more; --all shows them", hidden)})
	}
	return rows
}
