package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ListenerOn is the process that listens on a TCP port; false if there is none, or it is in
// another network namespace.
func ListenerOn(port int) (Listener, bool) {
	sockets := listening(port)
	if len(sockets) == 0 {
		return Listener{}, false
	}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*") // those of other users cannot be read
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && sockets[to] {
			pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
			return Listener{pid, commandOf(pid)}, true
		}
	}
	return Listener{}, true
}

// listening are the sockets that listen on a port, by the names that links to them have.
func listening(port int) map[string]bool {
	sockets := map[string]bool{}
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		text, _ := os.ReadFile(table)
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			const local, state, inode = 1, 3, 9
			const listens = "0A"
			if len(fields) > inode && fields[state] == listens && strings.HasSuffix(fields[local], fmt.Sprintf(":%04X", port)) {
				sockets["socket:["+fields[inode]+"]"] = true
			}
		}
	}
	return sockets
}
