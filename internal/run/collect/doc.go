// Package collect samples servers, devices and hosts during a run.
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
//
// # Programs
//
// A Child keeps a program running beside a run and hands on what it prints, line by line.
//
// The program runs here, or on another host through ssh. One that ends is started again, after
// waits that grow; one that falls silent is ended first. What it prints is bounded: a line by
// 64 KiB, all of it by 16 MiB in a second.
//
// Wherever it runs, it is started by a shell with a pipe to this process as its input. That shell
// ends the program when the pipe closes, so nothing is left behind when this process is killed
// or the connection breaks. On the same pipe it tells its clock when it is asked to, which
// bounds how far the clock of the other host is off.
package collect
