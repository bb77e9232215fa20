// Package run makes runs.
//
// Prepare turns a plan.Spec into a Prepared run: only the server's behaviour is unknown.
// Execute makes the run, and sends its events to sinks:
//
//	Spec ─ check ─ files ─> server ─ model ─ tokenizer ─> requests, schedule   Prepare
//	ready ─ warm-up ─ flush ─ rest ─ profiler ─> run ─> counters ─> verdict    Execute
//	                                              │
//	                                   sinks: store, progress, a page ...
//
// The package knows no flags, no terminal and no operating system: files, network,
// environment and machine come in through Deps, so two runs in one process leave nothing
// behind in each other. A mistake in a Spec is a plan.Problem, reported before anything is
// sent; an observation on the way is a note of the run.
package run
