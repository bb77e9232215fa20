// Package truth is a server that timestamps every write.
//
// It speaks every protocol of [phrase] with text answers, and runs no model: a
// request gets as many tokens as it asks for, at instants that were planned when it
// arrived. Each write is stamped on the monotonic clock just before and just after the
// system call. So the report of any client can be compared with the actual instants:
//
//	planned ──> before ─ write() ─ after ──> the kernel ──> the client's stamp
//	   └ lateness ┘└──── bracket ────┘
//
// A client's stamp of a token cannot be earlier than before, and on loopback a
// kernel's receive stamp lies in the bracket. The difference of two before
// instants is the gap that a client should have seen.
//
// One goroutine on a thread of its own makes the writes of some hundred streams, in
// the order in which they are due, through the raw socket. That costs little more
// than the system call, so a server on one core outruns the clients it measures;
// with more streams and processors there are more such goroutines. Without raw
// sockets, or for a client that does not read fast enough, the goroutine of a
// connection writes its stream. The log also has the server's own lateness, which
// shows whether the server was the limit.
package truth
