package proc

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// bootID differs after each start of the system.
var bootID = sync.OnceValue(func() string {
	id, _ := unix.Sysctl("kern.bootsessionuuid")
	return id
})

// ended is the state of a process that its parent has not waited for, SZOMB.
const ended = 5

// processes are all that have not ended.
func processes() ([]process, error) {
	rows, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	var all []process
	for i := range rows {
		if rows[i].Proc.P_stat != ended {
			all = append(all, fromRow(&rows[i]))
		}
	}
	return all, nil
}

// lookUp is the process with a number, false if there is none or it has ended.
func lookUp(pid int) (process, bool) {
	row, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(row.Proc.P_pid) != pid || row.Proc.P_stat == ended {
		return process{}, false
	}
	return fromRow(row), true
}

func fromRow(row *unix.KinfoProc) process {
	p := process{pid: int(row.Proc.P_pid), parent: int(row.Eproc.Ppid)}
	p.session, _ = unix.Getsid(p.pid)
	p.began = fmt.Sprintf("%s/%d.%06d", bootID(), row.Proc.P_starttime.Sec, row.Proc.P_starttime.Usec)
	return p
}

// arguments are the words of a command line and the environment behind them; both empty for
// a process of another user. The system gives their number, the path of the program, zero
// bytes, and then each word and variable with a zero byte.
func arguments(pid int) (words, env []string) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 {
		return nil, nil
	}
	n := int(binary.NativeEndian.Uint32(b))
	_, rest, _ := strings.Cut(string(b[4:]), "\x00")
	all := strings.Split(strings.TrimLeft(rest, "\x00"), "\x00")
	if n < 0 || n > len(all) {
		return nil, nil
	}
	return all[:n], all[n:]
}

// environment is that of a process, as it was when its program was started.
func environment(pid int) string {
	_, env := arguments(pid)
	return strings.Join(env, "\x00")
}

// writesTo is not known here.
func writesTo(int, string) bool { return false }

// commandOf is the command line of a process, empty if it is not known.
func commandOf(pid int) string {
	words, _ := arguments(pid)
	return strings.Join(words, " ")
}
