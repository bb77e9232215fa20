// Package collect samples servers, devices and hosts during a run.
//
//	/metrics of servers and exporters ─┐
//	nvidia-smi, npu-smi, amd-smi       ├─ a Collector each ──> Group ──> telemetry.Set
//	/proc, here or over ssh            ┘
//
// A Collector has one goroutine and reads one source about once a second. Its failures do not reach the run: one
// that fails is a note of its source, one that hangs is given up, and its values until then count.
//
// Instants are taken around each exchange, on the monotonic clock of this process; a Group moves them to the start
// of the run once that is known, so what came before the run has negative instants. A source with another wall
// clock says how far it may be off.
//
// # Programs
//
// A Child keeps a program running during a run and hands on its output, line by line.
//
// The program runs here, or on another host through ssh. One that ends is started again, after waits that grow; one
// that falls silent is ended first. Its output is bounded: a line by 64 KiB, all of it by 16 MiB in a second.
//
// Wherever it runs, it is started by a shell with a pipe to this process as its input. That shell ends the program
// when the pipe closes, so nothing is left behind when this process is killed or the connection breaks. On the same
// pipe it sends its clock when asked to, which bounds how far the clock of the other host is off.
package collect
