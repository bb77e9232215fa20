package ingest

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/tool/result"
)

// Files says which files of a folder of results to read, by their paths in it, in
// their order. What is not read is told where somebody might look for its
// figures; what is no result, such as a tool's own log, is passed over.
func (r *Reader) Files(names []string) (read []string, skipped []result.Problem) {
	folders := map[string][]string{}
	for _, name := range names {
		dir, base := path.Split(name)
		folders[dir] = append(folders[dir], base)
	}
	for _, name := range names {
		dir, base := path.Split(name)
		if !readable(name) || slices.ContainsFunc(r.formats, func(f result.Format) bool { return isSibling(f, dir, base, folders) }) {
			continue
		}
		reason := ""
		for _, f := range r.formats {
			reason = cmp.Or(reason, unread(f, base, folders[dir]))
		}
		if reason == "" {
			read = append(read, name)
		} else {
			skipped = append(skipped, result.Problem{File: name, Reason: reason})
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

// unread is why a result is not read, "" if it is. others are the files of its folder.
func unread(f result.Format, base string, others []string) string {
	for _, t := range f.Twice {
		before, after, starred := strings.Cut(t.File, "*")
		stem, fits := strings.CutPrefix(base, before)
		if starred && fits {
			stem, fits = strings.CutSuffix(stem, after)
		}
		pattern := strings.ReplaceAll(t.Beside, "$", stem)
		if (fits && starred || base == t.File) && slices.ContainsFunc(others, func(o string) bool { return matches([]string{pattern}, o) }) {
			return strings.ReplaceAll(t.Reason, "$", stem)
		}
	}
	return ""
}

// isSibling reports whether a file lies beside, or in a folder beside, a result that it
// belongs to.
func isSibling(f result.Format, dir, base string, folders map[string][]string) bool {
	parent, last := path.Split(strings.TrimSuffix(dir, "/"))
	for _, s := range f.Beside {
		for _, at := range []struct{ dir, name string }{{dir, base}, {parent, last + "/" + base}} {
			if matches(s.Files, at.name) && slices.ContainsFunc(folders[at.dir], func(f string) bool { return matches([]string{s.Result}, f) }) {
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
