package proc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// A Sidecar is a background process that gets only idle processor time (nice 19, where there is a
// program nice), and no signals from the terminal.
// It reads from a pipe that this process holds open: its end of file says that this process has
// ended, however it did.
type Sidecar struct {
	stdin io.Closer
	ended chan struct{} // closed when the process has ended
}

// StartSidecar starts a process, and waits for the first line that it prints. Later output is discarded. A process
// that prints none within a time, or a longer one than 64 KiB, is ended.
func StartSidecar(args, env []string, wait time.Duration) (_ *Sidecar, line string, err error) {
	if nice, err := exec.LookPath("nice"); err == nil {
		args = append([]string{nice, "-n", "19"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(cmd.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	held, err := cmd.StdinPipe()
	if err != nil {
		return nil, "", err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, "", errors.Join(err, held.Close())
	}
	a := &Sidecar{stdin: held, ended: make(chan struct{})}
	kill := time.AfterFunc(wait, func() { _ = cmd.Process.Kill() })
	text, err := bufio.NewReaderSize(out, streamBytes).ReadSlice('\n')
	if kill.Stop(); err != nil {
		_ = cmd.Process.Kill()
	}
	go func() { // it may outlive its caller
		_ = cmd.Wait()
		close(a.ended)
	}()
	if err != nil {
		_ = held.Close()
		<-a.ended
		return nil, "", fmt.Errorf("it ended before it was ready: %s", cmd.ProcessState)
	}
	return a, strings.TrimSpace(string(text)), nil
}

// Release lets the process know that this one does not need it any more.
func (a *Sidecar) Release() { _ = a.stdin.Close() }
