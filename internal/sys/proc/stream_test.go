package proc

import (
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// A process that prints lines, one beyond the limit, and says why it ends.
func TestAStreamIsTalkedWith(t *testing.T) {
	s, err := StartStream([]string{
		"sh", "-c",
		`head -c 200000 /dev/zero | tr '\0' x; echo; while read -r line; do echo "got $line"; done; printf last; ` +
			`echo why >&2; exit 3`,
	})
	if err != nil {
		t.Fatal(err)
	}
	if line, size, err := s.Line(); err != nil || size != 200001 || string(line) != strings.Repeat("x", streamBytes) {
		t.Errorf("%d of %d bytes, %v", len(line), size, err)
	}
	for _, text := range []string{"one", "two"} {
		if err := s.Send(text); err != nil {
			t.Fatal(err)
		}
		if line, size, err := s.Line(); err != nil || string(line) != "got "+text || size != len(line)+1 {
			t.Errorf("%q, %d, %v", line, size, err)
		}
	}
	if err := s.in.Close(); err != nil {
		t.Fatal(err)
	}
	if line, _, err := s.Line(); err != nil || string(line) != "last" {
		t.Errorf("%q, %v", line, err)
	}
	if _, _, err := s.Line(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if err := s.End(); exitCode(err) != 3 || !strings.HasSuffix(err.Error(), ": why") {
		t.Error(err)
	}
}

// One that reads no input and ignores a SIGTERM is killed, with what it has started.
func TestAStreamIsEnded(t *testing.T) {
	s, err := StartStream([]string{"sh", "-c", `trap "" TERM; echo up; sleep 600 & wait; sleep 600`})
	if err != nil {
		t.Fatal(err)
	}
	if line, _, err := s.Line(); err != nil || string(line) != "up" {
		t.Errorf("%q, %v", line, err)
	}
	exit := (*exec.ExitError)(nil)
	if err := s.End(); !errors.As(err, &exit) || !strings.Contains(err.Error(), "killed") {
		t.Error(err)
	}
	if _, err := StartStream([]string{"no-such-program"}); !errors.Is(err, exec.ErrNotFound) {
		t.Error(err)
	}
}
