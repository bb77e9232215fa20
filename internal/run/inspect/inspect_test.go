package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/environment"
)

// A serving is a process that looks like an engine: a copy of a shell under the name of an
// interpreter, in a virtual environment with packages, from a working tree, with a model.
type serving struct {
	dir string
	pid int
	end io.Closer
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func serve(t *testing.T) *serving {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes are read on Linux alone")
	}
	dir := t.TempDir()
	shell, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(dir, "venv/bin/python3")
	write(t, python, string(shell))
	site := filepath.Join(dir, "venv/lib/python3.11/site-packages")
	for _, p := range []string{"torch 2.8.0+cpu", "vllm 0.11.0", "zlib 1"} {
		name, version, _ := strings.Cut(p, " ")
		write(t, filepath.Join(site, name+"-"+version+".dist-info/METADATA"), "Metadata-Version: 2.1\nName: "+name+"\nVersion: "+version+"\n\nName: in the text\n")
	}
	write(t, filepath.Join(site, "vllm-0.11.0.dist-info/direct_url.json"), `{"url": "file://`+dir+`/tree", "dir_info": {"editable": true}}`)
	huge := filepath.Join(site, "huge-1.dist-info/METADATA")
	write(t, huge, "")
	if err := os.Truncate(huge, 1<<30); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop-1.dist-info", filepath.Join(site, "loop-1.dist-info")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "model/config.json"), `{"architectures": ["Qwen3"], "torch_dtype": "bfloat16"}`)
	write(t, filepath.Join(dir, "model/a.safetensors"), "12345")
	write(t, filepath.Join(dir, "model/model.safetensors.index.json"), "{}")
	write(t, filepath.Join(dir, "tree/file"), "1\n")
	cmd := &exec.Cmd{
		Path: python, Dir: dir,
		Args: []string{python, "-c", "read x", "vllm", "serve", "model", "--api-key", "CANARY-1", "--tp", "4", "--hf-token=CANARY-2", "a\nb\x1b[31m"},
		Env:  []string{"HF_TOKEN=hf_CANARY3", "VLLM_USE_V1=1", "ODD=one\ntwo\x1b[2J=x", "NOPAIR", "=empty", "MY_SECRET=CANARY-4"},
	}
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // which ends it
		_ = cmd.Wait()
	})
	return &serving{dir, cmd.Process.Pid, stdin}
}

// commit makes the tree one of git; it is dirty then. false: there is no git here.
func (s *serving) commit(t *testing.T) bool {
	if _, err := exec.LookPath("git"); err != nil {
		return false
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "-m", "x"}} {
		cmd := exec.Command("git", args...)
		if cmd.Dir = filepath.Join(s.dir, "tree"); cmd.Run() != nil {
			return false
		}
	}
	// What would be run if its configuration were heeded.
	hook := filepath.Join(s.dir, "hook")
	write(t, hook, "#!/bin/sh\ntouch "+s.dir+"/ran\n")
	for _, args := range [][]string{{"config", "core.fsmonitor", hook}, {"config", "diff.external", hook}, {"config", "diff.x.textconv", hook}, {"config", "core.pager", hook}} {
		cmd := exec.Command("git", args...)
		if cmd.Dir = filepath.Join(s.dir, "tree"); cmd.Run() != nil {
			return false
		}
	}
	write(t, filepath.Join(s.dir, "tree/.gitattributes"), "* diff=x\n")
	write(t, filepath.Join(s.dir, "tree/file"), "2\n")
	return true
}

func leaks(t *testing.T, e *environment.Environment) {
	t.Helper()
	b, err := json.Marshal(e)
	if err != nil || strings.Contains(string(b), "CANARY") {
		t.Errorf("%v: %s", err, b)
	}
}

func TestAServerOfThisMachine(t *testing.T) {
	s := serve(t)
	dirty := s.commit(t)
	e, notes := Server(t.Context(), Subject{Site: plan.Site{Kind: plan.ByPID, Name: fmt.Sprint(s.pid)}, Asked: true, limit: unhurried})
	if e == nil || len(notes) > 0 {
		t.Fatalf("%v, %v", e, notes)
	}
	leaks(t, e)
	wantArgs := []string{s.dir + "/venv/bin/python3", "-c", "read x", "vllm", "serve", "model", "--api-key", "***", "--tp", "4", "--hf-token=***", "a b [31m"}
	if diff := cmp.Diff(wantArgs, e.Process.Args); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"VLLM_USE_V1": "1", "ODD": "one two [2J=x"}, e.Process.Env); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]environment.Version{{Name: "vllm", Version: "0.11.0"}, {Name: "torch", Version: "2.8.0+cpu"}, {Name: "zlib", Version: "1"}}, e.Packages); diff != "" {
		t.Error(diff)
	}
	if m := e.Model; m == nil || m.Path != s.dir+"/model" || m.Architecture != "Qwen3" || m.Bytes != 5 || m.Index != "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" {
		t.Errorf("%+v", m)
	}
	if dirty && (len(e.Trees) != 1 || e.Trees[0].Package != "vllm" || e.Trees[0].Dirty == nil || !*e.Trees[0].Dirty || e.Trees[0].Diff == "") {
		t.Errorf("%+v", e.Trees)
	}
	if _, err := os.Stat(s.dir + "/ran"); err == nil {
		t.Error("a program that the tree's configuration names was run")
	}
	if e.Machine.Kernel == "" || e.Python != "3.11" {
		t.Errorf("%+v, Python %q", e.Machine, e.Python)
	}
}

