package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A block is a command from the docs and the output shown under it.
type block struct {
	where   string // file:line
	command string
	output  []string
}

// blocks finds the `$ pitot` commands in the console blocks of a Markdown file.
func blocks(t *testing.T, file string) []block {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	inside, number := false, 0
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		number++
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case !inside:
		case strings.HasPrefix(line, "$ "):
			out = append(out, block{where: filepath.Base(file) + ":" + strconv.Itoa(number), command: line[2:]})
		case len(out) > 0:
			out[len(out)-1].output = append(out[len(out)-1].output, line)
		}
	}
	return out
}

var numbers = regexp.MustCompile(`[0-9]+(\.[0-9]+)?\*?`)

// normal is a line without what differs from run to run: numbers, blanks, ids,
// the verdict of a noisy machine and what it rests on, and the addresses of engines.
func normal(line string) string {
	line = numbers.ReplaceAllString(line, "0")
	line = strings.Join(strings.Fields(line), " ")
	line = regexp.MustCompile(`0-0-[a-z0-9]+`).ReplaceAllString(line, "ID")
	line = strings.TrimPrefix(line, "VALID · ") // what else a verdict is comes in lines of its own
	line = regexp.MustCompile(`^client .*`).ReplaceAllString(line, "client")
	line = regexp.MustCompile(`^(read late by|user-space stamps).*`).ReplaceAllString(line, "stamps")
	line = regexp.MustCompile(`\b(doubtful|invalid)\b`).ReplaceAllString(line, "valid")
	line = strings.Replace(line, "ITL !", "ITL", 1)
	return strings.ReplaceAll(line, "no GC", "0 GC, longest pause 0 ms")
}

// arguments are those of a command, of which some may be in quotes.
func arguments(command string) (out []string) {
	for _, w := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(command, -1) {
		out = append(out, strings.Trim(w, "'"))
	}
	return out
}

// Every `$ pitot` command in the docs runs, in order, with a folder and a store for each
// file. The folder has the notes, traces and profiles of examples/. An engine takes
// the place of the server on port 8000. The lines shown must appear in the output, in their
// order.
func TestDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("long: runs without -short")
	}
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) < 5 {
		t.Fatal(err, files)
	}
	pitot, total := build(t), 0
	for _, file := range append(files, "../../README.md") {
		found := blocks(t, file)
		total += len(found)
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			runBlocks(t, pitot, found)
		})
	}
	if total < 10 {
		t.Errorf("only %d commands in the docs", total)
	}
}

// fenced are the blocks of a page between fences.
func fenced(t *testing.T, name string) []string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile("(?ms)^```.*?^```$").FindAllString(string(b), -1)
}

// The README in Chinese has the commands of the English one, in its order, with the same output.
func TestReadmesHaveTheSameCommands(t *testing.T) {
	english, chinese := fenced(t, "../../README.md"), fenced(t, "../../README.zh-CN.md")
	if len(english) < 5 || len(english) != len(chinese) {
		t.Fatalf("%d blocks in README.md, %d in README.zh-CN.md", len(english), len(chinese))
	}
	for i := range english {
		if english[i] != chinese[i] {
			t.Errorf("README.md has\n%s\nand README.zh-CN.md\n%s", english[i], chinese[i])
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	mark    = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchor is the name of a heading in links, as GitHub makes it.
func anchor(heading string) string {
	return strings.ReplaceAll(mark.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// Links within the docs lead to files and headings that are there.
func TestDocsLinks(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	more, _ := filepath.Glob("../../*.md")
	if err != nil || len(pages) < 5 {
		t.Fatal(err, pages)
	}
	for _, page := range append(pages, more...) {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(b, -1) {
			target, fragment, _ := strings.Cut(string(m[1]), "#")
			if strings.Contains(target, "://") {
				continue
			}
			there := b
			if target != "" {
				if there, err = os.ReadFile(filepath.Join(filepath.Dir(page), target)); err != nil {
					t.Errorf("%s: %s: %v", page, m[1], err)
					continue
				}
			}
			if fragment != "" && !slices.ContainsFunc(heading.FindAllSubmatch(there, -1), func(h [][]byte) bool { return anchor(string(h[1])) == fragment }) {
				t.Errorf("%s: %s: no such heading", page, m[1])
			}
		}
	}
}

// A page of the docs is a manual first: measurements, and the commands that repeat them, stand at its end. Pages of
// nothing but proofs have no manual.
func TestDocsHaveProofsAtTheEnd(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatal(err, pages)
	}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		manual, checks, _ := bytes.Cut(b, []byte("\n## How this was checked\n"))
		proof := slices.Contains([]string{"accuracy.md", "experiment-rates.md", "reproduction.md"}, filepath.Base(page))
		if m := regexp.MustCompile("go test [^`\n]*").Find(manual); m != nil && !proof {
			t.Errorf("%s: %s: belongs under How this was checked", page, m)
		}
		if m := regexp.MustCompile(`(?m)^## .*`).Find(checks); m != nil {
			t.Errorf("%s: %s comes after How this was checked", page, m)
		}
	}
}

func runBlocks(t *testing.T, pitot string, found []block) {
	if len(found) == 0 {
		return
	}
	url := serve(t, pitot, "--ttft", "3ms", "--itl", "2ms", "--fault", "comments=0.1")
	port := url[strings.LastIndex(url, ":")+1:]
	dir := t.TempDir()
	for _, name := range []string{"examples/notes", "examples/traces", "examples/profiles"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS("../../"+name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range found {
		args := arguments(strings.ReplaceAll(b.command, "8000", port))
		if args[0] != "pitot" {
			t.Errorf("%s: %s is not a command of pitot's", b.where, b.command)
			continue
		}
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(pitot, args[1:]...)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, []string{"PITOT_STORE=runs.db", "HOME=" + dir, "GOGC=400"}, &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %s: %v: %s", b.where, b.command, err, stderr.String())
		}
		compareOutput(t, b, stdout.String())
	}
}

// alike reports whether a line is the one that is wanted; on a busy machine a run may have no steady state, and its
// lines then lack the second column, or have the whole run in the place of the steady part.
func alike(got, want, output string) bool {
	return got == want || strings.Contains(output, "not steady") && strings.HasPrefix(want, "steady 0–0 s, ms") && strings.HasPrefix(got, "whole run 0 s, ") ||
		strings.Contains(output, "no steady state") && got != "" && strings.HasPrefix(want, got+" 0")
}

// compareOutput looks for the block's lines in the output, each after the one before.
func compareOutput(t *testing.T, b block, output string) {
	t.Helper()
	rest := strings.Split(output, "\n")
	for _, want := range b.output {
		if want == "..." || strings.TrimSpace(want) == "" {
			continue
		}
		i := 0
		for i < len(rest) && !alike(normal(rest[i]), normal(strings.ReplaceAll(want, "8000", "1")), output) {
			i++
		}
		if i == len(rest) {
			t.Errorf("%s: %s: no line like\n%s\nin what is left of\n%s", b.where, b.command, want, output)
			return
		}
		rest = rest[i+1:]
	}
}
