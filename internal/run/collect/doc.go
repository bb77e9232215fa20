// Package collect samples servers, devices and hosts beside a run.
//
//	/metrics of servers and exporters ─┐
//	nvidia-smi, npu-smi, amd-smi       ├─ a Collector each ──> Group ──> telemetry.Set
//	/proc, here or over ssh            ┘
//
// A Collector has a goroutine of its own and reads one source about once a second. Nothing
// that happens to it reaches the run: one that fails is a note of its source, one that hangs
// is given up, and what it had given is kept.
//
// Instants are taken around each exchange, on the monotonic clock of this process; a Group
// moves them to the start of the run once that is known, so what came before the run has
// negative instants. A source with a wall clock of its own says how far it may be off.
package collect
