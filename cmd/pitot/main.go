// Pitot measures LLM serving endpoints.
package main

import (
	"cmp"
	_ "embed"
	"runtime/debug"
	"strings"

	"github.com/pitot-bench/pitot/internal/cli"
)

// number is that of the release which this tree is, or becomes.
//
//go:embed VERSION
var number string

// version is set by the linker where a release is built without git, as packagers do.
var version string

func main() {
	info, _ := debug.ReadBuildInfo()
	cli.Main(cmp.Or(version, versionOf(strings.TrimSpace(number), info)))
}

// versionOf is the number alone of a build of the tag v<number>. Any other build is before that release: it has the
// commit behind it, and a dirty tree says so. info may be nil.
func versionOf(number string, info *debug.BuildInfo) string {
	if info == nil {
		return number + "-dev"
	}
	if info.Main.Version == "v"+number {
		return number
	}
	dev, dirty := number+"-dev", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 8:
			dev += "+" + s.Value[:8]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = ".dirty"
		}
	}
	return dev + dirty
}
