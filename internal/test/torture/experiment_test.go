package torture

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/test/program"
)

// A lab is a place with an experiment x, whose servers do in turn what a list says.
type lab struct {
	*place
	t    *testing.T
	port string
	list string // of what servers are to do
}

// serverScript is the command of its servers: each start takes a line off the list of what to do.
const serverScript = `
      m=$(head -n 1 modes); tail -n +2 modes >rest; mv rest modes
      serve="PITOT serve --addr 127.0.0.1:PORT --itl 1ms --ttft"
      case "$m" in
      loads*) echo "$m"; exec sleep 1000;;
      slow) exec $serve 1h;;
      runs) exec $serve 500ms;;
      dies) exec >&2; echo out of memory; exit 3;;
      crashes) $serve 1h & sleep 0.2; echo out of memory; kill -9 $!; exit 4;;
      floods) head -c 100000000 /dev/zero; exit 3;;
      detaches) setsid $serve 5ms & exit 0;;
      stays) trap 'echo stopping' TERM; $serve 5ms & while :; do sleep 1000 & wait $!; done;;
      leaves) sleep 1000 & setsid sleep 1000 & trap '' TERM; sleep 1000 & trap - TERM; exec $serve 5ms;;
      *) exec $serve 5ms;;
      esac`

func newLab(t *testing.T, settings string, modes ...string) *lab {
	t.Helper()
	port, err := program.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	b := &lab{place: newPlace(t), t: t, port: port}
	command := strings.NewReplacer("PITOT", pitot, "PORT", port).Replace(serverScript)
	b.write(t, "x.yaml", fmt.Sprintf(`name: x
server:
  url: http://127.0.0.1:%s
  command: |%s
%svariants: [{name: a}, {name: b}]
workloads: [bench --model pitot --tokenizer none --warmup 1 --ready-timeout 0 -n 10 -c 2 --input-len 4 --output-len 1]
design: {blocks: 1, seed: 3}
warm_up: own
`, port, command, settings))
	b.will(modes...)
	t.Cleanup(func() {
		for _, pid := range b.servers() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return b
}

// will says what the next servers do.
func (l *lab) will(modes ...string) {
	l.list = strings.Join(append(modes, ""), "\n")
	l.write(l.t, "modes", l.list)
}

// settle waits until a server that was left by a kill knows what it is to do: it would take what the next is to do.
func (l *lab) settle() {
	for end := time.Now().Add(20 * time.Second * patience()); l.list != "" && len(l.servers()) > 0; time.Sleep(5 * time.Millisecond) {
		if b, err := os.ReadFile(l.path("modes")); err == nil && string(b) != l.list || time.Now().After(end) {
			return
		}
	}
}

// servers are the processes that have the mark of a server of this place.
func (l *lab) servers() (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		env, _ := os.ReadFile(dir + "/environ")
		at, _ := os.Readlink(dir + "/cwd")
		var pid int
		if _, err := fmt.Sscanf(dir, "/proc/%d", &pid); err == nil && at == l.dir && strings.Contains("\x00"+string(env), "\x00PITOT_SERVER=") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// left are the faults of what should have nothing running any more.
func (l *lab) left() (faults []string) {
	if pids := l.servers(); len(pids) > 0 {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pids[0]))
		faults = append(faults, fmt.Sprintf("%d processes of servers are left, one of them %q", len(pids), cmdline))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+l.port)
	if err != nil {
		return append(faults, "the port is not free: "+err.Error())
	}
	_ = listener.Close() // it was free
	return faults
}

// longLogs are the faults of logs of servers that are not short.
func (l *lab) longLogs() (faults []string) {
	logs, _ := filepath.Glob(l.path("x/logs/*"))
	for _, name := range logs {
		if info, err := os.Stat(name); err != nil || info.Size() > 64<<20 {
			faults = append(faults, fmt.Sprintf("%s: %v, %v", name, info, err))
		}
	}
	return faults
}

// journal is what `pitot experiment status` tells.
type journal struct {
	Status string
	Legs   []struct {
		Slot   int
		Status string
		Why    struct{ Code string }
		Handle json.RawMessage
	}
}

func (l *lab) journal() (j journal) {
	o := l.run(l.t, "experiment", "status", "x", "--json")
	var all []journal
	if err := json.Unmarshal([]byte(o.out), &all); err != nil || len(all) != 1 {
		l.t.Fatalf("status: %v: %s%s", err, o.out, o.err)
	}
	return all[0]
}

// unfinished are the faults of a journal whose legs are not all made. A leg that the machine was
// too busy for may be lost.
func (j journal) unfinished() (faults []string) {
	done, starved := map[int]bool{}, false
	for _, l := range j.Legs {
		done[l.Slot] = done[l.Slot] || l.Status == "done"
		starved = starved || l.Why.Code == "experiment.leg-invalid"
	}
	for slot := 1; slot <= 4; slot++ {
		if !done[slot] && !starved {
			faults = append(faults, fmt.Sprintf("no leg %d: %+v", slot, j))
		}
	}
	if j.Status != "done" && !starved {
		faults = append(faults, "the experiment is "+j.Status)
	}
	return faults
}

// await polls until something is so, or the child has ended.
func (l *lab) await(r *running, what string, so func() bool) {
	l.t.Helper()
	for end := time.Now().Add(20 * time.Second * patience()); !so(); {
		ended := r.ended()
		if ended {
			r.wait() // for all that it has said
		}
		if ended && !so() || time.Now().After(end) {
			_ = r.cmd.Process.Kill() // it may have ended
			l.t.Fatalf("%s has not come, ended: %v: %s", what, ended, r.err)
		}
		time.Sleep(5 * time.Millisecond) // what is looked at tells nobody when it changes
	}
}

// A moment is a phase of an experiment at which something is done to it.
type moment struct {
	name   string
	modes  []string
	serves bool // a server is there for sure
	come   func(l *lab, r *running) bool
}

func moments() []moment {
	printed := func(text string) func(*lab, *running) bool {
		return func(_ *lab, r *running) bool { return strings.Contains(r.err.String(), text) }
	}
	logged := func(text string) func(*lab, *running) bool {
		return func(l *lab, _ *running) bool {
			logs, _ := filepath.Glob(l.path("x/logs/*"))
			return slices.ContainsFunc(logs, func(file string) bool { return has(file, text) })
		}
	}
	stored := func(query string) func(*lab, *running) bool {
		return func(l *lab, r *running) bool { return rows(l.t, l.store, query) > 0 || r.ended() }
	}
	return []moment{
		{"a server is started", []string{"loads"}, false, printed("leg 1 of 4")},
		{"a server loads", []string{"loads for long"}, true, logged("loads for long")},
		{"the warm-up", []string{"slow"}, true, printed("server ready")},
		{"a run", []string{"runs"}, true, stored("SELECT count(*) FROM run WHERE status = 'running'")},
		{"a server is stopped", []string{"stays"}, true, logged("stopping")},
		{"between two legs", nil, false, printed("leg 3 of 4")},
		{"the judgement", nil, false, stored(`SELECT count(*) = 4 FROM experiment, json_each(body, '$.legs') l WHERE l.value ->> '$.status' = 'done'`)},
	}
}

// ended reports whether a process has ended, also when the test has not waited for it yet.
func (r *running) ended() bool {
	if r.over != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.cmd.Process.Pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// An experiment is killed at every moment, one after the other, alone or with its servers, and
// is finished in the end. What is left of it is found, told, and ended when that is asked for.
func TestExperimentKilled(t *testing.T) {
	t.Parallel()
	random := random(t.Name())
	for _, who := range either([]string{"either"}, []string{"pitot", "both"}) {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "  stop_timeout: 1500ms\n") // the kill comes before it is over
			args := []string{"experiment", "run", "x.yaml"}
			for _, at := range moments() {
				l.will(at.modes...)
				r := l.goOn(args)
				l.await(r, at.name, func() bool { return at.come(l, r) })
				_ = r.cmd.Process.Kill() // it may have ended
				o := r.wait()
				l.settle()
				both := who == "both" || who == "either" && random.IntN(2) == 0
				if both {
					l.kill()
				}
				faults := intact(t, l.store)
				j := l.journal()
				for _, leg := range j.Legs {
					if leg.Status == "running" {
						faults = append(faults, "a leg is said to be running")
					}
				}
				if j.Status == "running" {
					faults = append(faults, "the experiment is said to be running")
				}
				if at.serves && !both {
					faults = append(faults, l.refused()...)
				}
				report(t, t.Name()+" at "+at.name, o, faults)
				if args = []string{"experiment", "resume", "x"}; j.Status == "done" {
					return
				}
			}
			o := l.goOn(args).wait()
			report(t, t.Name(), o, append(append(o.faults([]int{0, 1}), l.journal().unfinished()...), l.left()...))
		})
	}
}

