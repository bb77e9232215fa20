package cli

import (
	"golang.org/x/sys/unix"

	"github.com/pitot-bench/pitot/internal/proof/doctor"
)

// localPorts are those that connections are made from, nil if they are not known.
func localPorts() *doctor.Ports {
	low, err := unix.SysctlUint32("net.inet.ip.portrange.first")
	if err != nil {
		return nil
	}
	high, err := unix.SysctlUint32("net.inet.ip.portrange.last")
	if err != nil {
		return nil
	}
	return &doctor.Ports{Low: int(low), High: int(high)}
}
