package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// bootID differs after each start of the system: starts of processes count from there.
var bootID = sync.OnceValue(func() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
})

func processes() ([]process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var all []process
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := lookUp(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// lookUp is the process with a number, false if there is none or it has ended.
func lookUp(pid int) (process, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // after the name, which may contain spaces
	const state, parent, session, start = 0, 1, 3, 19
	if len(fields) <= start || bytes.ContainsAny(fields[state], "ZX") {
		return process{}, false
	}
	p := process{pid: pid, began: bootID() + "/" + string(fields[start])}
	p.parent, _ = strconv.Atoi(string(fields[parent]))
	p.session, _ = strconv.Atoi(string(fields[session]))
	return p, true
}

// environment is that of a process, as it was when its program was started; empty for one
// of another user.
func environment(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return string(b)
}

// writesTo reports whether the output of a process goes to a file.
func writesTo(pid int, file string) bool {
	for fd := 1; fd <= 2; fd++ {
		if to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd)); err == nil && to == file {
			return true
		}
	}
	return false
}

// commandOf is the command line of a process, empty if it is not known.
func commandOf(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.Join(strings.FieldsFunc(string(b), func(r rune) bool { return r == 0 }), " ")
}
