package machine

import (
	"sync"

	"golang.org/x/sys/unix"
)

// mostReserved is the number of descriptors for which there is room ahead at most: half a megabyte of the kernel's.
const mostReserved = 1 << 16

// ReserveDescriptors makes room in the kernel for as many descriptors as the process may have, once. Else their table
// is replaced by one of twice the size whenever it is full, and an open of a file then waits until no thread
// uses the old one (synchronize_rcu in fs/file.c), for 8 to 25 ms, and with it a Go processor: a load that begins with
// a thousand connections would stand still three or four times. It takes as long itself.
var ReserveDescriptors = sync.OnceFunc(func() {
	now, _ := fileLimit()
	n := int(min(now, mostReserved))
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if last, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, n-1); err == nil {
		_ = unix.Close(last)
	}
})
