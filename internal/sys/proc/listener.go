package proc

import (
	"fmt"
	"slices"
	"strings"
)

// A Listener is the process that accepts connections on a port of this machine.
type Listener struct {
	PID     int    // 0: of another user
	Command string // empty: not known
}

// Listening are the sockets that listen on a port, by the names that links to them have, in
// tables such as /proc/net/tcp.
func Listening(tables string, port int) (sockets []string) {
	for line := range strings.Lines(tables) {
		fields := strings.Fields(line)
		const local, state, inode = 1, 3, 9
		const listens = "0A"
		if len(fields) > inode && fields[state] == listens && strings.HasSuffix(fields[local], fmt.Sprintf(":%04X", port)) {
			if name := "socket:[" + fields[inode] + "]"; !slices.Contains(sockets, name) &&
				strings.Trim(fields[inode], "0123456789") == "" {
				sockets = append(sockets, name)
			}
		}
	}
	return sockets
}
