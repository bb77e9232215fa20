package cli

import (
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/machine"
)

// environment describes this machine and process.
func environment() trace.Environment {
	m := machine.Here()
	return trace.Environment{Pitot: Version(), Go: m.Go, OS: m.OS, Host: m.Host, CPUs: m.CPUs, FileLimit: m.FileLimit}
}

// filesBeside is what a run opens beside its connections.
const filesBeside = 64

// enoughFiles refuses a plan that is bound to run out of file descriptors:
// everything at once, or as many as the gate lets through. (Go raises the limit
// to the hard limit when a program starts.)
func enoughFiles(plan trace.Plan, env trace.Environment, atOnce bool) error {
	connections := plan.Concurrency
	if atOnce && (connections == 0 || connections > plan.Requests) {
		connections = plan.Requests
	}
	connections = min(connections, plan.Requests)
	if connections == 0 {
		return nil // a rate may or may not need many
	}
	need := uint64(connections + filesBeside)
	if env.Embedded {
		need += uint64(connections) // the engine's ends
	}
	if env.FileLimit == 0 || need <= env.FileLimit {
		return nil
	}
	where := ""
	if env.Embedded {
		where = ", or run the engine in a process of its own (pitot serve)"
	}
	return usagef("%d connections need about %d open files and the limit is %d: raise `ulimit -n`, or lower --concurrency%s", connections, need, env.FileLimit, where)
}
