package words

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The page says what the catalogue has words for, and nothing of that is left over: t('x') and
// t('x.' + name), but for tests.
func TestWordsOfThePage(t *testing.T) {
	call := regexp.MustCompile(`\bt\(\s*'([^']+)'(\s*\+)?`)
	known, used, beginnings := In(Default).Under("page."), map[string]bool{}, []string{}
	err := filepath.WalkDir("../../../web/src", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(file, ".test.ts") {
			return err
		}
		text, err := os.ReadFile(file)
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			_, ok := known[m[1]]
			switch {
			case m[2] != "":
				beginnings = append(beginnings, m[1])
			case !ok:
				t.Errorf("%s: no catalogue has words for page.%s", file, m[1])
			}
			used[m[1]] = true
		}
		return err
	})
	if err != nil || len(used) < 5 {
		t.Fatalf("the page says %d things: %v", len(used), err)
	}
	for code := range known {
		begins := func(beginning string) bool { return strings.HasPrefix(code, beginning) }
		if !used[code] && !slices.ContainsFunc(beginnings, begins) {
			t.Errorf("the page does not say page.%s", code)
		}
	}
}
