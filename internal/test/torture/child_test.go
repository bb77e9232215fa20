package torture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	secret = "sk-torture-5f0e9c41d7"
	// margin is how far the peak memory of a child may be above that of a clean run.
	margin = 300 << 20
	// ceiling is the most memory that a child gets at all, which protects the machine.
	ceiling = 1 << 30
	// overrun is the time beyond its limits within which an exchange ends, and what
	// starting, reporting and a busy machine take.
	overrun = 8 * time.Second
)

// A place is the world of a child: a home, a temporary folder and a store of its own.
type place struct {
	dir   string
	store string
	env   []string // replaces the variables of the same name
}

func newPlace(t testing.TB) *place {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"home", "tmp", "store"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return &place{dir: dir, store: filepath.Join(dir, "store", "runs.db")}
}

// path is a file of the place.
func (p *place) path(name string) string { return filepath.Join(p.dir, name) }

// write makes a file of the place and returns its path.
func (p *place) write(t testing.TB, name, s string) string {
	t.Helper()
	return p.pour(t, name, text(s))
}

// pour makes a file that need not fit into memory.
func (p *place) pour(t testing.TB, name string, write func(io.Writer) error) string {
	t.Helper()
	path := p.path(name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func (p *place) environment() []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.path("home"), "TMPDIR=" + p.path("tmp"),
		"PITOT_STORE=" + p.store, "OPENAI_API_KEY=" + secret, "NO_PROXY=*",
	}, p.env...)
}

// A child is a command of the program, with limits.
type child struct {
	args []string
	// ulimit are settings of the shell's ulimit, such as "-n 32".
	ulimit []string
	// before is a line of shell that runs before the program, in its process, and after one
	// that runs when it has ended.
	before, after string
	attr          *syscall.SysProcAttr
	wall          time.Duration // after which it is killed; 0: 20 s
}

// codes are the exit codes of the program.
var codes = []int{0, 1, 2, 3, 4, 130}

// A running child is one that was started.
type running struct {
	child
	cmd      *exec.Cmd
	out, err *tail
	began    time.Time
	over     *outcome // once it was waited for
}

// An outcome is what is seen of a child that has ended.
type outcome struct {
	command  string
	code     int // -1: ended by a signal
	ended    error
	timedOut bool
	wall     time.Duration
	cpu      time.Duration
	rss      int64 // bytes at the peak
	out, err string
}

