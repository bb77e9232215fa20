package natsserver

import (
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
)

// The ports that are given out lie below those that systems give out by themselves.
const (
	firstPort = 20000
	ports     = 12000
	// stride keeps processes apart that run at once: each begins at a place of its own.
	stride = 211
)

var given atomic.Uint64

// Port is a free port of loopback that this process gives out once, and no system by itself: nobody takes
// it before a server listens there, or while one is started again.
func Port(t testing.TB) string {
	t.Helper()
	for range 100 {
		n := (uint64(os.Getpid())*stride + given.Add(1)) % ports
		port := strconv.FormatUint(firstPort+n, 10)
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port of loopback is free")
	return ""
}
