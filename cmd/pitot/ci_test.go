package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/pitot-bench/pitot/internal/test/program"
)

// A pipeline is a job of docs/ci as its runner takes it: the variables and the steps.
type pipeline struct {
	env    map[string]string
	steps  []string // for the shell
	uses   []string // actions
	folder func(t *testing.T, dir string)
	open   int // what becomes of exit code 4
}

// githubJob is the workflow for GitHub, whose runner puts base and head into folders.
func githubJob(t *testing.T) pipeline {
	var file struct {
		Jobs map[string]struct {
			Env   map[string]string
			Steps []struct {
				Uses, Run string
				With      map[string]string
			}
		}
	}
	readYAML(t, "../../docs/ci/github.yml", &file)
	job := file.Jobs["pitot"]
	p := pipeline{env: job.Env}
	var paths []string
	for _, s := range job.Steps {
		if s.Run != "" {
			p.steps = append(p.steps, s.Run)
		}
		if s.Uses != "" {
			p.uses = append(p.uses, s.Uses)
		}
		if strings.HasPrefix(s.Uses, "actions/checkout@") {
			paths = append(paths, s.With["path"])
		}
	}
	p.folder = func(t *testing.T, dir string) {
		for _, side := range paths {
			writeProject(t, filepath.Join(dir, side), side)
		}
	}
	return p
}

// gitlabJob is the job for GitLab, whose runner has the head and its history.
func gitlabJob(t *testing.T) pipeline {
	var file struct {
		Performance struct {
			Variables map[string]string
			Script    []string
			Allow     struct {
				Codes []int `yaml:"exit_codes"`
			} `yaml:"allow_failure"`
		}
	}
	readYAML(t, "../../docs/ci/gitlab-ci.yml", &file)
	job := file.Performance
	if !slices.Equal(job.Allow.Codes, []int{4}) {
		t.Errorf("allowed to fail with %v", job.Allow.Codes)
	}
	p := pipeline{env: job.Variables, steps: []string{strings.Join(job.Script, "\n")}, open: 4}
	p.folder = func(t *testing.T, dir string) {
		git := func(args ...string) string {
			cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)...)
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("git %v: %v: %s", args, err, out)
			}
			return strings.TrimSpace(string(out))
		}
		git("init", "-q")
		writeProject(t, dir, "base")
		git("add", ".")
		git("commit", "-qm", "base")
		p.env["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = git("rev-parse", "HEAD")
		writeProject(t, dir, "head")
		git("commit", "-qam", "head")
	}
	return p
}

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

