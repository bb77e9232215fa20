package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// fake puts a stand-in for a program onto PATH, and returns the folder of its memory.
func fake(t *testing.T, names ...string) (memory string) {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("the stand-ins are for Linux")
	}
	for _, name := range names {
		file := name
		if name == "podman" {
			file = "docker"
		}
		program(t, name, strings.TrimPrefix(text(t, filepath.Join("testdata", file)), "#!/bin/sh\n"))
	}
	memory = t.TempDir()
	t.Setenv("FAKE", memory)
	return memory
}

// calls are the command lines that a stand-in was called with, and that begin so.
func calls(t *testing.T, memory, begin string) (all []string) {
	t.Helper()
	for line := range strings.Lines(text(t, filepath.Join(memory, "calls"))) {
		if strings.HasPrefix(line, begin) {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

// boxed is a stage whose server is in a container.
func boxed(t *testing.T, runner design.Runner) *stage {
	g := newStage(t)
	g.s.Runner, g.s.Image, g.s.Options, g.s.Cwd = runner, "image:1", "--gpus $WHICH", "/srv"
	g.s.Env["TEST_PIPE"], g.s.Env["TEST_AS"], g.s.Env["PATH"] = g.pipe, "server", os.Getenv("PATH")
	t.Setenv("WHICH", "all")
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	g.s.Command = quoted(name) + " --flag 'a  b'"
	return g
}

func TestContainers(t *testing.T) {
	for _, runner := range []design.Runner{design.Docker, design.Podman} {
		t.Run(string(runner), func(t *testing.T) {
			memory := fake(t, string(runner))
			g := boxed(t, runner)
			r := g.start(t)
			out := g.up(t)
			if _, err := r.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			h := r.Handle()
			run := calls(t, memory, "run")
			want := "run --rm --log-driver none --name " + h.Container + " --label pitot.server=" + h.Tree.Mark + " --workdir /srv --env API_KEY --env PATH=" +
				os.Getenv("PATH") + " --env TEST_AS --env TEST_PIPE --env TEST_PORT --gpus all image:1 "
			if len(run) != 1 || !strings.HasPrefix(run[0], want) || !strings.HasSuffix(run[0], " --flag a  b") {
				t.Errorf("%q\nwant %q", run, want)
			}
			alive, what, err := Leftover(t.Context(), h, g.o)
			if found, _ := what.Args["what"].([]string); !alive || err != nil || !slices.Contains(found, "container "+h.Container) {
				t.Errorf("%v, %v", what, err)
			}
			if s, err := r.Stop(t.Context()); err != nil || s.Forced || len(s.Unverified) > 0 {
				t.Errorf("%+v, %v", s, err)
			}
			gone(t, out)
			if got := calls(t, memory, "stop"); !slices.Equal(got, []string{"stop -t 60 " + h.Container}) {
				t.Errorf("%q", got)
			}
			if got := r.Ended().Lines; !slices.Contains(got, "got a TERM") {
				t.Errorf("%q", got)
			}
			secretless(t, text(t, filepath.Join(memory, "calls")), h, r.Life())
			g.nothing(t, h)
		})
	}
}

func TestAContainerThatIgnoresTERM(t *testing.T) {
	fake(t, "docker")
	g := boxed(t, design.Docker)
	g.s.Env["TEST_TERM"], g.s.StopTimeout = "ignored", plan.Duration(time.Millisecond)
	r := g.start(t)
	out := g.up(t)
	if s, err := r.Stop(t.Context()); err != nil || !s.Forced {
		t.Errorf("%+v, %v", s, err)
	}
	gone(t, out)
}

// The client is killed, and the container goes on.
func TestAContainerWithoutItsClient(t *testing.T) {
	memory := fake(t, "docker")
	g := boxed(t, design.Docker)
	r := g.start(t)
	out := g.up(t)
	h := r.Handle()
	if err := syscall.Kill(-h.Tree.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-r.Done()
	h.Tree = proc.Tree{Mark: "of no process"} // a container is no process of ours
	if err := os.WriteFile(filepath.Join(memory, h.Container+".label"), []byte("pitot.server="+h.Tree.Mark), 0o600); err != nil {
		t.Fatal(err)
	}
	if alive, _, err := Leftover(t.Context(), h, g.o); !alive || err != nil {
		t.Errorf("%v, %v", alive, err)
	}
	if err := EndLeftover(t.Context(), h, g.o); err != nil {
		t.Error(err)
	}
	gone(t, out)
}

func TestAnImageThatIsNotThere(t *testing.T) {
	fake(t, "docker")
	g := boxed(t, design.Docker)
	g.s.Image = "other"
	r := g.start(t)
	_, err := r.Ready(t.Context())
	if err == nil || !strings.Contains(err.Error(), "exit code 125; the last lines of its log:\n\tUnable to find image 'other'") {
		t.Errorf("%v", err)
	}
	if s, err := r.Stop(t.Context()); err != nil || s.Forced {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestProgramsThatAreNotInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for runner, s := range map[string]design.ServerSetup{
		"docker": {Image: "x"}, "podman": {Image: "x"}, "ssh": {Host: "box", Command: "x"}, "kubectl": {Deployment: "x"},
	} {
		g := newStage(t)
		s.Runner = design.Runner(runner)
		if _, err := Start(t.Context(), s, g.o); err == nil || err.Error() != runner+" is not installed here: not found on PATH" {
			t.Errorf("%s: %v", runner, err)
		}
	}
}

func overSSH(t *testing.T) *stage {
	g := newStage(t)
	g.s.Runner, g.s.Host, g.s.Options, g.s.Cwd = design.SSH, "me@box", "-p 2222", t.TempDir()
	g.s.Env["QUOTE"] = "it's $HOME"
	g.s.Command = `echo "$QUOTE in $PWD"; ` + g.s.Command
	return g
}

func TestSSH(t *testing.T) {
	memory := fake(t, "ssh")
	g := overSSH(t)
	var kept []Handle
	g.o.SaveHandle = func(h Handle) error { kept = append(kept, h); return nil }
	r := g.start(t)
	out := g.up(t)
	if _, err := r.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(kept) != 2 || kept[0].Remote.Mark == "" || kept[0].Remote.PID != 0 || kept[1].Remote.PID == 0 || kept[1].Remote.Began == "" {
		t.Errorf("%+v", kept)
	}
	h := r.Handle()
	if alive, what, err := Leftover(t.Context(), h, g.o); !alive || err != nil || !strings.HasSuffix(strings.Join(what.Args["what"].([]string), ","), " on me@box") {
		t.Errorf("%v, %v", what, err)
	}
	if s, err := r.Stop(t.Context()); err != nil || s.Forced || len(s.Unverified) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
	gone(t, out)
	if lines := r.Ended().Lines; !slices.Contains(lines, "it's $HOME in "+g.s.Cwd) || !slices.Contains(lines, "got a TERM") {
		t.Errorf("%q", lines)
	}
	for _, call := range calls(t, memory, "") {
		if !strings.HasPrefix(call, "-p 2222 -T -o BatchMode=yes ") || !strings.HasSuffix(call, " -- me@box sh") {
			t.Errorf("%q", call)
		}
	}
	secretless(t, text(t, filepath.Join(memory, "calls")), kept, r.Life())
	g.nothing(t, h)
}

// The connection is lost: the leg ends, and the server is found on its host.
func TestSSHWithoutItsConnection(t *testing.T) {
	memory := fake(t, "ssh")
	g := overSSH(t)
	g.s.Env["TEST_TERM"], g.s.StopTimeout = "ignored", plan.Duration(time.Millisecond)
	r := g.start(t)
	out := g.up(t)
	if err := syscall.Kill(-r.Handle().Tree.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-r.Done()
	unreachable := filepath.Join(memory, "unreachable")
	if err := os.WriteFile(unreachable, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := r.Handle()
	h.Tree = proc.Tree{} // what is on another host is no process of ours
	if alive, _, err := Leftover(t.Context(), h, g.o); alive || err == nil || !strings.Contains(err.Error(), "ssh me@box: exit status 255: ssh: connect") {
		t.Errorf("%v, %v", alive, err)
	}
	if err := EndLeftover(t.Context(), h, g.o); err == nil {
		t.Error("nobody knows whether it has ended")
	}
	if err := os.Remove(unreachable); err != nil {
		t.Fatal(err)
	}
	if err := EndLeftover(t.Context(), h, g.o); err != nil {
		t.Error(err)
	}
	gone(t, out)
}

func TestAHostThatIsNotThere(t *testing.T) {
	memory := fake(t, "ssh")
	g := overSSH(t)
	if err := os.WriteFile(filepath.Join(memory, "unreachable"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), g.s, g.o)
	if err == nil || !strings.Contains(err.Error(), "start the server on me@box") || !strings.Contains(err.Error(), "No route to host") {
		t.Errorf("%v", err)
	}
}

// Options with a secret are not kept, so that another process cannot reach the server.
func TestOptionsWithASecret(t *testing.T) {
	memory := fake(t, "kubectl")
	g := inCluster(t, memory)
	g.s.Options, g.s.Manifest = g.s.Options+" --token=sesame-token", "/engine.yaml"
	r := g.start(t)
	out := g.up(t)
	text, err := json.Marshal(r.Handle())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	gone(t, out)
	var h Handle
	if err := json.Unmarshal(text, &h); err != nil {
		t.Fatal(err)
	}
	secretless(t, h)
	if _, _, err := Leftover(t.Context(), h, g.o); err == nil || !strings.Contains(err.Error(), "by hand") {
		t.Errorf("%v", err)
	}
	if err := EndLeftover(t.Context(), h, g.o); err == nil || !strings.Contains(err.Error(), "by hand") {
		t.Errorf("%v", err)
	}
}

// inCluster is a stage whose server is a deployment.
func inCluster(t *testing.T, memory string) *stage {
	g := newStage(t)
	program(t, "sleep", "exec /bin/sleep 0.01\n") // of the script that follows the log
	var pod strings.Builder
	for _, pair := range pairs(g.s.Env) {
		pod.WriteString("export " + pair + "\n")
	}
	pod.WriteString(g.s.Command + "\n")
	if err := os.WriteFile(filepath.Join(memory, "pod"), []byte(pod.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	g.s = design.ServerSetup{
		Runner: design.Kubectl, Deployment: "engine", Namespace: "bench", Options: "--context $CLUSTER",
		ReadyTimeout: plan.Duration(time.Minute), StopTimeout: plan.Duration(time.Minute),
	}
	t.Setenv("CLUSTER", "test")
	return g
}

func TestADeploymentOfAManifest(t *testing.T) {
	memory := fake(t, "kubectl")
	g := inCluster(t, memory)
	g.s.Manifest, g.s.Cwd = "engine.yaml", "/srv"
	r := g.start(t)
	out := g.up(t)
	if _, err := r.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := r.Stop(t.Context())
	if err != nil || len(s.Unverified) != 1 || s.Unverified[0].Code != "server.memory-unknown" {
		t.Errorf("%+v, %v", s, err)
	}
	gone(t, out)
	const all = "--context test --namespace bench "
	for _, want := range []string{
		"apply -f /srv/engine.yaml", "rollout status deployment/engine --timeout=60s", "logs --follow deployment/engine",
		"delete --ignore-not-found --cascade=foreground --wait=false -f /srv/engine.yaml", "wait --for=delete deployment/engine --timeout=70s",
	} {
		if got := calls(t, memory, all+want); len(got) != 1 {
			t.Errorf("%q was called %d times", want, len(got))
		}
	}
	g.nothing(t, r.Handle())
}

// A deployment that exists is restarted, scaled to none at the end, and has its replicas
// again with the next start.
func TestADeploymentThatExists(t *testing.T) {
	memory := fake(t, "kubectl")
	if err := os.WriteFile(filepath.Join(memory, "replicas"), []byte("3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := inCluster(t, memory)
	for _, want := range []string{"rollout restart deployment/engine", "scale deployment/engine --replicas=3"} {
		r := g.start(t)
		out := g.up(t)
		if _, err := r.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := calls(t, memory, "--context test --namespace bench "+want); len(got) != 1 {
			t.Errorf("%q was called %d times", want, len(got))
		}
		if alive, what, err := Leftover(t.Context(), r.Handle(), g.o); !alive || err != nil {
			t.Errorf("%v, %v", what, err)
		}
		if _, err := r.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		gone(t, out)
		g.nothing(t, r.Handle())
	}
	if got := calls(t, memory, "--context test --namespace bench wait --for=delete pod --selector app=engine,tier=gpu --timeout=70s"); len(got) < 2 {
		t.Errorf("waited %d times for the pods", len(got))
	}
}

func TestAPodThatDies(t *testing.T) {
	memory := fake(t, "kubectl")
	g := inCluster(t, memory)
	g.s.Manifest = "/engine.yaml"
	r := g.start(t)
	out := g.up(t)
	if _, err := r.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	kill := program(t, "end-pod", `kill -9 "$(cat "$FAKE/pid")"`)
	if _, err := (local{}).shell(t.Context(), Handle{}, g.o.withDefaults(), filepath.Join(kill, "end-pod")); err != nil {
		t.Fatal(err)
	}
	<-r.Done()
	if lines := r.Ended().Lines; !slices.Contains(lines, "deployment/engine is not available any more") {
		t.Errorf("%q", lines)
	}
	if _, err := r.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	gone(t, out)
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		s    design.ServerSetup
		want string
	}{
		{design.ServerSetup{Command: "vllm serve x && echo done"}, ""},
		{design.ServerSetup{Runner: "local"}, "command: must be given"},
		{design.ServerSetup{Runner: "dokcer"}, `runner "dokcer": unknown name, did you mean "docker"?; allowed: docker, kubectl, local, podman, ssh`},
		{design.ServerSetup{Runner: "docker", Command: "x"}, "image: docker needs one"},
		{design.ServerSetup{Runner: "docker", Image: "x"}, ""},
		{design.ServerSetup{Runner: "podman", Image: "x", Command: "serve 'a; b' \"c|d\" e\\;f"}, ""},
		{design.ServerSetup{Runner: "podman", Image: "x", Command: "serve; rm x"}, "command: arguments of the image: operators of a shell are none; sh -c '...' runs a script there"},
		{design.ServerSetup{Runner: "podman", Image: "x", Command: `serve "$(rm x)"`}, "command: arguments of the image: operators of a shell are none; sh -c '...' runs a script there"},
		{design.ServerSetup{Runner: "podman", Image: "x", Command: "serve 'x"}, "command: arguments of the image: operators of a shell are none; sh -c '...' runs a script there"},
		{design.ServerSetup{Runner: "ssh", Command: "x", Host: "-oProxyCommand=x"}, "host: must be USER@HOST"},
		{design.ServerSetup{Runner: "ssh", Command: "x", Host: "box"}, ""},
		{design.ServerSetup{Runner: "kubectl", Manifest: "x.yaml"}, "deployment: kubectl needs its name, also beside a manifest"},
		{
			design.ServerSetup{Runner: "kubectl", Deployment: "x", Command: "y", Env: map[string]string{"A": "b"}},
			"command: kubectl runs what the deployment says\nenv: kubectl sets none: put it into the manifest",
		},
		{design.ServerSetup{Command: "x", Image: "y", Deployment: "z"}, "image: only docker and podman have one\ndeployment: only kubectl has one"},
		{design.ServerSetup{Command: "x", Env: map[string]string{"A B": "c"}, StopTimeout: -1}, "env.A B: must be the name of a variable\nstop_timeout: must not be negative"},
	} {
		got := ""
		if err := Check(c.s).Err(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v:\n%s\nwant\n%s", c.s, got, c.want)
		}
	}
}
