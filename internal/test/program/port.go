package program

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// FreePort is a port of the loopback that nobody listens on, for a process that is told where to listen. It is below
// those that the system gives to connections, and to whoever listens on any port: none of them takes it
// before the process does, or between two that listen on it.
func FreePort() (string, error) {
	for range 100 {
		port := fmt.Sprint(20_000 + rand.IntN(12_000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			return port, l.Close()
		}
	}
	return "", fmt.Errorf("no port from 20000 to 32000 is free")
}
