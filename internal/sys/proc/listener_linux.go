package proc

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ListenerOn is the process that listens on a TCP port; false if there is none, or it is in
// another network namespace. When ctx ends, its process is not known.
func ListenerOn(ctx context.Context, port int) (Listener, bool) {
	sockets, err := listening(port)
	if err != nil { // a kernel without it, or one that forbids it
		sockets = listed(port)
	}
	if len(sockets) == 0 {
		return Listener{}, false
	}
	folders, _ := filepath.Glob("/proc/[0-9]*/fd") // those of other users cannot be read
	for _, folder := range folders {
		if ctx.Err() != nil {
			break
		}
		links, _ := filepath.Glob(folder + "/*")
		for _, link := range links {
			if to, err := os.Readlink(link); err == nil && slices.Contains(sockets, to) {
				pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
				return Listener{pid, commandOf(pid)}, true
			}
		}
	}
	return Listener{}, true
}

// listed is listening by the tables of all sockets.
func listed(port int) []string {
	var tables string
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		text, _ := os.ReadFile(table)
		tables += string(text)
	}
	return Listening(tables, port)
}
