package sglang

import (
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// requests is how many are wanted, 0 where the dataset says it, or all are.
func (a *Args) requests() int {
	switch a.DatasetName {
	case "generated-shared-prefix":
		return 0
	case "openai", "agentic-trace":
		return max(0, a.NumPrompts)
	}
	return max(1, a.NumPrompts) // less is refused
}

// conversations tells whether requests are turns that wait for each other.
func (a *Args) conversations() bool {
	return a.DatasetName == "agentic-trace" || a.DatasetName == "generated-shared-prefix" && a.GSPNumTurns > 1
}

// dataset is what --dataset-name names, with the flags of its settings. run begins the
// routing keys of a run.
func (a *Args) dataset(run string) (workload.Dataset, map[string]string) {
	d := Kinds()["sglang."+a.DatasetName].New()
	flags := python.Assign(d, a.options)
	flags["version"] = "--dialect-version"
	if !a.main() {
		d.(interface{ SetVersion(string) }).SetVersion(January)
	}
	if d, ok := d.(interface{ SetRoutingKey(string) }); ok && a.GSPSendRoutingKey {
		d.SetRoutingKey(run)
	}
	return d, flags
}
