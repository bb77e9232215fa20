package store

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// asVictim is the variable with the store of a process that samples until it is killed.
const asVictim = "PITOT_TEST_VICTIM"

// perFlush is how many records it writes at once: the blocks of ten flushes are joined.
const perFlush = 100

func TestMain(m *testing.M) {
	if file := os.Getenv(asVictim); file != "" {
		fmt.Fprintln(os.Stderr, sampleForever(file))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// sampleForever writes a run with a sample and some records after the other, and says how many samples are
// committed.
func sampleForever(file string) error {
	s, err := Open(file)
	if err != nil {
		return err
	}
	w, err := s.Create(newRun("run-1", "", 1000), Owner{})
	if err != nil {
		return err
	}
	w.end()
	w.done.Wait()
	w.running = true
	for n := 0; ; n++ {
		w.Sample(reads(n))
		for i := range perFlush {
			w.Append(sample(n*perFlush + i))
		}
		if err := w.flush(brief, true); err != nil {
			return err
		}
		fmt.Println(n + 1)
	}
}

// A process that is killed while it writes leaves all samples and records that it had committed, and no damage.
func TestAProcessIsKilledWhileItSamples(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), asVictim+"="+file)
	out, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	committed := 0
	for lines := bufio.NewScanner(out); committed < 40 && lines.Scan(); {
		if _, err := fmt.Sscan(lines.Text(), &committed); err != nil {
			t.Error(err)
		}
	}
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait() // it was killed
	s := openFile(t, file)
	if l, err := s.Find("run-1"); err != nil || l.Status != Killed {
		t.Errorf("%v: at once it is %s", err, l.Status)
	}
	if h, err := s.Check(nil); err != nil || h.Err() != nil {
		t.Fatalf("%v: %v", err, h)
	}
	got, err := s.Load("run-1")
	if err != nil {
		t.Fatal(err)
	}
	n := got.Telemetry.Sources[0].Reads + 1
	if n < committed || committed < 40 || got.Run.Status == trace.Complete {
		t.Errorf("%d samples of %d that were committed", n, committed)
	}
	if len(got.Records) < perFlush*committed || len(got.Records)%perFlush != 0 {
		t.Errorf("%d records of %d that were committed", len(got.Records), perFlush*committed)
	}
	for i, r := range got.Records {
		if r.Index != i {
			t.Fatalf("record %d stands where %d should", r.Index, i)
		}
	}
	if d := cmp.Diff(read(n), got.Telemetry, asSampled); d != "" {
		t.Error(d)
	}
}
