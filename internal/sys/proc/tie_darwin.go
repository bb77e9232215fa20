package proc

import "syscall"

// tie does nothing: there is no such signal.
func tie(*syscall.SysProcAttr) {}
