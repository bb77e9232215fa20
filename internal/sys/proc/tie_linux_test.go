package proc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A process that is tied to one that is killed is killed with it.
func TestTied(t *testing.T) {
	const folder = "PROC_TEST_TIED"
	if dir := os.Getenv(folder); dir != "" {
		script := fmt.Sprintf("exec 9>%[1]q/held; echo up >%[1]q/up; exec sleep 3600", dir)
		t.Fatal(Ask(t.Context(), Question{Args: []string{"sh", "-c", script}, Tied: true}))
	}
	dir := t.TempDir()
	for _, name := range []string{"held", "up"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if f, err := os.Open(filepath.Join(dir, "held")); err == nil {
			_, _ = io.Copy(io.Discard, f)
			f.Close()
		}
	}()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestTied$") // this test
	cmd.Env = append(os.Environ(), folder+"="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "up")); err != nil || string(text) != "up\n" {
		t.Errorf("%q, %v", text, err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	select {
	case <-gone:
	case <-time.After(20 * time.Second):
		t.Error("it was left behind")
	}
}
