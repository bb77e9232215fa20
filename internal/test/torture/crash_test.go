package torture

import (
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// A stage is a server that means well, until a run is in a certain phase. Then it holds
// its answer, and the test does something to the client.
type stage struct {
	*server
	reached chan struct{} // closed when the phase has come
	release chan struct{} // closed by the test: the held answer goes on
	mu      sync.Mutex
	whole   int // answers to measured requests that were given
	at      phase
	seen    map[string]int
}

// A phase is when in a run something happens: at the n-th request for a path, or for a
// measured request.
type phase struct {
	name string
	path string // empty: measured requests; "warm-up": the others of the same route
	nth  int
	held bool // the answer has begun when it is held
}

// phases are those of a run of n requests.
func phases(n, k int) []phase {
	return []phase{
		{"discovery", "/v1/models", 1, false},
		{"warm-up", "warm-up", 1, false},
		{"first", "", 1, false},
		{"first-answer", "", 1, true},
		{"run", "", k, false},
		{"run-answer", "", k, true},
		{"last", "", n, false},
		{"last-answer", "", n, true},
		{"counters", "/metrics", 2, false},
	}
}

// late reports whether nothing is left to send in a phase.
func (p phase) late() bool {
	return slices.Contains([]string{"last", "last-answer", "counters"}, p.name)
}

// flags are what a run needs to come to a phase: its counters are read twice, if nothing else asks
// for them.
func (p phase) flags() []string {
	if p.name == "counters" {
		return []string{"--collect", "none"}
	}
	return nil
}

func play(t testing.TB, at phase) *stage {
	t.Helper()
	g := &stage{reached: make(chan struct{}), release: make(chan struct{}), seen: map[string]int{}, at: at}
	g.server = serve(t, false, g.reply)
	t.Cleanup(func() { // before the server closes, which waits for its answers
		select {
		case <-g.release:
		default:
			close(g.release)
		}
	})
	return g
}

// key is the name of what a request is counted as.
func (r request) key() string {
	switch {
	case r.method != "POST":
		return r.path
	case r.index >= 0:
		return ""
	}
	return "warm-up"
}

func (g *stage) reply(r request) reply {
	g.mu.Lock()
	key := r.key()
	g.seen[key]++
	mine := key == g.at.path && g.seen[key] == g.at.nth
	g.mu.Unlock()
	a := kind(r)
	if r.path == "/metrics" {
		a = reply{kind: "text/plain", body: text("vllm:generation_tokens_total 1\n")}
	}
	switch {
	case mine && g.at.held:
		good := a.body
		a.body = func(w io.Writer) error {
			if err := text("data: " + delta + "\n\n")(w); err != nil {
				return err
			}
			close(g.reached)
			<-g.release
			return good(w)
		}
	case mine:
		close(g.reached)
		<-g.release
	}
	if key == "" {
		g.mu.Lock()
		g.whole++
		g.mu.Unlock()
	}
	return a
}

// sent reports whether the run has sent a request that costs the server anything.
func (g *stage) sent() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen["warm-up"]+g.seen[""] > 0
}

// measured reports whether a request of the run itself has been sent, of which something could be lost.
func (g *stage) measured() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen[""] > 0
}

// wait waits until the phase has come; it is false if the child ended before.
func (g *stage) wait(r *running) bool {
	select {
	case <-g.reached:
		return true
	case <-time.After(20 * time.Second):
		_ = r.cmd.Process.Kill()
		return false
	}
}

// bench is a run of n requests against a stage, one after another.
func (g *stage) bench(n int, more ...string) []string {
	return append([]string{
		"bench", "-q", "--url", g.url, "--model", "m", "--tokenizer", "none", "--warmup", "1", "--ready-timeout", "0", "--name", "staged",
		"-n", fmt.Sprint(n), "-c", "1", "--input-len", "4", "--output-len", "2",
	}, more...)
}

// rows opens a store as SQLite and returns one number from it.
func rows(t testing.TB, store, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+store+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		return 0
	}
	return n
}

// records counts the records of all runs in a store.
func records(t testing.TB, store string) int {
	return rows(t, store, "SELECT coalesce(sum(records), 0) FROM block")
}

// intact are the faults of a store that does not open whole.
func intact(t testing.TB, store string) (faults []string) {
	t.Helper()
	if _, err := os.Stat(store); err != nil {
		return nil // nothing was stored yet
	}
	if n := rows(t, store, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"); n != 1 {
		faults = append(faults, "the store fails PRAGMA integrity_check")
	}
	return faults
}

// A process that is killed leaves a store that opens whole, with every record that was
// committed when the signal came.
func TestCrash(t *testing.T) {
	t.Parallel()
	const n = 200
	random := random(t.Name())
	for round := range either(1, 20) {
		for _, at := range phases(n, 2+random.IntN(n-2)) {
			t.Run(fmt.Sprintf("%s/%d-%d", at.name, round, at.nth), func(t *testing.T) {
				t.Parallel()
				crash(t, at, n)
			})
		}
	}
}

func crash(t *testing.T, at phase, n int) {
	p, g := newPlace(t), play(t, at)
	r := p.start(t, child{args: g.bench(n, at.flags()...)})
	if !g.wait(r) {
		t.Fatalf("the phase has not come: %s", r.err)
	}
	committed := 0
	if stop(t, r) {
		committed = records(t, p.store) // by now; the process is stopped, and cannot add any
	}
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	o := r.wait()
	faults := intact(t, p.store)
	if now := records(t, p.store); now < committed {
		faults = append(faults, fmt.Sprintf("%d records after the crash, %d were committed", now, committed))
	}
	all := []string{"runs show", "runs list", "runs report", "runs export -f jsonl"}
	for _, args := range all[either(1, 0):] {
		if committed == 0 && args != "runs list" {
			continue
		}
		after := p.run(t, strings.Fields(args)...)
		for _, fault := range after.faults([]int{0, 1, 3}) {
			faults = append(faults, args+": "+fault)
		}
	}
	again := p.run(t, "sim", "-q", "-n", "2")
	for _, fault := range again.faults([]int{0, 3}) {
		faults = append(faults, "the next run: "+fault)
	}
	report(t, t.Name(), o, faults)
}

