package fleet

import (
	"bytes"
	"cmp"
	"flag"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/pitot-bench/pitot/internal/cli" // a changed program invalidates cached results
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/natsserver"
	"github.com/pitot-bench/pitot/internal/test/program"
)

var long = flag.Bool("long", false, "more workers, more streams, and every fault over both kinds of server")

// pitot is the program as shipped.
var pitot string

func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		log.Print("skipped: whole processes run without -short")
		return
	}
	if !*long { // these mostly wait
		_ = flag.Set("test.parallel", "8")
	}
	folder, err := os.MkdirTemp("", "pitot-fleet-test-")
	if err != nil {
		log.Fatal(err)
	}
	code := 1
	if pitot, err = program.Build(folder); err != nil {
		log.Print(err)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// token is what the servers of these tests ask for.
const token = "a-token-of-tests-3f1c"

// A place is the world of the processes of one test: a home, a temporary folder and a store.
type place struct {
	t    testing.TB
	dir  string
	url  string   // of the NATS server
	cwd  string   // working directory of what is started next; empty: that of the test
	vars []string // variables of what is started next

	noToken bool   // processes get in otherwise
	pitot   string // the program, if it is another one
	store   string // that is looked at, if it is another one
}

func newPlace(t testing.TB) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir()}
	for _, sub := range []string{"home", "tmp", "store"} {
		if err := os.Mkdir(filepath.Join(p.dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// A process is one of the program.
type process struct {
	*exec.Cmd
	t    testing.TB
	name string
	out  *tail
	errs *tail
	over chan struct{} // closed when it has ended
}

// start starts the program, which is killed at the end of the test.
func (p *place) start(name string, args ...string) *process { return p.startWith(name, nil, args...) }

// startWith puts words before the program, such as those of another program that starts it.
func (p *place) startWith(name string, before []string, args ...string) *process {
	p.t.Helper()
	words := append(append(append([]string{}, before...), cmp.Or(p.pitot, pitot)), args...)
	c := &process{Cmd: exec.Command(words[0], words[1:]...), t: p.t, name: name, out: new(tail), errs: new(tail), over: make(chan struct{})}
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(p.dir, "home"), "TMPDIR=" + filepath.Join(p.dir, "tmp"),
		"PITOT_STORE=" + filepath.Join(p.dir, "store", "runs.db"),
	}
	if !p.noToken {
		c.Env = append(c.Env, "PITOT_FLEET_TOKEN="+token)
	}
	c.Dir, c.Env = p.cwd, append(c.Env, p.vars...)
	c.Stdout, c.Stderr = c.out, c.errs
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		_ = c.Wait()
		close(c.over)
	}()
	p.t.Cleanup(func() {
		c.signal(syscall.SIGCONT)
		c.signal(syscall.SIGKILL)
		<-c.over
		if p.t.Failed() {
			p.t.Logf("%s:\n%s%s", name, c.out, c.errs)
		}
	})
	return c
}

func (c *process) signal(s syscall.Signal) { _ = c.Process.Signal(s) }

// wait waits for the end, and returns the exit code.
func (c *process) wait() int {
	c.t.Helper()
	select {
	case <-c.over:
	case <-time.After(2 * time.Minute):
		c.t.Fatalf("%s does not end:\n%s%s", c.name, c.out, c.errs)
	}
	return c.ProcessState.ExitCode()
}

// says waits until the process has printed some text to either stream.
func (c *process) says(text string) {
	c.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		if strings.Contains(c.out.String()+c.errs.String(), text) {
			return
		}
		wait := c.errs.more()
		select {
		case <-wait:
		case <-c.over:
			if !strings.Contains(c.out.String()+c.errs.String(), text) {
				c.t.Fatalf("%s ended and did not say %q:\n%s%s", c.name, text, c.out, c.errs)
			}
		case <-time.After(time.Until(deadline)):
			c.t.Fatalf("%s does not say %q:\n%s%s", c.name, text, c.out, c.errs)
		}
	}
}

// A tail keeps what is written, and tells that there is more.
type tail struct {
	mu   sync.Mutex
	b    bytes.Buffer
	next chan struct{}
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.next != nil {
		close(t.next)
		t.next = nil
	}
	return t.b.Write(b)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// more is closed with the next Write.
func (t *tail) more() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.next == nil {
		t.next = make(chan struct{})
	}
	return t.next
}

// up starts the NATS server inside the program, as a process.
func (p *place) up() *process {
	p.t.Helper()
	at := freeAddress(p.t)
	p.url = "nats://" + at
	c := p.start("server", "fleet", "up", "--listen", at, "--dir", filepath.Join(p.dir, "fleet"))
	waitFor(p.t, at)
	return c
}

// worker starts a worker.
func (p *place) worker(name string, more ...string) *process {
	p.t.Helper()
	return p.workerWith(name, nil, more...)
}

func (p *place) workerWith(name string, before []string, more ...string) *process {
	p.t.Helper()
	args := append([]string{"fleet", "worker", "--join", p.url, "--name", name, "--capacity", "none", "--folder", filepath.Join(p.dir, name)}, more...)
	c := p.startWith(name, before, args...)
	c.says("is there")
	return c
}

// bench starts a controller with a load of flags.
func (p *place) bench(more ...string) *process {
	p.t.Helper()
	return p.start("controller", append([]string{"bench", "--fleet", p.url}, more...)...)
}

// stored is the last run in the store.
func (p *place) stored() *trace.Trace {
	p.t.Helper()
	all := p.all()
	if len(all) == 0 {
		p.t.Fatal("the store has no run")
	}
	return all[0]
}

// all are the runs in the store, the last one first.
func (p *place) all() (runs []*trace.Trace) {
	p.t.Helper()
	s, err := store.OpenRead(cmp.Or(p.store, filepath.Join(p.dir, "store", "runs.db")))
	if err != nil {
		p.t.Fatal(err)
	}
	defer s.Close()
	list, err := s.List(store.Filter{})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, one := range list {
		run, err := s.Load(one.ID)
		if err != nil {
			p.t.Fatal(err)
		}
		runs = append(runs, run)
	}
	return runs
}

func freeAddress(t testing.TB) string {
	t.Helper()
	return "127.0.0.1:" + natsserver.Port(t)
}

// waitFor waits until somebody listens.
func waitFor(t testing.TB, at string) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); <-tick.C {
		if c, err := net.Dial("tcp", at); err == nil {
			_ = c.Close()
			return
		}
	}
	t.Fatalf("nobody listens at %s", at)
}
