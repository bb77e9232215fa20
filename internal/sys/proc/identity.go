package proc

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
)

// Identity names this process, for HasEnded; empty where the system does not say when it was started.
var Identity = sync.OnceValue(func() string {
	p, ok := lookUp(os.Getpid())
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s %d %s", namespace(), p.pid, p.began)
})

// namespace is the one of process numbers that this process is in: a container may have its own.
func namespace() string {
	name, _ := os.Readlink("/proc/self/ns/pid")
	return strings.ReplaceAll(name, " ", "") + "."
}

// HasEnded reports whether the process with an Identity is known to have ended: one of this machine, since its last
// start, and of this namespace. Its number may belong to another process by now.
func HasEnded(identity string) bool {
	var space, began string
	var pid int
	_, err := fmt.Sscan(identity, &space, &pid, &began)
	if err != nil || pid <= 0 || space != namespace() || bootID() == "" || !strings.HasPrefix(began, bootID()+"/") {
		return false
	}
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	p, ok := lookUp(pid)
	return ok && p.began != began
}
