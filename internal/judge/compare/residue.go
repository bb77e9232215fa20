package compare

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// unrelated are settings of command lines and result files that say where results
// go and how they are shown, or when a run was: they change nothing.
var unrelated = []string{
	"name", "store", "report", "dialect", "quiet", "no-progress", "config", "require-valid", "percentiles", "metric-percentiles", "keep-text",
	"label", "metadata", "tag", "date", "result-dir", "result-filename", "append-result", "save-result", "save-detailed",
	"output-file", "output-details", "print-requests", "disable-tqdm", "plot-throughput", "plot-timeline", "ready-timeout", "ready-check-timeout-sec",
}

// alias are other names of what a plan has fields for.
var alias = map[string]string{
	"num-prompts": requestsSetting, "num-requests": requestsSetting, "request-rate": rateSetting, "max-concurrency": concurrencySetting,
	"maximum-request-concurrency": concurrencySetting, "max-request-concurrency": concurrencySetting,
	"request-rate-configured-(rps)": rateSetting, "traffic-request-rate": rateSetting,
	"base-url": "url", "model-id": "model",
}

// unset stands for a setting that a run does not have and others of its tool have.
const unset = "not set"

// unknown stands for a setting of which the runs of a variant tell nothing.
const unknown = "unknown"

// A facet is a setting that a run tells of itself.
type facet struct{ name, value string }

// facets are everything beside the load in which runs can differ.
func facets(r *Run) []facet {
	run := r.run
	out := []facet{
		{"model", run.Plan.Model},
		{"url", address(run)},
		{"server", run.Env.Server},
		{"seed", seed(run)},
		{"kind", string(run.Kind)},
		{"tool", toolInWords(run)},
		{"pitot", run.Env.Pitot},
		{"client", run.Client.Engine},
		{"host", run.Env.Host},
		{"os", run.Env.OS},
		{"cpus", number(float64(run.Env.CPUs), "")},
	}
	if p := run.Env.Profile; p != nil {
		out = append(out, facet{"profile", p.Name}, facet{"profile-text", fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(p.Text)))})
	}
	out = slices.DeleteFunc(out, func(f facet) bool { return f.value == "" })
	has := func(name string) bool {
		return slices.Contains(loadSettings, name) || slices.ContainsFunc(out, func(f facet) bool { return f.name == name })
	}
	for _, settings := range []map[string]string{run.Plan.Settings, setup(run)} {
		for _, key := range slices.Sorted(maps.Keys(settings)) {
			name := canonical(key)
			name = cmp.Or(alias[name], name)
			if !has(name) && !slices.Contains(unrelated, name) {
				out = append(out, facet{name, settings[key]})
			}
		}
	}
	return out
}

// address is where the server listened; the embedded engine's is another in each run.
func address(r trace.Run) string {
	if r.Env.Embedded {
		return ""
	}
	return r.Plan.URL
}

func setup(r trace.Run) map[string]string {
	if r.Origin == nil {
		return nil
	}
	return r.Origin.Setup
}

// seed of an imported run is 0 where its tool does not tell it.
func seed(r trace.Run) string {
	if r.Origin != nil && r.Plan.Seed == 0 {
		return ""
	}
	return strconv.FormatUint(r.Plan.Seed, 10)
}

func toolInWords(r trace.Run) string {
	if r.Origin == nil {
		return "pitot"
	}
	return strings.TrimSpace(r.Origin.Tool + " " + r.Origin.Form)
}

// residue lists the settings, beside the load, in which the runs of variants differ. What
// varies in the same way within each of several variants, such as seeds that all of them
// went through, is no difference between them.
func residue(variants []*variant, o Options) []Residue {
	var order []string
	values := map[string]map[*Run]string{} // by setting
	scopes := map[string]map[string]bool{} // by setting: of the runs that have it
	for _, v := range variants {
		for _, r := range v.runs {
			for _, f := range facets(r) {
				if values[f.name] == nil {
					order = append(order, f.name)
					values[f.name], scopes[f.name] = map[*Run]string{}, map[string]bool{}
				}
				values[f.name][r] = f.value
				scopes[f.name][scope(r.run)] = true
			}
		}
	}
	var out []Residue
	for _, name := range order {
		all := make([][]string, len(variants))
		for i, v := range variants {
			all[i] = told(v, values[name], scopes[name])
		}
		sameProfile := name == "profile-text" && slices.ContainsFunc(out, func(r Residue) bool { return r.Setting == "profile" })
		if differ(all, o.Paired) && !slices.Contains(o.Ignore, name) && !sameProfile {
			out = append(out, Residue{Setting: name, Values: inWords(all)})
		}
	}
	return out
}

// told are the values that the runs of a variant tell, run by run.
func told(v *variant, values map[*Run]string, scopes map[string]bool) []string {
	var out []string
	for _, r := range v.runs {
		value, ok := values[r]
		if !ok && !scopes[scope(r.run)] {
			continue
		}
		if !ok {
			value = unset
		}
		out = append(out, cmp.Or(value, `""`))
	}
	return out
}

// differ reports whether variants differ in the values of their runs: in which there are
// and how often, of pairs also in which run has them.
func differ(all [][]string, paired bool) bool {
	var known [][]string
	for _, of := range all {
		if len(of) > 0 {
			known = append(known, of)
		}
	}
	if len(known) == 1 {
		return len(shares(known[0])) > 1
	}
	for _, of := range known {
		if paired && !slices.Equal(known[0], of) || !maps.Equal(shares(known[0]), shares(of)) {
			return true
		}
	}
	return false
}

// shares are how often each value is among them.
func shares(values []string) map[string]float64 {
	out := map[string]float64{}
	for _, v := range values {
		out[v]++
	}
	for v := range out {
		out[v] /= float64(len(values))
	}
	return out
}

// inWords lists the values of each variant, each once; how often, where they would
// look the same otherwise.
func inWords(all [][]string) []string {
	out := make([]string, len(all))
	for i, of := range all {
		out[i] = cmp.Or(strings.Join(unique(of), ", "), unknown)
	}
	if len(all) == 1 || len(unique(out)) > 1 {
		return out
	}
	for i, of := range all {
		out[i] = strings.Join(of, ", ")
	}
	return out
}

// unique are the values each once, in their order.
func unique(values []string) []string {
	var out []string
	for _, v := range values {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// checkIgnore refuses names that no run has.
func checkIgnore(runs []*Run, ignore []string) error {
	known := slices.Clone(loadSettings)
	for _, r := range runs {
		for _, f := range facets(r) {
			if !slices.Contains(known, f.name) {
				known = append(known, f.name)
			}
		}
	}
	for _, name := range ignore {
		if !slices.Contains(known, name) {
			return fmt.Errorf("--ignore %s: no run has a setting of that name; there are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}
