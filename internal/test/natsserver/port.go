package natsserver

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Port is a free port of loopback below those that systems give out by themselves: nobody takes it
// while a server there is started again.
func Port(t testing.TB) string {
	t.Helper()
	const first, many = 20000, 12000
	for range 100 {
		port := strconv.Itoa(first + rand.N(many))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port of loopback is free")
	return ""
}
