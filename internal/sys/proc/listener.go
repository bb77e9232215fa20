package proc

// A Listener is the process that accepts connections on a port of this machine.
type Listener struct {
	PID     int    // 0: of another user
	Command string // empty: not known
}
