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
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// settingDiffs lists the settings, other than the load, in which the runs of variants differ.
// A setting that varies in the same way within each of several variants, such as seeds that
// all of them went through, is no difference between them.
func settingDiffs(variants []*variant, o Options) (out []SettingDiff) {
	var names []string
	scopes := map[string]map[string]bool{} // by setting: of the runs that have it
	for _, v := range variants {
		for _, r := range v.runs {
			for _, f := range r.facets {
				if ofTheLeg(f.Name, r.run.Leg) {
					continue
				}
				if scopes[f.Name] == nil {
					names, scopes[f.Name] = append(names, f.Name), map[string]bool{}
				}
				scopes[f.Name][settingScope(r.run)] = true
			}
		}
	}
	for _, name := range names {
		all := make([][]plan.Message, len(variants))
		for i, v := range variants {
			all[i] = v.reportedValues(name, scopes[name])
		}
		sameProfile := name == "profile-text" && slices.ContainsFunc(out, func(r SettingDiff) bool { return r.Setting == "profile" })
		if differ(all, o.Paired) && !slices.Contains(o.Ignore, name) && !sameProfile {
			out = append(out, SettingDiff{Setting: name, Values: shortest(all)})
		}
	}
	return append(out, cachedDiff(variants, o)...)
}

// ofTheLeg reports whether an experiment gives each leg a value of its own: its seed, the address of a
// server that it starts, and the time at which a simulated drift goes on.
func ofTheLeg(setting string, l *trace.Leg) bool {
	return l != nil && (setting == "seed" || setting == "engine.drift.offset" || setting == "url" && l.ServerStart > 0)
}

// reportedValues are the values of a setting that the runs of a variant tell, run by run.
func (v *variant) reportedValues(name string, scopes map[string]bool) (out []plan.Message) {
	for _, r := range v.runs {
		i := slices.IndexFunc(r.facets, func(f Setting) bool { return f.Name == name })
		switch {
		case i >= 0:
			out = append(out, r.facets[i].Value)
		case scopes[settingScope(r.run)]:
			out = append(out, unset)
		}
	}
	return out
}

// settingScope says which settings a run tells: a table in a note may stand below the Namespace of its tool, and one
// without it tells next to nothing.
func settingScope(r trace.Run) string {
	if o := r.Origin; o != nil && o.Detail == trace.Table && o.Setup["num_prompts"] == "" {
		return scope(r) + " alone"
	}
	return scope(r)
}

// unset stands for a setting that a run does not have and others of its tool have.
var unset = plan.Msg("value.unset")