// goOn starts a command of the experiment, with --yes if it finds that something is left.
func (l *lab) goOn(args []string) *running {
	r := l.start(l.t, child{args: args, wall: time.Minute})
	l.await(r, "the first leg", func() bool { return strings.Contains(r.err.String(), "leg ") || r.ended() })
	if r.ended() && strings.Contains(r.wait().err, "--yes ends it") {
		r = l.start(l.t, child{args: append(slices.Clone(args), "--yes"), wall: time.Minute})
	}
	return r
}

// refused are the faults of commands that find a server.
func (l *lab) refused() (faults []string) {
	for _, line := range []string{"experiment resume x", "ab --name y --before profile:small-chat --same -- sim -n 2"} {
		o := l.run(l.t, strings.Fields(line)...)
		if want := "experiment x has left a server running"; o.code != 1 || strings.Count(o.err, "\n") != 1 || !strings.Contains(o.err, want) {
			faults = append(faults, fmt.Sprintf("%s: exit code %d: %q, want one line with %q", line, o.code, o.err, want))
		}
		faults = append(faults, o.faults(nil)...)
	}
	if o := l.run(l.t, "experiment", "status", "x"); !strings.Contains(o.out, "pitot experiment resume x --yes") {
		faults = append(faults, "status does not tell of the server: "+o.out)
	}
	return faults
}

