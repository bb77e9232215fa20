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
	for _, most := range []int{firstFiles, -1} {
		for _, folder := range folders {
			if ctx.Err() != nil {
				return Listener{}, true
			}
			if holds(folder, most, sockets) {
				pid, _ := strconv.Atoi(strings.Split(folder, "/")[2])
				return Listener{pid, commandOf(pid)}, true
			}
		}
	}
	return Listener{}, true
}

// firstFiles of each process are looked at before all: a server listens before it has thousands of connections.
const firstFiles = 64

// holds reports whether one of the open files of a process is one of the sockets; most limits their number, unless
// it is negative.
func holds(folder string, most int, sockets []string) bool {
	f, err := os.Open(folder)
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(most)
	return slices.ContainsFunc(names, func(name string) bool {
		to, err := os.Readlink(folder + "/" + name)
		return err == nil && slices.Contains(sockets, to)
	})
}

func listed(port int) []string {
	var tables string
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		text, _ := os.ReadFile(table)
		tables += string(text)
	}
	return Listening(tables, port)
}
