// Package server starts, watches and ends the servers that an experiment measures.
//
//	Start ──> Ready ──> (a leg) ──> Stop ──> port free, device memory back
//	  │          │          │
//	  │          └──────────┴── Done: it ended by itself, with exit code and last log lines
//	  └── SaveHandle: the Handle by which another process finds it after a kill -9 of this one
//
// Whatever the runner is, a process of this machine lasts as long as the server: the server itself, `docker run`,
// `ssh`, or a script around kubectl. It leads a new session (package proc) and writes into the log. It begins only
// when its Handle is stored, so that there is never a server that nobody can find. A runner also knows the parts
// elsewhere, a container, processes of another host, a deployment, and how to end them.
//
// A server does not die with Pitot. An interrupt is answered by a Stop of the caller; after a kill -9, Leftover
// reports whether the server of a Handle is still there, and EndLeftover ends it.
//
// Secret values of an environment or a command are in no Handle, Life, message or error. The log is the server's
// own, as it wrote it; one beyond 64 MiB loses its middle (proc.Log).
package server
