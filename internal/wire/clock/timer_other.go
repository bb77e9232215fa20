//go:build !linux

package clock

// NewPrecise is NewTimer on this system.
func NewPrecise() *Timer { return NewTimer() }
