package lazy

import (
	"regexp"
	"strings"
	"sync"
	"testing"
)

// In the program an expression is compiled once, by its first use; in tests a mistake in it is found at once.
func TestPatternsAreCompiledWhenTheyAreUsed(t *testing.T) {
	compiled := 0
	p := &Pattern{sync.OnceValue(func() *regexp.Regexp { compiled++; return regexp.MustCompile(`(b)(c)?`) })}
	if compiled != 0 {
		t.Error("compiled without a use")
	}
	if !p.MatchString("abc") || p.ReplaceAllString("abcb", "<$1>") != "a<b><b>" || p.FindStringSubmatchIndex("xb")[4] != -1 || compiled != 1 {
		t.Errorf("compiled %d times", compiled)
	}
	if got := p.ReplaceAllStringFunc("abcb", strings.ToUpper); got != "aBCB" {
		t.Error(got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a mistake is not found")
		}
	}()
	Regexp(`(`)
}