// clients puts programs of these names ahead of all others, which run a shell in place of
// going somewhere.
func clients(t *testing.T, script string, names ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		write(t, filepath.Join(dir, name), "#!/bin/sh\n"+script)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// In a container, on another host and in a pod the same is found as here: each client is a
// shell of this machine.
func TestEveryPlaceTellsTheSame(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if runtime.GOOS != "linux" {
		t.Skip("processes are read on Linux alone")
	}
	target := "http://" + l.Addr().String()
	clients(t, `echo "$0 $*" >>"$PITOT_TEST_LOG"
case "$*" in
  *inspect*image*|*"image inspect"*) echo "r/vllm@sha256:`+strings.Repeat("2", 64)+`" ;;
  *inspect*) echo "vllm:0.11 sha256:`+strings.Repeat("1", 64)+`" ;;
  *jsonpath*) echo "vllm:0.11 r/vllm@sha256:`+strings.Repeat("2", 64)+`" ;;
  *) echo "Welcome to this host"; exec sh ;;
esac
`, "docker", "podman", "ssh", "kubectl")
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv("PITOT_TEST_LOG", log)
	of := func(site string) *environment.Environment {
		at, err := plan.ParseSite(site)
		if err != nil {
			t.Fatal(err)
		}
		e, notes := Server(t.Context(), Subject{Site: at, URL: target, Options: []string{"-x"}, Asked: true, limit: unhurried})
		if e == nil || len(notes) > 0 {
			t.Fatalf("%s: %v, %v", site, e, notes)
		}
		return e
	}
	here := of("local")
	if here.Process == nil || here.Process.PID != os.Getpid() {
		t.Fatalf("%+v", here.Process)
	}
	image := environment.Image{Name: "vllm:0.11", Digest: "sha256:" + strings.Repeat("2", 64)}
	for site, want := range map[string]environment.Image{"docker:c": image, "podman:c": image, "ssh:h": {}, "kubectl:p@n": image, "kubectl:deployment/d": image} {
		e := of(site)
		if e.Site != site {
			t.Errorf("%s calls itself %s", site, e.Site)
		}
		got := *e
		got.Site, got.Image = here.Site, here.Image
		if diff := cmp.Diff(*here, got); diff != "" {
			t.Errorf("%s: %s", site, diff)
		}
		if diff := cmp.Diff(want, e.Image); diff != "" {
			t.Errorf("%s: %s", site, diff)
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"docker exec -i c sh", "ssh -x -T -o BatchMode=yes -o ConnectTimeout=5 -- h sh", "kubectl -x --namespace n exec -i p -- sh", "kubectl -x exec -i deployment/d -- sh"} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("nothing asked by %s", want)
		}
	}
}

// unhurried is a limit that a busy machine keeps to.
const unhurried = 2 * time.Minute

// TestMain lets the test itself be a process that forwards a port as Docker's proxy does.
func TestMain(m *testing.M) {
	if os.Getenv("PITOT_TEST_FORWARDS") == "" {
		os.Exit(m.Run())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin) // which ends with the test
}

// A port that a container publishes leads to the container, not to what forwards it.
func TestAPublishedPort(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are read on Linux alone")
	}
	clients(t, `case "$*" in
  ps*) echo vllm-1 ;;
  exec*) exec sh ;;
  "image inspect"*) ;;
  *) echo "vllm:0.11 sha256:`+strings.Repeat("1", 64)+`" ;;
esac
`, "docker")
	address := forward(t, "/usr/bin/docker-proxy")
	e, _ := Server(t.Context(), Subject{URL: "http://" + address, limit: unhurried})
	if e == nil || e.Site != "docker:vllm-1" || e.Image.Name != "vllm:0.11" || !strings.HasPrefix(e.Image.Digest, "sha256:1111") {
		t.Errorf("%+v", e)
	}
}

// What forwards a port to another machine is not the server.
func TestAForwardedPort(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are read on Linux alone")
	}
	clients(t, "exit 1\n", "docker")
	address := forward(t, "kubectl")
	if e, notes := Server(t.Context(), Subject{URL: "http://" + address, limit: unhurried}); e != nil || notes != nil {
		t.Errorf("%+v, %v", e, notes)
	}
	e, notes := Server(t.Context(), Subject{URL: "http://" + address, Asked: true, limit: unhurried})
	if e == nil || e.Process != nil || len(notes) != 1 || notes[0].Code != noProcess {
		t.Errorf("%+v, %v", e, notes)
	}
}

