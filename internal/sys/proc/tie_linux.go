package proc

import "syscall"

// tie makes a process be killed when the thread ends that starts it.
func tie(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
