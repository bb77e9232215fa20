//go:build linux && (amd64 || arm64)

package transport

import (
	"sync"
	"sync/atomic"
)

// A table has connections by descriptor.
type table struct {
	mu   sync.Mutex // of set
	rows atomic.Pointer[[]atomic.Pointer[Conn]]
}

func (t *table) get(fd int) *Conn {
	rows := t.rows.Load()
	if rows == nil || fd >= len(*rows) {
		return nil
	}
	return (*rows)[fd].Load()
}

func (t *table) set(fd int, c *Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := t.rows.Load()
	if rows == nil || fd >= len(*rows) {
		grown := make([]atomic.Pointer[Conn], max(256, 2*fd))
		if rows != nil {
			for i := range *rows {
				grown[i].Store((*rows)[i].Load())
			}
		}
		rows = &grown
		t.rows.Store(rows)
	}
	(*rows)[fd].Store(c)
}
