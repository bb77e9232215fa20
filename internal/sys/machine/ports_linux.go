package machine

import "fmt"

// localPorts returns the range for outgoing connections, nil if unknown.
func localPorts() *Ports {
	const dir = "/proc/sys/net/ipv4/"
	var p Ports
	if _, err := fmt.Sscan(text(dir+"ip_local_port_range"), &p.Low, &p.High); err != nil {
		return nil
	}
	p.Reuse = text(dir+"tcp_tw_reuse") == "1" // 2 is only for loopback
	return &p
}