// forward starts a process under a name that listens, and returns where.
func forward(t *testing.T, name string) (address string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	proxy := &exec.Cmd{Path: self, Args: []string{name, "-container-port", "30000"}, Env: append(os.Environ(), "PITOT_TEST_FORWARDS=1")}
	stdin, errIn := proxy.StdinPipe()
	stdout, errOut := proxy.StdoutPipe()
	if err := errors.Join(errIn, errOut, proxy.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = proxy.Wait()
	})
	if _, err := fmt.Fscanln(stdout, &address); err != nil {
		t.Fatal(err)
	}
	return address
}

// What hangs, fails or is gone costs its limit and a note, if somebody asked.
func TestWhatCannotBeAsked(t *testing.T) {
	clients(t, "echo no daemon >&2\nexit 1\n", "docker")
	at := plan.Site{Kind: plan.InDocker, Name: "c"}
	e, notes := Server(t.Context(), Subject{Site: at, Asked: true, limit: unhurried})
	if e != nil || len(notes) != 1 || notes[0].Code != unreachable || !strings.Contains(fmt.Sprint(notes[0].Args["why"]), "no daemon") {
		t.Errorf("%+v, %v", e, notes)
	}
	if e, notes := Server(t.Context(), Subject{Site: at, limit: unhurried}); e != nil || notes != nil {
		t.Errorf("nobody asked: %+v, %v", e, notes)
	}
	clients(t, "sleep 60 & wait\n", "docker")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if e, notes := Server(ctx, Subject{Site: at, Asked: true}); e != nil || len(notes) != 1 || notes[0].Code != outOfTime {
		t.Errorf("a client that hangs: %+v, %v", e, notes)
	}
	for _, s := range []Subject{{URL: "http://10.1.2.3:8000"}, {}, {Site: plan.Site{Kind: plan.Nowhere}, URL: "http://127.0.0.1:1", Asked: true, limit: unhurried}, {URL: "http://127.0.0.1:1"}, {URL: "::"}} {
		if e, notes := Server(t.Context(), s); e != nil || notes != nil {
			t.Errorf("%+v: %+v, %v", s, e, notes)
		}
	}
}

// A process that ends while it is asked leaves what was read of it.
func TestAProcessThatEnds(t *testing.T) {
	s := serve(t)
	_ = s.end.Close()
	e, notes := Server(t.Context(), Subject{Site: plan.Site{Kind: plan.ByPID, Name: "2147483000"}, Asked: true, limit: unhurried})
	if runtime.GOOS == "linux" && (e == nil || e.Process != nil || len(notes) != 1 || notes[0].Code != noProcess) {
		t.Errorf("%+v, %v", e, notes)
	}
	e, _ = Server(t.Context(), Subject{Site: plan.Site{Kind: plan.ByPID, Name: fmt.Sprint(s.pid)}, Asked: true, Secrets: new(secret.Set), limit: unhurried})
	leaks(t, e)
}

// A server that was started in a checkout of something else has the commit that its package's version names, or none.
func TestStartedInACheckout(t *testing.T) {
	s := serve(t)
	site := filepath.Join(s.dir, "venv/lib/python3.11/site-packages/vllm-0.11.0.dist-info")
	if err := os.Remove(filepath.Join(site, "direct_url.json")); err != nil || !s.commit(t) {
		t.Skip("no git:", err)
	}
	if err := os.Rename(filepath.Join(s.dir, "tree/.git"), filepath.Join(s.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]string{"0.11.0": "", "0.11.1.dev3+g3cf059a72.cu129": "3cf059a72"} {
		write(t, filepath.Join(site, "METADATA"), "Metadata-Version: 2.1\nName: vllm\nVersion: "+version+"\n")
		e, _ := Server(t.Context(), Subject{Site: plan.Site{Kind: plan.ByPID, Name: fmt.Sprint(s.pid)}, Asked: true, limit: unhurried})
		got := ""
		for _, tree := range e.Trees {
			got += tree.Commit
		}
		if got != want {
			t.Errorf("%s: %+v", version, e.Trees)
		}
	}
}

// The commit of a server elsewhere can be told by a tree that is here.
func TestATreeForAServerElsewhere(t *testing.T) {
	s := serve(t)
	if !s.commit(t) {
		t.Skip("there is no git")
	}
	e, notes := Server(t.Context(), Subject{URL: "http://10.1.2.3:8000", Tree: s.dir + "/tree", Asked: true, limit: unhurried})
	if e == nil || len(e.Trees) != 1 || len(notes) > 0 || e.Machine.Kernel != "" {
		t.Errorf("%+v, %v", e, notes)
	}
	if _, notes := Server(t.Context(), Subject{URL: "http://10.1.2.3:8000", Tree: s.dir + "/model", Asked: true, limit: unhurried}); len(notes) != 1 || notes[0].Code != noTree {
		t.Error(notes)
	}
}

func TestTheClientsMachine(t *testing.T) {
	if e := Client(t.Context()); runtime.GOOS == "linux" && (e.Machine.Kernel == "" || e.Machine.Threads == 0 || e.Machine.Memory == 0) {
		t.Errorf("%+v", e)
	}
}
