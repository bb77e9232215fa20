package compare

import (
	"strings"
	"unicode"
)

// namedBaseline reports whether a part of a variant's name is, or begins with, a word
// for the baseline.
func namedBaseline(name string) bool {
	for part := range strings.SplitSeq(strings.ToLower(name), between) {
		for _, word := range baselines {
			rest, ok := strings.CutPrefix(strings.TrimSpace(part), word)
			first := []rune(rest + " ")[0]
			if ok && (!unicode.IsLetter(first) || first > unicode.MaxASCII) && !unicode.IsDigit(first) {
				return true
			}
		}
	}
	return false
}

// baselines are words that name what others are compared with, at the beginning of a
// name.
var baselines = []string{
	"baseline", "base", "before", "main", "master", "reference", "ref", "original", "control", "stock", "vanilla", "w/o", "without", "old",
	"优化前", "基线", "基准", "原始", "改前", "修改前",
}
