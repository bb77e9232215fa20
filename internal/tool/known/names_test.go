package known

import (
	"maps"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Two settings with one name would hide each other in a comparison, whichever dataset meets
// whichever arrival. Names that differ in case or in - and _ alone count as one, as in --ignore.
func TestNamesOfSettingsAreDistinct(t *testing.T) {
	datasets, arrivals := traffic.Datasets(), traffic.Arrivals()
	for _, tool := range Tools() {
		maps.Copy(datasets, tool.Datasets)
		maps.Copy(arrivals, tool.Arrivals)
	}
	below := func(path string, fields []string) (paths []string) {
		for _, f := range fields {
			paths = append(paths, plan.Join(path, f))
		}
		return paths
	}
	common := below("", plan.Names(plan.Spec{}))
	common = append(common, below("request", plan.Names(plan.Request{}))...)
	common = append(common, below("target", plan.Names(plan.Target{}))...)
	common = append(common, below("target.engine", plan.Names(apiserver.Settings{}))...)
	for dataset, d := range datasets {
		own := append(below("load[0].dataset", append(plan.Fields(d.New()), "kind")), common...)
		for arrival, a := range arrivals {
			byName := map[string]string{}
			for _, path := range append(below("load[0].arrival", append(plan.Fields(a()), "kind")), own...) {
				name := strings.ReplaceAll(strings.ToLower(plan.Setting{Path: path}.Name()), "_", "-")
				if other, twice := byName[name]; twice {
					t.Errorf("%s with %s: %s and %s are both called %s", dataset, arrival, other, path, name)
				}
				byName[name] = path
			}
		}
	}
}
