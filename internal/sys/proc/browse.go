package proc

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
)

// Browse opens an address in the user's browser, and does not wait for it.
func Browse(url string) error {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	cmd := exec.Command(opener, url)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot start a browser: %w", err)
	}
	go func() { _ = cmd.Wait() }() // it may live as long as the browser
	return nil
}