// differ reports whether variants differ in the values of their runs: in which there are
// and how often, of pairs also in which run has them.
func differ(all [][]plan.Message, paired bool) bool {
	known := slices.DeleteFunc(slices.Clone(all), func(of []plan.Message) bool { return of == nil })
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
func checkIgnore(runs []*ComparedRun, ignore []string) error {
	var p plan.Problems
	known := append(slices.Clone(loadSettings), cachedSetting)
	for _, r := range runs {
		for _, f := range r.facets {
			if !slices.Contains(known, f.Name) {
				known = append(known, f.Name)
			}
		}
	}
	for _, r := range runs { // too many to be listed
		for _, s := range envFacts(r.run) {
			if slices.Contains(ignore, canonical(s.name)) {
				known = append(known, canonical(s.name))
			}
		}
	}
	for i, name := range ignore {
		p.If(!slices.Contains(known, name), plan.Item("ignore", i), name, "no run has a setting of that name; there are %s", strings.Join(known, ", "))
	}
	return p.Err()
}

// settings are everything other than the load in which runs can differ.
func (r *ComparedRun) settings() (out []Setting) {
	run, o := r.run, r.origin()
	add := func(name string, value plan.Message) {
		if !value.IsZero() {
			out = append(out, Setting{name, value})
		}
	}
	add("model", plan.Text(run.Plan.Model))
	if !run.Env.Embedded { // that listens somewhere else in each run
		add("url", plan.Text(run.Plan.URL))
	}
	add("server", plan.Text(run.Env.Server))
	if run.Origin == nil || run.Plan.Seed != 0 { // else its tool does not tell it
		add("seed", plan.Text(strconv.FormatUint(run.Plan.Seed, 10)))
	}
	if run.Kind != "" {
		add("kind", plan.Msg(plan.Code("kind."+string(run.Kind))))
	}
	add("tool", plan.Text(strings.TrimSpace(o.Tool+" "+o.Form)))
	add("pitot", plan.Text(run.Env.Pitot))
	add("client", plan.Text(run.Client.Engine))
	add("host", plan.Text(run.Env.Host))
	add("os", plan.Text(run.Env.OS))
	if run.Env.CPUs > 0 {
		add("cpus", number(float64(run.Env.CPUs)))
	}
	if run.Kind == trace.Measured && run.Origin == nil {
		add("workers", number(float64(workers(run))))
	}
	if p := run.Env.Profile; p != nil {
		add("profile", plan.Text(p.Name))
		add("profile-text", plan.Text(fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(p.Text)))))
	}
	add("warm-up", warmUp(run.Plan.Spec))
	has := func(name string) bool {
		return slices.Contains(loadSettings, name) || slices.ContainsFunc(out, func(s Setting) bool { return s.Name == name })
	}
	for _, s := range plan.Flat(run.Plan.Spec) {
		if s.Role == plan.SilentRole || slices.Contains(digested, s.Path) || strings.HasPrefix(s.Path, "before.warm_up.") {
			continue
		}
		name := canonical(s.Name())
		if has(name) {
			name = canonical(s.Path)
		}
		add(name, plan.Text(cmp.Or(s.Value, `""`)))
	}
	for _, key := range slices.Sorted(maps.Keys(o.Setup)) {
		name := canonical(key)
		name = cmp.Or(alias[name], name)
		if !has(name) && !slices.Contains(unrelated, name) && !strings.HasPrefix(name, "telemetry.") && !identity.MatchString(name) {
			add(name, plan.Text(cmp.Or(o.Setup[key], `""`)))
		}
	}
	return out
}

// warmUp is what a run sent before its requests; zero of a simulation and where it is not known.
func warmUp(s *plan.Spec) plan.Message {
	switch {
	case s == nil || s.Target.Simulated:
		return plan.Message{}
	case s.Before.WarmUp.Steady:
		return plan.Msg("value.warm-waves", "brief", s.Before.WarmUp.Brief)
	}
	return plan.Msg("value.warm-requests", "requests", s.Before.WarmUp.Requests, "measured", s.Before.WarmUp.From == plan.WarmMeasured)
}

// digested are the paths of a Spec that a load, or one of the settings above, stands for.
var digested = []string{
	"request.protocol", "request.model", "request.stream", "requests", "seed", plan.Join("gate", "concurrency"), "target.url", "target.engine.profile",
	"load[0].dataset.kind", "load[0].arrival.kind", "load[0].arrival.rate", "load[0].arrival.ramp",
}

// workers is how many machines sent the requests of a run.
func workers(run trace.Run) int {
	if run.Fleet == nil {
		return 1
	}
	return len(run.Fleet.Workers)
}

// alias are names of other tools for what a load has fields for.
var alias = map[string]string{
	"num-prompts": requestsSetting, "num-requests": requestsSetting, "request-rate": rateSetting, "max-concurrency": concurrencySetting,
	"maximum-request-concurrency": concurrencySetting, "max-request-concurrency": concurrencySetting,
	"request-rate-configured-(rps)": rateSetting, "traffic-request-rate": rateSetting,
	"base-url": "url", "model-id": "model",
}

// identity matches a setting of another tool that only says which run or request something was.
var identity = lazy.Regexp(`(^|\.)((run|request|benchmark|experiment|session|job|task|trial|report|result)-)?(id|ids|uuid|id-prefix)$`)

// unrelated are settings of other tools that change no figure: where results go, how they are
// shown, when a run was.
var unrelated = []string{
	"name", "report", "quiet", "progress", "config", "percentiles", "metric-percentiles", "label", "metadata", "tag", "date", "version",
	"result-dir", "result-filename", "append-result", "save-result", "save-detailed", "output-file", "output-details",
	"print-requests", "disable-tqdm", "plot-throughput", "plot-timeline", "ready-timeout", "ready-check-timeout-sec",
}
