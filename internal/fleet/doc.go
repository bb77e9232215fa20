// Package fleet is what a controller and its workers say to each other when one run is sent from
// many machines.
//
// A controller makes a run as any other: it prepares the Spec, warms the server up, samples, judges
// and stores. It only leaves the requests to others. A worker is a process that sends a share of
// them; the workers of one run are its crew, each a member. Each worker prepares the same Spec, so it
// has the same requests and the same schedule, and sends those of its share, by a rule (package deal)
// and from an instant that all have agreed on (package clocks):
//
//	controller                                        worker
//	Assemble ── Question ──> everybody ── Worker ──>  who is there
//	         ── Order: Spec, digests of its inputs ─> prepares it        (package inputs)
//	         <─ Readiness: digest of its requests ──
//	Drive    ── Start: instant, share, places ──────> waits for the instant
//	         ── Beat, four times a second ──────────> clock, progress; places, stop
//	         <─ records, through a stream ──────────  (package delivery)
//	         <─ End, the last of the stream ────────
//
// All but the records are requests and replies of NATS. A Beat does four things at once, and each
// of them may be repeated: it measures the clock, asks for the progress, says how many places of
// the gate the worker has, and whether to go on. A worker that does not answer Beats for a while is
// lost; it is told so if it comes back, and sends nothing more.
//
// A worker does not depend on its controller once it has begun: it sends its share to the end, and
// the records wait in the stream until a controller takes them.
package fleet