// start starts a child. A shell sets its limits and becomes the program, so that signals
// and the use of resources are the program's.
func (p *place) start(t testing.TB, c child) *running {
	t.Helper()
	limits := append(c.ulimit, fmt.Sprintf("-d %d", ceiling>>10))
	script := "ulimit " + strings.Join(limits, " && ulimit ") + " && " + c.before + ` exec "$@"`
	if c.after != "" {
		script = strings.Replace(script, "exec ", "", 1) + "; code=$?; " + c.after + "; exit $code"
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", script, "sh", pitot}, c.args...)...)
	r := &running{child: c, cmd: cmd, out: &tail{}, err: &tail{}, began: time.Now()}
	cmd.Dir, cmd.Env, cmd.SysProcAttr = p.dir, p.environment(), c.attr
	cmd.Stdout, cmd.Stderr = r.out, r.err
	cmd.WaitDelay = time.Second
	// The peak memory of a child begins at that of its parent, which this sets to what it has now.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// patience is by how much limits of time are longer in the short form, which runs beside
// other tests on machines that do other things. What never ends is found all the same.
func patience() time.Duration { return either[time.Duration](12, 1) }

// wait returns the outcome of a child, which is killed if it takes too long.
func (r *running) wait() outcome {
	if r.over != nil {
		return *r.over
	}
	limit := r.wall
	if limit == 0 {
		limit = 20 * time.Second
	}
	killed := make(chan bool, 1)
	timer := time.AfterFunc(limit*patience(), func() { killed <- true; _ = r.cmd.Process.Kill() })
	err := r.cmd.Wait()
	timer.Stop()
	o := outcome{command: "pitot " + strings.Join(r.args, " "), ended: err, wall: time.Since(r.began), timedOut: len(killed) > 0}
	state := r.cmd.ProcessState
	o.code, o.cpu = state.ExitCode(), state.UserTime()+state.SystemTime()
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		o.rss = usage.Maxrss << 10
	}
	o.out, o.err = r.out.String(), r.err.String()
	r.over = &o
	return o
}

// run starts a child and waits for it.
func (p *place) run(t testing.TB, args ...string) outcome {
	t.Helper()
	return p.start(t, child{args: args}).wait()
}

// A tail keeps the beginning of what is written into it, as much as a test looks at.
type tail struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *tail) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if room := 4<<20 - b.b.Len(); room > 0 {
		b.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (b *tail) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// clean is the peak memory of a run against a server that means well.
var clean = sync.OnceValues(func() (int64, error) {
	dir, err := os.MkdirTemp("", "pitot-clean-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cmd := exec.Command(pitot, "bench", "-q", "--store", filepath.Join(dir, "runs.db"), "-n", "40", "-c", "8", "--output-len", "8", "--engine-ttft", "1ms", "--engine-itl", "1ms")
	cmd.Env = []string{"HOME=" + dir, "TMPDIR=" + dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("clean run: %w\n%s", err, out)
	}
	return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10, nil
})

// faults are the promises that a child broke.
func (o outcome) faults(wants []int) (faults []string) {
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if wants == nil {
		wants = codes
	}
	switch {
	case o.timedOut:
		add("still running after %.1f s", o.wall.Seconds())
	case !slices.Contains(wants, o.code):
		add("ended with %v, not with one of %v", o.ended, wants)
	}
	for _, trace := range []string{"goroutine ", "panic: ", "fatal error: ", "runtime error: "} {
		if strings.Contains(o.err, trace) && strings.Contains(o.err, ".go:") {
			add("a Go trace: %s", line(o.err, trace))
			break
		}
	}
	if base, err := clean(); err != nil {
		add("%v", err)
	} else if o.rss > base+margin {
		add("peak memory %d MB, %d MB above a clean run", o.rss>>20, (o.rss-base)>>20)
	}
	for _, stream := range []struct{ name, text string }{{"stdout", o.out}, {"stderr", o.err}} {
		if at := control(stream.text); at != "" {
			add("a raw control byte on %s: %s", stream.name, at)
		}
		if strings.Contains(stream.text, secret) {
			add("the key on %s: %q", stream.name, line(stream.text, secret))
		}
	}
	return faults
}

// line is the line of text that has a word.
func line(text, word string) string {
	for l := range strings.Lines(text) {
		if strings.Contains(l, word) {
			return strings.TrimSpace(l[:min(len(l), 200)])
		}
	}
	return word
}

// control returns the first byte that a terminal could take for a command, quoted with
// what stands around it; empty if there is none.
func control(text string) string {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 || r != '\n' && r != '\t' && unicode.IsControl(r) {
			return strconv.Quote(text[max(0, i-30):min(len(text), i+30)])
		}
		i += n
	}
	return ""
}

// leaks are the files of a place that have the key, but for those that a case wrote
// itself.
func (p *place) leaks(own ...string) (faults []string) {
	_ = filepath.WalkDir(p.dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || slices.Contains(own, file) {
			return nil
		}
		if has(file, secret) {
			name, _ := filepath.Rel(p.dir, file)
			faults = append(faults, "the key in the file "+name)
		}
		return nil
	})
	return faults
}

// has reports whether a file has a word.
func has(file, word string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	buf := make([]byte, 1<<20)
	for have := 0; ; {
		n, err := io.ReadFull(f, buf[have:])
		if bytes.Contains(buf[:have+n], []byte(word)) {
			return true
		}
		if err != nil {
			return false
		}
		have = copy(buf, buf[have+n-len(word):have+n])
	}
}

// check holds the outcome to the promises, and reports it as a finding of the test.
func (o outcome) check(t testing.TB, wants ...int) bool {
	t.Helper()
	return report(t, t.Name(), o, o.faults(wants))
}

// report prints a finding: the case, what was seen, and how to repeat it.
func report(t testing.TB, name string, o outcome, faults []string) bool {
	t.Helper()
	if len(faults) == 0 {
		return true
	}
	stderr := strings.TrimSpace(o.err)
	t.Errorf("FINDING %s\n  seen:   %s\n  by:     %s\n          exit code %d, %.1f s, %.1f s of CPU, %d MB\n  said:   %q\n  repeat: %s",
		name, strings.Join(faults, "\n          "), short(o.command, 600), o.code, o.wall.Seconds(), o.cpu.Seconds(), o.rss>>20, short(stderr, 300), again(name))
	return false
}

func short(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + " ..."
	}
	return s
}

func read(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
