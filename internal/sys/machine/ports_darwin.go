package machine

import "golang.org/x/sys/unix"

// localPorts are those that connections are made from, nil if they are not known.
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
