package cli

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// A shellLine is a line of a block of shell in the docs: where it stands, and its command line of Pitot's without pitot.
type shellLine struct {
	where string
	args  []string
}

var (
	ours     = regexp.MustCompile(`(^|\s)pitot\s`)
	template = regexp.MustCompile(`<[a-z ]*flags`)
	variable = regexp.MustCompile(`\$\w+`)
	redirect = regexp.MustCompile(`\s>\s([\w.]+)(\s|$)`)
	written  = regexp.MustCompile(`(?:-o|>|--summary|--store)\s([\w.]+)`)
	file     = regexp.MustCompile(`^[\w./-]+\.(csv|jsonl?|ya?ml|txt)$`)
)

// shellLines finds the command lines of Pitot's in the blocks of a page that are marked sh, also behind another
// command, such as docker exec.
func shellLines(t *testing.T, name string, page []byte) (out []shellLine) {
	t.Helper()
	block, open, number := "", false, 0
	for lines := bufio.NewScanner(bytes.NewReader(bytes.ReplaceAll(page, []byte("\\\n"), nil))); lines.Scan(); {
		number++
		line, where := lines.Text(), name+":"+strconv.Itoa(number)
		if fence, ok := strings.CutPrefix(line, "```"); ok {
			block, open = fence, !open
			continue
		}
		if !ours.MatchString(line) || strings.HasPrefix(line, "#") || template.MatchString(line) {
			continue
		}
		switch {
		case open && block == "sh":
			line, _, _ = strings.Cut(line, " && ")
			words, err := shell.Split(redirect.ReplaceAllString(variable.ReplaceAllString(line, "1"), " "))
			if err != nil {
				t.Errorf("%s: %v: %s", where, err, line)
			} else if i := slices.Index(words, "pitot"); i >= 0 {
				out = append(out, shellLine{where, words[i+1:]})
			}
		case strings.HasPrefix(strings.TrimSpace(line), "pitot ") && (open && block == "" || strings.HasPrefix(line, "    ")):
			t.Errorf("%s: a block of shell is marked sh: %s", where, line)
		}
	}
	return out
}

// Every command line of Pitot's in a block of shell in the docs is one that Pitot takes, and names files that are there,
// or that a line of the page writes. The lines are parsed and their loads compiled, and not carried out: they name
// servers and machines.
func TestDocsShell(t *testing.T) {
	race.Skip(t)
	t.Chdir("../..")
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatal(err, pages)
	}
	total := 0
	for _, name := range append(pages, "README.md", "README.zh-CN.md") {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		made := map[string]bool{}
		for _, m := range written.FindAllStringSubmatch(string(page), -1) {
			made[strings.TrimPrefix(m[1], "./")] = true
		}
		for _, line := range shellLines(t, name, page) {
			total++
			if err := takes(line.args, made); err != nil {
				t.Errorf("%s: pitot %s: %v", line.where, strings.Join(line.args, " "), err)
			}
		}
	}
	if total < 20 {
		t.Errorf("only %d command lines", total)
	}
}

// takes reports what is wrong with a command line: with its flags, its files but those that are made, or the load that it
// is or has behind its --.
func takes(args []string, made map[string]bool) error {
	var out bytes.Buffer
	sess := &session.Session{Args: args, Env: func(string) (string, bool) { return "", false }, Stdout: &out, Stderr: &out}
	parser, _, err := newParser(sess, onlyCommand(&grammar{}, args))
	if err != nil {
		return err
	}
	if _, _, err := parse(parser, args); err != nil {
		return err
	}
	own, load, divided := args, args, slices.Contains(args, "--")
	if divided {
		i := slices.Index(args, "--")
		own, load = args[:i], args[i+1:]
	}
	reads := false // a file that is not there yet
	for _, word := range own {
		if file.MatchString(word) && made[strings.TrimPrefix(word, "./")] {
			reads = true
		} else if _, err := os.Stat(word); file.MatchString(word) && err != nil {
			return err
		}
	}
	if reads {
		return nil
	}
	if divided && (args[0] == "capacity" || args[0] == "calibrate") {
		load = append([]string{"bench"}, load...)
	}
	if args[0] == "conform" || !slices.Contains([]string{"bench", "sim", "vllm", "sglang", "python"}, load[0]) || slices.Contains(load, "sweep") {
		return nil
	}
	_, err = planOf(sess, load)
	return err
}
