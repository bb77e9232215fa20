package proc

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A held process says lines, ends with its input, and is killed if it does not.
func TestHeld(t *testing.T) {
	dir := t.TempDir()
	var said []string // read once the process has ended
	var up chan struct{}
	start := func(script string) *Supervised {
		up = make(chan struct{}, 9)
		h, err := StartSupervised(SupervisedCommand{
			Args: []string{"sh", "-c", script}, Env: []string{"WORD=two"}, Log: filepath.Join(dir, "log"),
			OnLine: func(line string) { said = append(said, line); up <- struct{}{} },
		})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := start(`echo one; echo $WORD >&2; printf three; cat; exit 3`)
	<-up
	h.End(time.Minute)
	if got := h.State().String(); got != "exit code 3" || !slices.Equal(said, []string{"one", "two", "three"}) {
		t.Errorf("it ended with %s and said %q", got, said)
	}
	h = start(`trap "" TERM; echo up; while :; do sleep 60; done`)
	<-up
	h.End(0)
	if got := h.State().String(); got != "SIGKILL" {
		t.Errorf("one that ignores its input ended with %s", got)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "log")); err != nil || string(b) != "one\ntwo\nthreeup\n" {
		t.Errorf("log %q, %v", b, err)
	}
}