// kill kills all servers.
func (l *lab) kill() {
	for pids := l.servers(); len(pids) > 0; pids = l.servers() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

// A signal ends an experiment at every moment, with its servers; it is finished in the end.
func TestExperimentSignalled(t *testing.T) {
	t.Parallel()
	if signal.Ignored(syscall.SIGHUP) || signal.Ignored(syscall.SIGINT) {
		t.Skip("a signal is ignored here, as under nohup, and so by every child")
	}
	ways := map[string][]syscall.Signal{"int": {syscall.SIGINT}, "term": {syscall.SIGTERM}, "hup": {syscall.SIGHUP}, "twice": {syscall.SIGINT, syscall.SIGTERM}}
	names := []string{"int", "term", "hup", "twice"}
	random := random(t.Name())
	odd := random.IntN(2) // of the moments, in the short form
	for _, way := range either([]string{"any"}, names) {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "  stop_timeout: 100ms\n")
			args := []string{"experiment", "run", "x.yaml"}
			for i, at := range moments() {
				if !*long && i%2 == odd {
					continue
				}
				l.will(at.modes...)
				r := l.goOn(args)
				l.await(r, at.name, func() bool { return at.come(l, r) })
				own := way
				if way == "any" {
					own = names[random.IntN(len(names))]
				}
				for _, s := range ways[own] {
					_ = r.cmd.Process.Signal(s) // it may have ended
				}
				o := r.wait()
				wants := []int{130}
				if at.name == "the judgement" {
					wants = []int{0, 130}
				}
				report(t, t.Name()+" with "+own+" at "+at.name, o, append(append(o.faults(wants), intact(t, l.store)...), l.left()...))
				if args = []string{"experiment", "resume", "x"}; o.code == 0 {
					return
				}
				if j := l.journal(); j.Status != "interrupted" {
					t.Errorf("after %s at %s it is %+v", own, at.name, j)
				}
			}
			o := l.goOn(args).wait()
			report(t, t.Name(), o, append(append(o.faults([]int{0, 1}), l.journal().unfinished()...), l.left()...))
		})
	}
}

