//go:build amd64 || arm64

package transport

import "unsafe"

// prefetch fetches at least one cache line.
//
//go:noescape
func prefetch(from unsafe.Pointer, lines int)
