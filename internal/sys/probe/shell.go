package probe

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// A Shell is a machine behind a command line that reads a script for sh.
type Shell struct {
	Args []string // such as docker exec -i NAME sh
}

// Ask runs one script for all asks. Answers before an error stay.
func (s Shell) Ask(ctx context.Context, root string, asks []Ask) (Answers, error) {
	mark := "pitot-" + rand.Text() // no file can know it
	out, err := proc.Ask(ctx, proc.Question{Args: s.Args, Input: script(mark, root, asks), Tied: true})
	return split(out, mark, root), err
}

// begin defines b, which begins an answer, and t, which limits a program where it can.
const begin = `b() { printf '\n%%s %%s %%s\n' %s "$1" "$2"; }
t=; if command -v timeout >/dev/null 2>&1; then t="timeout 5"; fi
`

func script(mark, root string, asks []Ask) string {
	var out strings.Builder
	fmt.Fprintf(&out, begin, mark)
	for _, a := range asks {
		files := quote(root+a.Dir) + pattern(a.Glob)
		switch a.Kind {
		case Text:
			fmt.Fprintf(&out,
				"for f in %s; do [ -f \"$f\" ] && [ -r \"$f\" ] || continue; b %s \"$f\"; head -c %d <\"$f\"; done 2>/dev/null\n",
				files, a.Name, a.limit())
		case Lines:
			fmt.Fprintf(&out, "b %s; grep -aEHm %d -e %s %s /dev/null 2>/dev/null | head -c %d\n", a.Name, a.most(),
				quote(a.Match), files, a.limit())
		case Link:
			fmt.Fprintf(&out, "for f in %s; do [ -h \"$f\" ] || continue; b %s \"$f\"; readlink \"$f\"; done 2>/dev/null\n",
				files, a.Name)
		case Size:
			fmt.Fprintf(&out, "b %s; stat -L -c '%%s %%n' %s 2>/dev/null | head -c %d\n", a.Name, files, a.limit())
		case Hash:
			fmt.Fprintf(&out,
				"f=%s; if [ -f \"$f\" ] && [ \"$(stat -L -c %%s \"$f\")\" -le %d ]; then b %s \"$f\"; sha256sum <\"$f\"; fi "+
					"2>/dev/null\n", files, largestHashed, a.Name)
		case Run:
			words := make([]string, len(a.Args))
			for i, word := range a.Args {
				words[i] = quote(word)
			}
			fmt.Fprintf(&out, "if command -v %s >/dev/null 2>&1; then b %s; $t %s </dev/null 2>/dev/null | head -c %d; fi\n",
				words[0], a.Name, strings.Join(words, " "), a.limit())
		}
	}
	out.WriteString("exit 0\n")
	return out.String()
}

// pattern is a Glob for the shell: all but its own signs is quoted.
func pattern(glob string) string {
	if glob == "" {
		return ""
	}
	var out strings.Builder
	out.WriteByte('/')
	for part := range strings.SplitSeq(glob, "") {
		if strings.ContainsAny(part, "*?[]-/") {
			out.WriteString(part)
		} else {
			out.WriteString(quote(part))
		}
	}
	return strings.ReplaceAll(out.String(), "''", "")
}

func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// split finds the answers in the output of a script.
func split(out, mark, root string) (all Answers) {
	parts := strings.Split("\n"+out, "\n"+mark+" ")
	for _, part := range parts[1:] { // the part before the first is a greeting of the host
		head, text, _ := strings.Cut(part, "\n")
		name, file, _ := strings.Cut(head, " ")
		a := Answer{Name: name, Path: strings.TrimPrefix(file, root), Text: text}
		if root != "" && file == "" {
			a.Text = strings.ReplaceAll(text, root+"/", "/")
		}
		all = append(all, a)
	}
	return all
}

// Sizes reads an answer of the kind Size: bytes by path.
func Sizes(text string) map[string]int64 {
	all := map[string]int64{}
	for line := range strings.Lines(text) {
		size, file, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if n, err := strconv.ParseInt(size, 10, 64); ok && err == nil && n >= 0 {
			all[file] = n
		}
	}
	return all
}