// writeProject writes a project whose server is the simulated engine: the head is slower.
func writeProject(t *testing.T, dir, side string) {
	t.Helper()
	slower := map[string]string{"base": "0%", "head": "50%"}[side]
	for name, text := range map[string]string{
		"build.sh": "#!/bin/sh\necho " + slower + " >slower\n",
		"serve.sh": "#!/bin/sh\nexec pitot serve --fresh-seed --addr \"127.0.0.1:$PORT\" --slower \"$(cat slower)\"\n",
	} {
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
}

// play runs the steps as a runner does, one shell after the other until one fails, and
// returns the exit code and what was printed.
func (p pipeline) play(t *testing.T, dir string, path string, more ...string) (code int, printed string) {
	t.Helper()
	p.folder(t, dir)
	env := []string{"PATH=" + path + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + dir, "PITOT_STORE=" + dir + "/runs.db", "GITHUB_STEP_SUMMARY=" + dir + "/pitot.md"}
	for name, value := range p.env {
		env = append(env, name+"="+value)
	}
	var out bytes.Buffer
	for _, step := range p.steps {
		cmd := exec.Command("sh", "-e", "-c", step)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(env, more...), &out, &out
		var failed *exec.ExitError
		if err := cmd.Run(); errors.As(err, &failed) {
			return failed.ExitCode(), out.String()
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return 0, out.String()
}

func jobs(t *testing.T) map[string]pipeline {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	return map[string]pipeline{"github": githubJob(t), "gitlab": gitlabJob(t)}
}

// The jobs build both sides, hand `pitot ab` what it needs, and end as it ends. A script
// stands for pitot, and keeps what it was called with.
func TestJobsEndAsPitotEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("long: runs without -short")
	}
	for name, job := range jobs(t) {
		for code, want := range map[int]int{0: 0, 1: 1, 2: 2, 3: 3, 4: job.open} {
			dir, bin := t.TempDir(), t.TempDir()
			script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\n' \"$@\" >args\nexit %d\n", code)
			if err := os.WriteFile(filepath.Join(bin, "pitot"), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			got, printed := job.play(t, dir, bin)
			if got != want {
				t.Errorf("%s: exit code %d of pitot is %d, want %d: %s", name, code, got, want, printed)
			}
			if warned := strings.Contains(printed, "::warning"); warned != (name == "github" && code == 4) {
				t.Errorf("%s: exit code %d: printed %s", name, code, printed)
			}
			args, err := os.ReadFile(filepath.Join(dir, "args"))
			if err != nil {
				t.Fatal(err)
			}
			for _, flag := range []string{"ab\n--before\ncd base && exec ./serve.sh\n--after\n", "--url\nhttp://127.0.0.1:8000\n", "--fail-if\nttft.mean > +3%\n", "pitot.md\n--junit\npitot.xml\n--\nbench\n-n\n"} {
				if !strings.Contains(string(args), flag) {
					t.Errorf("%s: arguments %q lack %q", name, args, flag)
				}
			}
			for _, side := range []string{"base", map[string]string{"github": "head", "gitlab": "."}[name]} {
				if _, err := os.Stat(filepath.Join(dir, side, "slower")); err != nil {
					t.Errorf("%s: %s is not built: %v", name, side, err)
				}
			}
		}
	}
}

// A job of which nothing could be compared fails, though the exit code is that of an open question.
func TestJobsWithoutAVerdictFail(t *testing.T) {
	for name, job := range jobs(t) {
		dir, bin := t.TempDir(), t.TempDir()
		script := "#!/bin/sh\necho '## Comparison: NO VERDICT' >\"$HOME/pitot.md\"\nexit 4\n"
		if err := os.WriteFile(filepath.Join(bin, "pitot"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		if code, printed := job.play(t, dir, bin); code != 1 || strings.Contains(printed, "::warning") {
			t.Errorf("%s: exit code %d: %s", name, code, printed)
		}
	}
}

// Actions are GitHub's own, of a stated version.
func TestActionsArePinned(t *testing.T) {
	for _, action := range githubJob(t).uses {
		if !regexp.MustCompile(`^actions/(checkout|upload-artifact)@v\d+$`).MatchString(action) {
			t.Errorf("action %s", action)
		}
	}
}

// The jobs run as they stand, with the simulated engine as the server and a short load; the
// head is half as slow again, and fails them.
func TestJobsWithServers(t *testing.T) {
	pitot := build(t)
	if err := exec.Command(pitot, "ab", "--help").Run(); err != nil {
		t.Skip("this pitot has no command ab")
	}
	if os.Getenv("PITOT_CI_JOBS") == "" {
		t.Skip("takes 40 s; PITOT_CI_JOBS=1 runs it")
	}
	for name, job := range jobs(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			port, err := program.FreePort()
			if err != nil {
				t.Fatal(err)
			}
			code, printed := job.play(t, dir, filepath.Dir(pitot), "LOAD=bench -n 24 -c 4 --output-len 8", "PORT="+port)
			if code != 3 {
				t.Errorf("exit code %d, want 3: %s", code, printed)
			}
			for file, want := range map[string]string{"pitot.md": "## Comparison: FAIL", "pitot.xml": "<failure message="} {
				if b, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.Contains(string(b), want) {
					t.Errorf("%s: %v: %s", file, err, b)
				}
			}
		})
	}
}
