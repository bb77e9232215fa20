package comparison

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/record/environment"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

func imageOf(e *environment.Environment) []string {
	if e == nil {
		return nil
	}
	return []string{e.Image.Name, e.Image.Digest}
}

func commitsOf(e *environment.Environment) (parts []string) {
	if e == nil {
		return nil
	}
	for _, t := range e.Trees {
		parts = append(parts, doc.Join(" ", t.Package, t.String()))
	}
	return parts
}

// mostPackages is how many are named.
const mostPackages = 12

func packagesOf(e *environment.Environment) (parts []string) {
	if e == nil {
		return nil
	}
	for _, p := range e.Main()[:min(len(e.Main()), mostPackages)] {
		parts = append(parts, p.Name+" "+p.Version)
	}
	return parts
}

func devicesOf(e *environment.Environment) (parts []string) {
	if e == nil {
		return nil
	}
	parts = append(parts, e.Products())
	if e.Driver != "" {
		parts = append(parts, "driver "+e.Driver)
	}
	for _, t := range e.Toolkits {
		parts = append(parts, t.Name+" "+t.Version)
	}
	return append(parts, e.Machine.CPU, e.Machine.Kernel)
}

func weightsOf(e *environment.Environment) []string {
	if e == nil || e.Model == nil {
		return nil
	}
	m := e.Model
	size := ""
	if m.Bytes > 0 {
		size = fmt.Sprintf("%.1f GiB", float64(m.Bytes)/(1<<30))
	}
	return []string{m.Architecture, m.DType, m.Quantization, size}
}

// arguments are the command lines of servers, each with the variables that engines read.
func (w *writer) arguments(runs []labelled) {
	groups := grouped(runs, func(r Run) string {
		if r.Env.Serving == nil || r.Env.Serving.Process == nil {
			return ""
		}
		return secret.Mask(r.AnyPort(startOf(r.Env.Serving.Process)))
	})
	w.foldGroups("note.arguments", "sh", groups)
}

// startOf is how a server was started: VARIABLE=value program flags.
func startOf(p *environment.Process) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		if environment.Tunes(name) {
			words = append(words, name+"="+shell.Quote(p.Env[name]))
		}
	}
	return doc.Clean(strings.Join(append(words, shell.Join(p.Args)), " "))
}
