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
)

// A shellLine is a line of a block of shell in the docs: where it stands, and its command line of Pitot's without pitot.
type shellLine struct {
	where string
	args  []string
}

var (
	variable = regexp.MustCompile(`\$(\w+|\{\w+\}|\([^)]*\))`)
	redirect = regexp.MustCompile(`\s>\s.*`)
)

// shellLines finds the command lines of Pitot's in the blocks marked sh, also behind another command, such as docker exec.
func shellLines(t *testing.T, file string) (out []shellLine) {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	block, open, number := "", false, 0
	for lines := bufio.NewScanner(bytes.NewReader(bytes.ReplaceAll(page, []byte("\\\n"), nil))); lines.Scan(); {
		number++
		line, where := lines.Text(), filepath.Base(file)+":"+strconv.Itoa(number)
		if fence, ok := strings.CutPrefix(line, "```"); ok {
			block, open = fence, !open
			continue
		}
		command := strings.HasPrefix(strings.TrimSpace(line), "pitot ")
		switch {
		case open && block == "sh":
			words, err := shell.Split(redirect.ReplaceAllString(variable.ReplaceAllString(line, "1"), ""))
			i := slices.Index(words, "pitot")
			if err != nil || i < 0 && command {
				t.Errorf("%s: %v: %s", where, err, line)
			} else if i >= 0 {
				out = append(out, shellLine{where, words[i+1:]})
			}
		case command && (open && block == "" || strings.HasPrefix(line, "    ")):
			t.Errorf("%s: a block with commands is marked sh: %s", where, line)
		}
	}
	return out
}

// Every command line of Pitot's in a block of shell in the docs is one that Pitot takes. They are parsed, and their loads
// compiled, but not carried out, since they name servers and machines.
func TestDocsShell(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatal(err, pages)
	}
	t.Chdir("../..")
	total := 0
	for _, page := range append(pages, "../../README.md", "../../README.zh-CN.md") {
		for _, line := range shellLines(t, strings.TrimPrefix(page, "../../")) {
			total++
			if err := takes(line.args); err != nil {
				t.Errorf("%s: pitot %s: %v", line.where, strings.Join(line.args, " "), err)
			}
		}
	}
	if total < 20 {
		t.Errorf("only %d command lines", total)
	}
}

// takes reports what is wrong with a command line, and with the load behind its --.
func takes(args []string) error {
	var stdout, stderr bytes.Buffer
	sess := &session.Session{
		Args: args, Env: func(string) (string, bool) { return "", false }, Stdout: &stdout, Stderr: &stderr,
		Compile: compileLoad, Parse: parseDraft,
	}
	parser, _, err := newParser(sess, &grammar{})
	if err != nil {
		return err
	}
	if _, _, err := parse(parser, args); err != nil {
		return err
	}
	load := args
	if i := slices.Index(args, "--"); i >= 0 {
		load = args[i+1:]
	}
	switch args[0] {
	case "capacity", "calibrate":
		load = append([]string{"bench"}, load...)
		if !slices.Contains(args, "--") {
			return nil
		}
	case "ab", "plan", "bench", "sim", "vllm", "sglang", "python":
	default:
		return nil
	}
	if !slices.Contains([]string{"bench", "sim", "vllm", "sglang", "python"}, load[0]) || slices.Contains(load, "sweep") {
		return nil
	}
	_, err = planOf(sess, load)
	return err
}
