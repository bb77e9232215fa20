package compare

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// residue lists the settings, beside the load, in which the runs of variants differ. What
// varies in the same way within each of several variants, such as seeds that all of them
// went through, is no difference between them.
func residue(variants []*variant, o Options) []Residue {
	var order []string
	values := map[string]map[*Run]plan.Message{} // by setting
	scopes := map[string]map[string]bool{}       // by setting: of the runs that have it
	for _, v := range variants {
		for _, r := range v.runs {
			for _, f := range facets(r) {
				if values[f.name] == nil {
					order = append(order, f.name)
					values[f.name], scopes[f.name] = map[*Run]plan.Message{}, map[string]bool{}
				}
				values[f.name][r] = f.value
				scopes[f.name][scope(r.run)] = true
			}
		}
	}
	var out []Residue
	for _, name := range order {
		all := make([][]plan.Message, len(variants))
		for i, v := range variants {
			all[i] = told(v, values[name], scopes[name])
		}
		sameProfile := name == "profile-text" && slices.ContainsFunc(out, func(r Residue) bool { return r.Setting == "profile" })
		if differ(all, o.Paired) && !slices.Contains(o.Ignore, name) && !sameProfile {
			out = append(out, Residue{Setting: name, Values: shortest(all)})
		}
	}
	return out
}

// told are the values that the runs of a variant tell, run by run.
func told(v *variant, values map[*Run]plan.Message, scopes map[string]bool) []plan.Message {
	var out []plan.Message
	for _, r := range v.runs {
		if value, ok := values[r]; ok {
			out = append(out, value)
		} else if scopes[scope(r.run)] {
			out = append(out, unset)
		}
	}
	return out
}

// unset stands for a setting that a run does not have and others of its tool have.
var unset = plan.Say("value.unset")

// differ reports whether variants differ in the values of their runs: in which there are
// and how often, of pairs also in which run has them.
func differ(all [][]plan.Message, paired bool) bool {
	var known [][]plan.Message
	for _, of := range all {
		if len(of) > 0 {
			known = append(known, of)
		}
	}
	if len(known) == 1 {
		return len(shares(known[0])) > 1
	}
	for _, of := range known {
		if paired && !slices.EqualFunc(known[0], of, equal) || !maps.Equal(shares(known[0]), shares(of)) {
			return true
		}
	}
	return false
}

// shares are how often each value is among them.
func shares(values []plan.Message) map[string]float64 {
	out := map[string]float64{}
	for _, v := range values {
		out[v.Key()]++
	}
	for v := range out {
		out[v] /= float64(len(values))
	}
	return out
}

// shortest lists the values of each variant, each once; as often as they are, where they
// would look the same otherwise.
func shortest(all [][]plan.Message) [][]plan.Message {
	out := make([][]plan.Message, len(all))
	for i, of := range all {
		out[i] = unique(of)
	}
	differs := func(of []plan.Message) bool { return !slices.EqualFunc(out[0], of, equal) }
	if len(all) == 1 || slices.ContainsFunc(out, differs) {
		return out
	}
	return all
}

// unique are the values each once, in their order.
func unique(values []plan.Message) []plan.Message {
	var out []plan.Message
	for _, v := range values {
		if !slices.ContainsFunc(out, func(o plan.Message) bool { return equal(o, v) }) {
			out = append(out, v)
		}
	}
	return out
}

func equal(a, b plan.Message) bool { return a.Key() == b.Key() }

// checkIgnore refuses names that no run has.
func checkIgnore(runs []*Run, ignore []string) error {
	var p plan.Problems
	known := slices.Clone(loadSettings)
	for _, r := range runs {
		for _, f := range facets(r) {
			if !slices.Contains(known, f.name) {
				known = append(known, f.name)
			}
		}
	}
	for i, name := range ignore {
		p.If(!slices.Contains(known, name), plan.Item("ignore", i), name, "no run has a setting of that name; there are %s", strings.Join(known, ", "))
	}
	return p.Err()
}

// facets are everything beside the load in which runs can differ.
func facets(r *Run) []facet {
	run := r.run
	var out []facet
	has := func(name string) bool {
		return slices.Contains(loadSettings, name) || slices.ContainsFunc(out, func(f facet) bool { return f.name == name })
	}
	add := func(name string, value plan.Message) {
		if !value.IsZero() {
			out = append(out, facet{name, value})
		}
	}
	add("model", plan.Text(run.Plan.Model))
	add("url", plan.Text(address(run)))
	add("server", plan.Text(run.Env.Server))
	add("seed", plan.Text(seed(run)))
	if run.Kind != "" {
		add("kind", plan.Say(plan.Code("kind."+string(run.Kind))))
	}
	add("tool", plan.Text(tool(run)))
	add("pitot", plan.Text(run.Env.Pitot))
	add("client", plan.Text(run.Client.Engine))
	add("host", plan.Text(run.Env.Host))
	add("os", plan.Text(run.Env.OS))
	if run.Env.CPUs > 0 {
		add("cpus", number(float64(run.Env.CPUs)))
	}
	if p := run.Env.Profile; p != nil {
		add("profile", plan.Text(p.Name))
		add("profile-text", plan.Text(fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(p.Text)))))
	}
	for _, settings := range []map[string]string{run.Plan.Told(), setup(run)} {
		for _, key := range slices.Sorted(maps.Keys(settings)) {
			name := canonical(key)
			name = cmp.Or(alias[name], name)
			if !has(name) && !slices.Contains(unrelated, name) {
				add(name, plan.Text(cmp.Or(settings[key], `""`)))
			}
		}
	}
	return out
}

// A facet is a setting that a run tells of itself.
type facet struct {
	name  string
	value plan.Message
}

// address is where the server listened; the embedded engine's is another in each run.
func address(r trace.Run) string {
	if r.Env.Embedded {
		return ""
	}
	return r.Plan.URL
}

// seed of an imported run is 0 where its tool does not tell it.
func seed(r trace.Run) string {
	if r.Origin != nil && r.Plan.Seed == 0 {
		return ""
	}
	return strconv.FormatUint(r.Plan.Seed, 10)
}

func tool(r trace.Run) string {
	if r.Origin == nil {
		return "pitot"
	}
	return strings.TrimSpace(r.Origin.Tool + " " + r.Origin.Form)
}

func setup(r trace.Run) map[string]string {
	if r.Origin == nil {
		return nil
	}
	return r.Origin.Setup
}

// alias are other names of what a plan has fields for.
var alias = map[string]string{
	"num-prompts": requestsSetting, "num-requests": requestsSetting, "request-rate": rateSetting, "max-concurrency": concurrencySetting,
	"maximum-request-concurrency": concurrencySetting, "max-request-concurrency": concurrencySetting,
	"request-rate-configured-(rps)": rateSetting, "traffic-request-rate": rateSetting,
	"base-url": "url", "model-id": "model",
}

// unrelated are settings of command lines and result files that say where results
// go and how they are shown, or when a run was: they change nothing.
var unrelated = []string{
	"name", "store", "report", "dialect", "quiet", "no-progress", "config", "require-valid", "percentiles", "metric-percentiles", "keep-text",
	"label", "metadata", "tag", "date", "result-dir", "result-filename", "append-result", "save-result", "save-detailed",
	"version", "ids", "objectives", "dialect.name", "dialect.version", "before.ready.connect", "before.ready.timeout", "before.ready.ask", "load[0].dataset.kind", "load[0].arrival.kind",
	"output-file", "output-details", "print-requests", "disable-tqdm", "plot-throughput", "plot-timeline", "ready-timeout", "ready-check-timeout-sec",
}
