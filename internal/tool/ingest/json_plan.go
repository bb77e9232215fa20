package ingest

import (
	"path"
	"slices"
	"strings"
)

// Plan says which files of a folder of results to read, by their paths in it, in
// their order. What is not read is told where somebody might look for its
// figures; what is no result, such as a tool's own log, is passed over.
func Plan(names []string) (read []string, skipped []Problem) {
	folders := map[string][]string{}
	for _, name := range names {
		dir, base := path.Split(name)
		folders[dir] = append(folders[dir], base)
	}
	for _, name := range names {
		dir, base := path.Split(name)
		beside := func(pattern string) int {
			return len(slices.DeleteFunc(slices.Clone(folders[dir]), func(other string) bool {
				ok, _ := path.Match(pattern, other)
				return !ok
			}))
		}
		switch reason, ok := unread(base, beside); {
		case !readable(name) || sideFile(dir, base, folders):
		case ok:
			read = append(read, name)
		case reason != "":
			skipped = append(skipped, Problem{File: name, Reason: reason})
		}
	}
	return read, skipped
}

// readable reports whether a name is one of results or of notes.
func readable(name string) bool {
	hidden := slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return strings.HasPrefix(part, ".") && strings.Trim(part, ".") != ""
	})
	return !hidden && slices.Contains([]string{".json", ".jsonl", ".md", ".txt", ".log"}, strings.ToLower(path.Ext(name)))
}

// unread is why a result is not read: another file has the same. beside counts
// the files of its folder whose names match.
func unread(base string, beside func(pattern string) int) (reason string, ok bool) {
	result := strings.TrimSuffix(base, ".pytorch.json") + ".json"
	switch {
	case base == "summary.json" && beside("run=*.json") > 0:
		return "the runs that it sums up are beside it, and are read one by one", false
	case base != result && strings.HasSuffix(base, ".pytorch.json") && beside(result) > 0:
		return result + " beside it has the same figures and more", false
	case base == "summary_lifecycle_metrics.json" && beside("stage_*_lifecycle_metrics.json") > 0:
		return "the stages that it sums up are beside it, and are read one by one", false
	}
	return "", true
}

// sideFiles are what tools write beside their results, by the result.
var sideFiles = []struct {
	result string
	side   []string // patterns
}{
	{"profile_export_aiperf.json", []string{"inputs.json", "profile_export*.jsonl", "profile_export_console.txt", "*_export.json", "*_export.jsonl", "*_timeslices.json", "logs/*"}},
	{"profile_export_genai_perf.json", []string{"inputs.json", "profile_export.json", "*.log"}},
	{"s*_lifecycle_metrics.json", []string{"per_request_lifecycle_metrics.json", "validation.json"}},
}

// sideFile reports whether a file lies beside, or in a folder beside, a result
// that it belongs to.
func sideFile(dir, base string, folders map[string][]string) bool {
	parent, last := path.Split(strings.TrimSuffix(dir, "/"))
	for _, s := range sideFiles {
		for _, at := range []struct{ dir, name string }{{dir, base}, {parent, last + "/" + base}} {
			if matches(s.side, at.name) && slices.ContainsFunc(folders[at.dir], func(f string) bool { return matches([]string{s.result}, f) }) {
				return true
			}
		}
	}
	return false
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}
