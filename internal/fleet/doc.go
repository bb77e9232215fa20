// Package fleet has the messages between a controller and its workers when many machines send one run.
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
// All but the records are requests and replies of NATS. A Beat does four things at once, and each of them may be
// repeated: it measures the clock, asks for the progress, says how many places of the gate the worker has, and
// whether to go on. A worker that does not answer Beats for a while is lost; if it comes back it learns so, and
// sends nothing more.
//
// A worker does not depend on its controller once it has begun: it sends its share to the end, and
// the records wait in the stream until a controller takes them.
//
// # Shares
//
// A Share divides a run among machines: who sends which request, and how many requests each
// may have in flight.
//
// The rule needs nothing but the requests, so every machine applies it by itself to the workload that it rebuilt.
// The k-th request that waits for no other belongs to share k mod n, and a request that waits for another belongs
// to the share of that one, so that one worker sends all of a conversation:
//
//	request   0    1    2    3    4    5    6
//	waits for          (0)       (2)       (1)
//	share     0    1    0    0    0    1    1        n = 2
//
// The requests of all shares together are those of the run, each at the instant at which one
// machine would send it. A gate is divided as well; each share keeps to its own part of it.
//
// # Clocks
//
// An Offset says how far the clock of another machine is ahead of ours, and how far that can
// be from the truth.
//
// Each exchange of messages reads both clocks. A message arrives after it was sent, and an answer
// is received after it was given, so
//
//	ours    ──Sent────────────────────Received──>     at Sent      theirs <= Arrived
//	            \                      /              at Received  theirs >= Answered
//	theirs  ─────Arrived───────Answered─────────>
//
// holds whatever the network does, if no clock runs backwards. No delay is assumed to be symmetric
// and none to have a distribution. Between exchanges the difference changes by at most MaxRate,
// and nothing else is assumed of the rate. Where an exchange contradicts earlier ones, a clock has
// stepped: a machine was suspended, or a clock set. From then on the earlier ones say nothing.
//
// Every bound is in force as long as that is so: a clock that steps or runs away by less than
// the bound is not found.
//
// All instants are nanoseconds, on clocks that do not have to share a zero.
package fleet