// A process that is killed leaves the samples that were committed, and they are exported.
func TestCrashKeepsSamples(t *testing.T) {
	t.Parallel()
	const every = 100 * time.Millisecond
	p, g := newPlace(t), play(t, phase{"samples", "/metrics", int(4 * time.Second / every), false})
	r := p.start(t, child{args: g.bench(400, "--rate", "20", "--collect-every", every.String())})
	if !g.wait(r) {
		t.Fatalf("the phase has not come: %s", r.err)
	}
	if !stop(t, r) {
		t.Fatal("it has ended")
	}
	const points = "SELECT sum(points) FROM telemetry_block"
	committed := rows(t, p.store, points)
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	o := r.wait()
	faults := intact(t, p.store)
	// A commit every two seconds, of a counter of the server and all of the host.
	if now := rows(t, p.store, points); now < committed || committed < 10 {
		faults = append(faults, fmt.Sprintf("%d samples after the crash, %d were committed", now, committed))
	}
	out := p.run(t, "runs", "export", "--telemetry", "-f", "csv")
	if n := strings.Count(out.out, "\n") - 1; n != committed || !strings.Contains(out.out, ",server,server.output_tokens,") {
		faults = append(faults, fmt.Sprintf("%d samples exported, %d were committed", n, committed))
	}
	report(t, t.Name(), o, append(faults, p.run(t, "runs", "report").faults([]int{0, 1, 3})...))
}

// The folder of a local fleet whose controller was killed is removed by the next command, and one that
// is in use is not.
func TestCrashOfALocalFleet(t *testing.T) {
	t.Parallel()
	p, at := newPlace(t), phase{"run", "", 5, false}
	folders := func() int {
		all, err := filepath.Glob(p.path("tmp/pitot-*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	start := func() *running {
		g := play(t, at)
		r := p.start(t, child{args: g.bench(50, "--fleet", "local"), wall: time.Minute})
		if !g.wait(r) {
			t.Fatalf("the phase has not come: %s", r.err)
		}
		return r
	}
	killed, living := start(), start()
	var faults []string
	if n := folders(); n != 2 {
		faults = append(faults, fmt.Sprintf("%d folders of two fleets", n))
	}
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed.wait()
	o := p.run(t, "runs", "check")
	if !strings.Contains(o.err, ", which a command that was killed has left") || folders() != 1 {
		faults = append(faults, fmt.Sprintf("%d folders of one fleet", folders()))
	}
	if err := living.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	living.wait()
	if again := p.run(t, "sim", "-q", "-n", "2"); !strings.Contains(again.err, ", which a command that was killed has left") || folders() != 0 {
		faults = append(faults, fmt.Sprintf("%d folders of no fleet", folders()))
	}
	report(t, t.Name(), o, append(faults, o.faults([]int{0})...))
}

// stop stops a process, and returns when it stands still.
func stop(t *testing.T, r *running) bool {
	t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	_, err := syscall.Wait4(r.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	return err == nil && status.Stopped()
}

// A signal ends a run in every phase: with its exit code, its records, and its limits.
func TestSignals(t *testing.T) {
	t.Parallel()
	ways := []struct {
		name string
		send []syscall.Signal
	}{
		{"int", []syscall.Signal{syscall.SIGINT}},
		{"term", []syscall.Signal{syscall.SIGTERM}},
		{"twice", []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}},
		{"hup", []syscall.Signal{syscall.SIGHUP}},
	}
	random := random(t.Name())
	for i, name := range phases(1, 1) {
		// What is interrupted on its way has too much to do to be done before the signal.
		n := 30
		if !name.late() {
			n = 2000
		}
		at := phases(n, 2+random.IntN(28))[i]
		for j, way := range ways {
			if !*long && (i+j)%2 == 1 {
				continue
			}
			t.Run(at.name+"/"+way.name, func(t *testing.T) {
				t.Parallel()
				signalled(t, at, n, way.name, way.send)
			})
		}
	}
}

func signalled(t *testing.T, at phase, n int, way string, signals []syscall.Signal) {
	if slices.ContainsFunc(signals, func(s syscall.Signal) bool { return signal.Ignored(s) }) {
		t.Skip("the signal is ignored here, as under nohup, and so by every child")
	}
	p, g := newPlace(t), play(t, at)
	r := p.start(t, child{args: g.bench(n, append(at.flags(), "--timeout", "3s")...), wall: 3*time.Second + 2*time.Second + overrun})
	if !g.wait(r) {
		t.Fatalf("the phase has not come: %s", r.err)
	}
	g.mu.Lock()
	before := g.whole
	g.mu.Unlock()
	if at.path == "" && (!at.held || way == "twice") { // that of the phase is under way
		before = at.nth - 1
	}
	for _, s := range signals {
		if err := r.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	if way != "twice" {
		close(g.release)
	}
	o := r.wait()
	wants := []int{130}
	if at.late() {
		wants = []int{0, 1, 3, 130} // there may be nothing left to interrupt
	}
	faults := append(o.faults(wants), intact(t, p.store)...)
	if at.path == "" {
		if stored := rows(t, p.store, "SELECT sum(records - failed) FROM run"); stored < before {
			faults = append(faults, fmt.Sprintf("%d records, %d answers were complete before the signal", stored, before))
		}
	}
	report(t, t.Name(), o, faults)
}
