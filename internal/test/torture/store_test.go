package torture

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// at is a server that means well, and at the n-th measured request first does something.
func at(t testing.TB, nth int, do func()) *stage {
	t.Helper()
	g := play(t, phase{nth: nth})
	g.live.Go(func() {
		<-g.reached
		do()
		close(g.release)
	})
	return g
}

// nothingLost are the faults of a run whose records are neither in the store nor in a file
// that the message names and that import takes back whole.
func (p *place) nothingLost(t testing.TB, o outcome, n int) (faults []string) {
	t.Helper()
	if _, err := os.Stat(p.store); err == nil && records(t, p.store) >= n {
		return intact(t, p.store)
	}
	rescued := p.rescued(o)
	if len(rescued) == 0 {
		return []string{fmt.Sprintf("%d of %d records are in the store, and no file is named that has the rest", records(t, p.store), n)}
	}
	fresh := *p
	fresh.store = p.path("fresh.db")
	back := fresh.run(t, append([]string{"import"}, rescued...)...)
	for _, fault := range back.faults([]int{0}) {
		faults = append(faults, "import of what was rescued: "+fault+": "+short(back.err, 200))
	}
	if got := records(t, fresh.store); got != n {
		faults = append(faults, fmt.Sprintf("%d of %d records came back from %s", got, n, rescued))
	}
	return faults
}

// rescued are the files that a command names and that are not its store.
func (p *place) rescued(o outcome) (files []string) {
	for _, word := range strings.Fields(o.err + " " + o.out) {
		word = strings.Trim(word, `.,;:"'()`)
		if info, err := os.Stat(word); filepath.IsAbs(word) && err == nil && info.Mode().IsRegular() && word != p.store && !slices.Contains(files, word) {
			files = append(files, word)
		}
	}
	return files
}

// What happens to the file of a store during a run loses no record.
func TestStoreDuringARun(t *testing.T) {
	t.Parallel()
	const n = 200
	remove := func(p *place, ends ...string) {
		for _, end := range ends {
			_ = os.Remove(p.store + end)
		}
	}
	for _, tt := range []struct {
		name string
		do   func(p *place)
	}{
		{"removed", func(p *place) { remove(p, "") }},
		{"removed-with-its-log", func(p *place) { remove(p, "", "-wal", "-shm") }},
		{"log-removed", func(p *place) { remove(p, "-wal", "-shm") }},
		{"folder-removed", func(p *place) { _ = os.RemoveAll(filepath.Dir(p.store)) }},
		{"moved", func(p *place) { _ = os.Rename(p.store, p.store+".old") }},
		{"replaced", func(p *place) {
			_ = os.WriteFile(p.path("other"), []byte(noise(8192)), 0o600)
			_ = os.Rename(p.path("other"), p.store)
		}},
		{"emptied", func(p *place) { _ = os.Truncate(p.store, 0) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			g := at(t, n/2, func() { tt.do(p) })
			o := p.start(t, child{args: g.bench(n)}).wait()
			report(t, t.Name(), o, append(o.faults(nil), p.nothingLost(t, o, n)...))
		})
	}
}

// Another process that has the store locked loses no record: neither for a while, nor
// until the run is over.
func TestStoreLocked(t *testing.T) {
	t.Parallel()
	const n = 200
	for _, forever := range []bool{false, true} {
		t.Run(fmt.Sprintf("forever=%t", forever), func(t *testing.T) {
			t.Parallel()
			if forever {
				onlyLong(t)
			}
			p := newPlace(t)
			if o := p.run(t, "sim", "-q", "-n", "2"); !o.check(t, 0, 3) { // the store is there
				return
			}
			var unlock func()
			g := at(t, n/4, func() { unlock = lock(t, p.store) })
			if !forever {
				inner := g.answer
				g.answer = func(r request) reply {
					if r.index == n-10 {
						unlock()
					}
					return inner(r)
				}
			}
			o := p.start(t, child{args: g.bench(n), wall: 90e9}).wait()
			if forever {
				unlock()
			}
			stored := 2 // by the simulation before it
			if forever {
				stored = 0 // the file has the rest
			}
			report(t, t.Name(), o, append(o.faults(nil), p.nothingLost(t, o, n+stored)...))
		})
	}
}

// lock locks a store for writers, as another process.
func lock(t testing.TB, store string) (unlock func()) {
	db, err := sql.Open("sqlite", "file:"+store+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Error(err)
		return func() {}
	}
	conn, err := db.Conn(context.Background())
	if err == nil {
		_, err = conn.ExecContext(context.Background(), "BEGIN IMMEDIATE")
	}
	if err != nil {
		t.Error(err)
	}
	return func() { _ = conn.Close(); _ = db.Close() }
}

// A full disk loses no record: there is room in the temporary folder.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	for _, size := range []int{64, 256, 320, 512} {
		t.Run(fmt.Sprintf("%dk", size), func(t *testing.T) {
			t.Parallel()
			const n = 1500
			p := newPlace(t)
			g := play(t, phase{nth: -1})
			disk, backup := filepath.Dir(p.store), p.path("kept")
			c := child{
				args:   append(g.bench(n), "-c", "8"),
				attr:   namespace(syscall.CLONE_NEWNS),
				before: fmt.Sprintf("mount -t tmpfs -o size=%dk none '%s' 2>/dev/null || exit 99;", size, disk),
				after:  fmt.Sprintf("cp -r '%s' '%s'", disk, backup),
				wall:   60e9,
			}
			o := p.start(t, c).wait()
			if o.code == 99 {
				t.Skip("nothing can be mounted here")
			}
			p.store = filepath.Join(backup, filepath.Base(p.store))
			faults := o.faults(nil)
			if o.code == 0 || g.measured() { // else it was refused, and nothing can be lost
				faults = append(faults, p.nothingLost(t, o, n)...)
			}
			report(t, t.Name(), o, faults)
		})
	}
}

// namespace gives a child a part of the system for itself, as root of its own.
func namespace(flags uintptr) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  flags | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

// A limit on the size of files is said in words, leaves a store that opens whole, and
// leaves a file that is written over as it was.
func TestFilesTooLarge(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if o := p.run(t, "sim", "-q", "-n", "1000", "--rate", "1000", "--name", "kept"); !o.check(t, 0, 3) {
		return
	}
	t.Run("store", func(t *testing.T) {
		g := play(t, phase{nth: -1})
		o := p.start(t, child{args: g.bench(100), ulimit: []string{"-f 16"}}).wait()
		report(t, t.Name(), o, append(o.faults([]int{1, 2}), intact(t, p.store)...))
	})
	for _, args := range []string{"runs export kept -f json -o FILE", "runs export kept -f jsonl -o FILE", "runs export kept -f csv -o FILE", "runs export kept -f parquet -o FILE"} {
		t.Run(strings.ReplaceAll(args, " ", "_"), func(t *testing.T) {
			file := p.write(t, "was", "what was there\n")
			args := strings.Fields(strings.ReplaceAll(args, "FILE", file))
			o := p.start(t, child{args: args, ulimit: []string{"-f 80"}}).wait()
			faults := o.faults([]int{1, 2})
			if read(t, file) != "what was there\n" {
				faults = append(faults, "the file that was there is lost")
			}
			report(t, t.Name(), o, faults)
		})
	}
}
