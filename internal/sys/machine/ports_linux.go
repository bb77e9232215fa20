package machine

import "fmt"

// localPorts are those that connections are made from, nil if they are not known.
func localPorts() *Ports {
	const dir = "/proc/sys/net/ipv4/"
	var p Ports
	if _, err := fmt.Sscan(text(dir+"ip_local_port_range"), &p.Low, &p.High); err != nil {
		return nil
	}
	p.Reuse = text(dir+"tcp_tw_reuse") == "1" // 2 is for loopback alone
	return &p
}
