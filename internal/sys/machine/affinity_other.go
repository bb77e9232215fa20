//go:build !linux

package machine

import "errors"

var errNoAffinity = errors.New("only on Linux can processes be kept on chosen processors; leave it out")

// UsableCPUs are the processors that this process may run on, in order.
func UsableCPUs() ([]int, error) { return nil, errNoAffinity }

// KeepOn keeps all threads of this process on these processors.
func KeepOn([]int) error { return errNoAffinity }

// StartOn calls start on a thread that is kept on these processors.
func StartOn(_, _ []int, _ func() error) error { return errNoAffinity }
