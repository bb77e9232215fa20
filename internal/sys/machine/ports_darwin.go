package machine

import "golang.org/x/sys/unix"

// localPorts returns the range for outgoing connections, nil if unknown.
func localPorts() *Ports {
	low, err := unix.SysctlUint32("net.inet.ip.portrange.first")
	if err != nil {
		return nil
	}
	high, err := unix.SysctlUint32("net.inet.ip.portrange.last")
	if err != nil {
		return nil
	}
	return &Ports{Low: int(low), High: int(high)}
}
