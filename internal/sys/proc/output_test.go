package proc

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// flood prints 32 MB, and does not end by itself: neither when its pipe is closed nor afterwards.
const flood = `trap "" PIPE; echo begun; head -c 32000000 /dev/zero 2>/dev/null; exec sleep 600`

// soon is a context for what must end long before it.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// A process that prints more than its limit is ended, and what it printed until then is an answer.
func TestAnAnswerIsBounded(t *testing.T) {
	for limit, want := range map[int]int{0: answerBytes, 100: 100, 30 << 20: 30 << 20} {
		out, err := Ask(soon(t), Question{Args: []string{"sh", "-c", "(" + flood + ")& wait"}, Limit: limit})
		if len(out) != want || !strings.HasPrefix(out, "begun\n") || !errors.Is(err, floodError(want)) {
			t.Errorf("limit %d: %d bytes, %v", limit, len(out), err)
		}
	}
	if out, err := Ask(soon(t), Question{Args: []string{"printf", "four"}, Limit: 4}); out != "four" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// Of stderr the end is stored, with a limit of its own.
func TestErrorsOfAProcessAreBounded(t *testing.T) {
	args := func(script string) []string { return []string{"sh", "-c", "exec >&2; " + script} }
	_, err := Ask(soon(t), Question{Args: args("head -c 32000000 /dev/zero; echo; echo why; exit 3"), Limit: 1})
	if exitCode(err) != 3 || !strings.HasSuffix(err.Error(), ": why") {
		t.Error(err)
	}
	twice := strings.Replace(flood, "32000000", "99000000", 1)
	if _, err = Ask(soon(t), Question{Args: args(twice)}); !errors.Is(err, floodError(stderrBytes)) {
		t.Error(err)
	}
	s, err := StartStream([]string{"sh", "-c", "exec 3>&1; exec >&2; " + twice}) // its stdout stays open until it is ended
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Line(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if err := s.End(); !errors.Is(err, floodError(stderrBytes)) {
		t.Error(err)
	}
	out := tail{most: 1 << 20}
	for range 1 << 10 {
		if n, err := out.Write(make([]byte, 1<<10)); n != 1<<10 || err != nil {
			t.Fatal(n, err)
		}
	}
	if len(out.text) != tailBytes || cap(out.text) > 16*tailBytes {
		t.Errorf("%d bytes kept, in %d", len(out.text), cap(out.text))
	}
}

// A line without end is passed on in parts, so that the reader can count it.
func TestALineWithoutEnd(t *testing.T) {
	s, err := StartStream([]string{"sh", "-c", `head -c 100000000 /dev/zero; exec sleep 600`})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if line, size, err := s.Line(); len(line) != streamBytes || size < longestLine || size > longestLine+streamBytes ||
			err != nil {
			t.Errorf("%d of %d bytes, %v", len(line), size, err)
		}
	}
	_ = s.End() // it was killed
}

// A background process that begins with a line without end is ended at once.
func TestALineOfAnAsideIsBounded(t *testing.T) {
	a, line, err := StartSidecar([]string{"sh", "-c", "echo ready; exec cat >/dev/null"}, nil, time.Hour)
	if line != "ready" || err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	a.Release()
	<-a.ended
	failed := make(chan error, 1)
	go func() {
		_, _, err := StartSidecar([]string{"sh", "-c", "head -c 32000000 /dev/zero; exec sleep 600"}, nil, time.Hour)
		failed <- err
	}()
	select {
	case err := <-failed:
		if err == nil {
			t.Error("it was ready")
		}
	case <-soon(t).Done():
		t.Error("it is waited for")
	}
}

// exitCode is the exit code in an error of Ask, -1 without one.
func exitCode(err error) int {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}
