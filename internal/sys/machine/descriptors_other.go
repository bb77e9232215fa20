//go:build !linux

package machine

// ReserveDescriptors makes room in the kernel for as many descriptors as the process may have, where that takes time.
func ReserveDescriptors() {}
