//go:build amd64 || arm64

package transport

import "unsafe"

// prefetch fetches cache lines, of which there is at least one.
//
//go:noescape
func prefetch(from unsafe.Pointer, lines int)
