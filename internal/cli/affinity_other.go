//go:build !linux

package cli

import "errors"

var errNoPinning = errors.New("only on Linux can processes be kept on chosen processors; leave it out")

func usableCPUs() ([]int, error) { return nil, errNoPinning }

func moveSelf([]int) error { return errNoPinning }

func startOn(_, _ []int, _ func() error) error { return errNoPinning }
