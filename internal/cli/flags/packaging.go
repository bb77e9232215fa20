package flags

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/web"
)

// VersionCmd is `pitot version`.
type VersionCmd struct {
	JSON bool `help:"Print JSON: version, commit, Go, system, and whether the page is in the binary."`
}

// Run prints the version.
func (c VersionCmd) Run(sess *session.Session) error {
	if !c.JSON {
		_, err := fmt.Fprintln(sess.Stdout, "pitot", sess.Version)
		return err
	}
	e := json.NewEncoder(sess.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(Build(sess))
}

// Build describes the binary, for programs.
func Build(sess *session.Session) map[string]any {
	build := map[string]any{"version": sess.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH, "page": web.Built()}
	info, known := debug.ReadBuildInfo()
	for i := 0; known && i < len(info.Settings); i++ {
		switch x := info.Settings[i]; x.Key {
		case "vcs.revision":
			build["commit"] = x.Value
		case "vcs.time":
			build["committed"] = x.Value
		case "vcs.modified":
			build["modified"] = x.Value == "true"
		}
	}
	return build
}

// ManCmd is `pitot man`, for packages.
type ManCmd struct {
	Folder string `arg:"" help:"Folder for the pages."`
}

// Run writes pitot.1 and a page for each command, such as pitot-runs-list.1.
func (c ManCmd) Run(sess *session.Session, k *kong.Context) error {
	for _, node := range append(k.Model.Leaves(true), k.Model.Node) {
		name := strings.ReplaceAll(strings.TrimSpace("pitot "+Path(node)), " ", "-")
		if err := os.WriteFile(filepath.Join(c.Folder, name+".1"), []byte(manPage(name, sess.Version, node)), 0o644); err != nil { //nolint:gosec // all may read it
			return err
		}
	}
	return nil
}

// manPage is the page of a command, in the macros of man(7).
func manPage(name, version string, node *kong.Node) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	what := strings.TrimSuffix(node.Help, ".")
	line(`.TH "%s" 1 "" "pitot %s"`, strings.ToUpper(name), roff(version))
	line(".SH NAME\n%s \\- %s", roff(name), roff(what))
	line(".SH SYNOPSIS\n.B %s", roff(strings.TrimSpace("pitot "+node.Summary())))
	line(".SH DESCRIPTION\n%s.", roff(what))
	if node.Detail != "" {
		line(".PP\n%s", strings.ReplaceAll(roff(node.Detail), "\n\n", "\n.PP\n"))
	}
	for _, p := range node.Positional {
		line(".TP\n.I %s\n%s", roff(p.Summary()), roff(p.Help))
	}
	if node.Parent == nil {
		line(".SH COMMANDS")
		for _, c := range node.Leaves(true) {
			line(".TP\n.B %s\n%s", roff(c.Path()), roff(c.Help))
		}
	}
	line(".SH EXAMPLES")
	for _, e := range Examples(Path(node)) {
		line(".TP\n.B %s\n%s", roff(e.Line), roff(e.Text))
	}
	line(".SH OPTIONS")
	for at := node; at != nil; at = at.Parent {
		for _, f := range visible(at) {
			line(".TP\n.B %s\n%s", roff(flagHead(f, false)), roff(f.Help))
		}
	}
	if node.Parent != nil {
		line(".SH SEE ALSO\n.BR pitot (1)")
	}
	return b.String()
}

// roff is a text in which nothing is a request or an escape.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
