package cli

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/proof/doctor"
)

// localPorts are those that connections are made from, nil if they are not known.
func localPorts() *doctor.Ports {
	const dir = "/proc/sys/net/ipv4/"
	var p doctor.Ports
	if _, err := fmt.Sscan(word(dir+"ip_local_port_range"), &p.Low, &p.High); err != nil {
		return nil
	}
	p.Reuse = word(dir+"tcp_tw_reuse") == "1" // 2 is for loopback alone
	return &p
}
