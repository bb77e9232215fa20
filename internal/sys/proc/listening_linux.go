package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// Constants of sock_diag (linux/inet_diag.h) that x/sys lacks.
const (
	sockDiagByFamily = 20
	tcpListen        = 10
	inodeAt          = 68 // in inet_diag_msg, the last field
)

// A diagRequest is nlmsghdr and inet_diag_req_v2.
type diagRequest struct {
	Header   unix.NlMsghdr
	Family   uint8
	Protocol uint8
	_        [2]uint8
	States   uint32
	Port     [2]byte  // in network order
	_        [46]byte // the rest of an inet_diag_sockid, which selects nothing
}

// listening is Listening of this machine, in either family. It asks the kernel for these sockets alone: the tables in
// /proc have every connection, and reading them takes longer than a short run where there are many.
func listening(port int) (sockets []string, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}) // a sandbox may not answer
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		some, err := askListening(fd, family, port)
		if err != nil {
			return nil, err
		}
		sockets = append(sockets, some...)
	}
	return sockets, nil
}

var errDiag = errors.New("sock_diag gave no answer")

func askListening(fd int, family uint8, port int) (sockets []string, err error) {
	q := diagRequest{Family: family, Protocol: unix.IPPROTO_TCP, States: 1 << tcpListen}
	q.Header = unix.NlMsghdr{
		Len: uint32(binary.Size(q)), Type: sockDiagByFamily, Flags: unix.NLM_F_REQUEST | unix.NLM_F_DUMP,
	}
	binary.BigEndian.PutUint16(q.Port[:], uint16(port))
	text, err := binary.Append(nil, binary.NativeEndian, q)
	if err != nil {
		return nil, err
	}
	if err := unix.Sendto(fd, text, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	buf := make([]byte, 32<<10)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if err != nil {
			return nil, err
		}
		messages, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil || len(messages) == 0 {
			return nil, errors.Join(errDiag, err)
		}
		for _, m := range messages {
			switch {
			case m.Header.Type == unix.NLMSG_DONE:
				return sockets, nil
			case m.Header.Type != sockDiagByFamily || len(m.Data) < inodeAt+4:
				return nil, errDiag
			}
			sockets = append(sockets, fmt.Sprintf("socket:[%d]", binary.NativeEndian.Uint32(m.Data[inodeAt:])))
		}
	}
}
