// Package delivery carries the records of a run from its workers to the controller, through a
// JetStream stream: sent at least once, handed over exactly once.
//
//	worker                        stream PITOT-<run>             controller
//	Sender: records               pitot.run.<run>.heading        Receiver: Heading
//	  │ frames: kind, length,     pitot.run.<run>.0   ──────>      │ messages by number:
//	  │ payload                   pitot.run.<run>.1                │ repeats dropped, gaps awaited
//	  └ cut into numbered ──────> ...                              └ frames ──> Handler
//	    messages, sent until
//	    they are confirmed
//
// Everybody in a fleet can publish on every subject, so each message is signed by the worker that sends the share,
// with the key of its ID. A message of anybody else is dropped, and uses up no number.
//
// Each share of a run is one stream of bytes on one subject. Where it is cut into messages means nothing, so a
// record may be larger than a message. A message may arrive twice or out of order: its number says where it
// belongs.
//
// A confirmed message is in the server's file, and the Sender forgets it. A server that is killed and started again
// still has it. After a loss of power it may lack the last two minutes, as nats-server syncs its files that often
// by default.
//
// A controller that is started again makes a new Receiver, which hands over everything from the
// beginning.
package delivery
