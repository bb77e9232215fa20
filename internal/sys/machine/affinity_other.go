//go:build !linux

package machine

import "errors"

var errNoAffinity = errors.New("processes can be pinned to processors only on Linux; leave it out")

// UsableCPUs returns the processors that this process may run on, in order.
func UsableCPUs() ([]int, error) { return nil, errNoAffinity }

// KeepOn pins all threads of this process to these processors.
func KeepOn([]int) error { return errNoAffinity }

// StartOn calls start on a thread pinned to these processors.
func StartOn(_, _ []int, _ func() error) error { return errNoAffinity }
