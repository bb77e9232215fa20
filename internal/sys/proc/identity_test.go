package proc

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A process that has ended is known by its number, its start and its namespace; of another machine, or another
// namespace, nothing is known.
func TestHasEnded(t *testing.T) {
	own := Identity()
	if own == "" {
		t.Skip("the system does not say when a process was started")
	}
	gone := exec.Command(os.Args[0], "-test.run", "^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	with := func(pid int, began string) string { return fmt.Sprintf("%s %d %s", namespace(), pid, began) }
	began := strings.Fields(own)[2]
	for identity, want := range map[string]bool{
		own:                                   false,
		with(gone.Process.Pid, began):         true,
		with(os.Getpid(), began+"1"):          true,
		with(gone.Process.Pid, "other/1"):     false,
		"x" + with(gone.Process.Pid, began):   false,
		"":                                    false,
		with(0, began):                        false,
		"1":                                   false,
		with(gone.Process.Pid, bootID()+"x/"): false,
	} {
		if got := HasEnded(identity); got != want {
			t.Errorf("%q: %v", identity, got)
		}
	}
}