// The secrets of an experiment are in none of its files and lines. After a kill it asks for
// them, in one line, and goes on when they are back.
func TestExperimentSecret(t *testing.T) {
	t.Parallel()
	l := newLab(t, "  env: {HF_TOKEN: "+secret+"}\n", "slow")
	r := l.goOn([]string{"experiment", "run", "x.yaml"})
	l.await(r, "a server", func() bool { return strings.Contains(r.err.String(), "server ready") })
	_ = r.cmd.Process.Kill() // and its server, which has the token
	l.kill()
	o := r.wait()
	faults := l.leaks(l.path("x.yaml"))
	resume := []string{"experiment", "resume", "x"}
	file := l.path("x/experiment.yaml")
	refused := l.run(t, resume...)
	if want := "put them into " + file; refused.code != 2 || strings.Count(refused.err, "\n") != 1 || !strings.Contains(refused.err, want) {
		faults = append(faults, fmt.Sprintf("exit code %d: %q, want one line with %q", refused.code, refused.err, want))
	}
	l.write(t, "x/experiment.yaml", strings.Replace(read(t, file), "'***'", secret, 1))
	again := l.goOn(resume).wait()
	faults = append(append(append(faults, again.faults([]int{0, 1})...), l.journal().unfinished()...), l.left()...)
	faults = append(faults, l.leaks(l.path("x.yaml"), file)...)
	report(t, t.Name(), o, faults)
}

// Servers that are no good end their legs with one line that says why, and leave nothing.
func TestBadServers(t *testing.T) {
	t.Parallel()
	const four = 4 // two attempts at two legs, and that is enough
	for mode, want := range map[string]struct {
		code  int
		lines int // that say so
		text  string
	}{
		"dies":     {4, four, "exit code 3; the end of its log: out of memory"},
		"floods":   {4, four, "exit code 3"},
		"crashes":  {4, four, " with exit code 4"},
		"loads":    {4, four, "the server was not ready within 300ms: http://127.0.0.1:"},
		"detaches": {4, four, "left one process behind: its command must stay in the foreground"},
		"taken":    {4, four, " is taken: something answers at http://127.0.0.1:"},
		"stays":    {0, four, "has not ended within 100ms after SIGTERM; killing all of its processes"},
		"leaves":   {0, four, "has not ended within 100ms after SIGTERM; killing all of its processes"},
	} {
		if mode == "stays" && !*long {
			continue // one of those that "leaves" starts does the same
		}
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			settings := "  stop_timeout: 100ms\n"
			if mode == "loads" {
				settings += "  ready_timeout: 300ms\n"
			}
			l := newLab(t, settings, slices.Repeat([]string{mode}, 9)...)
			if mode == "taken" {
				listener, err := net.Listen("tcp", "127.0.0.1:"+l.port)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = listener.Close() }()
			}
			o := l.start(t, child{args: []string{"experiment", "run", "x.yaml"}}).wait()
			lines := 0
			for said := range strings.Lines(o.err) {
				if strings.Contains(said, want.text) && !strings.HasPrefix(said, "pitot: ") {
					lines++
				}
			}
			faults := o.faults([]int{want.code})
			if j := l.journal(); want.code == 0 {
				faults = append(faults, j.unfinished()...)
			} else if j.Status != "failed" {
				faults = append(faults, "the experiment is "+j.Status)
			}
			if lines < want.lines {
				faults = append(faults, fmt.Sprintf("%d lines with %q", lines, want.text))
			}
			if mode != "taken" {
				faults = append(faults, l.left()...)
			}
			faults = append(faults, l.longLogs()...)
			report(t, t.Name(), o, faults)
		})
	}
}

// An experiment whose disk has no room for another leg starts no server, and is finished where there
// is room.
func TestExperimentDiskFull(t *testing.T) {
	t.Parallel()
	l := newLab(t, "", "answers")
	c := child{
		args: []string{"experiment", "run", "x.yaml"}, attr: namespace(syscall.CLONE_NEWNS),
		before: "mkdir x && mount -t tmpfs -o size=32m none x 2>/dev/null || exit 99;",
	}
	o := l.start(t, c).wait()
	if o.code == 99 {
		t.Skip("nothing can be mounted here")
	}
	faults := o.faults([]int{1})
	if !strings.Contains(o.err, "MiB free, and a leg may need 128 MiB: make room there") || !strings.Contains(o.err, "pitot experiment resume x") {
		faults = append(faults, "it does not say that there is no room")
	}
	if j := l.journal(); j.Status != "failed" || len(j.Legs) > 0 || read(t, l.path("modes")) != "answers\n" {
		faults = append(faults, fmt.Sprintf("it has begun: %+v", j))
	}
	again := l.start(t, child{args: []string{"experiment", "resume", "x"}, wall: time.Minute}).wait()
	faults = append(append(append(faults, again.faults([]int{0, 1})...), l.journal().unfinished()...), l.left()...)
	report(t, t.Name(), o, faults)
}
