// Package apiserver is a simulated serving engine behind an HTTP API: an
// OpenAI-compatible server, shaped like vLLM's and with SGLang's own routes. Its
// tokens come from a timing model, and every write is stamped. It speaks every
// protocol of [phrase], which words its answers and reads its requests. A text that is
// embedded, pooled, ranked or transcribed is a prompt for the same model.
//
//	request ──▶ handler ──Job──▶ ┌──────┐  Next, Step   ┌───────┐
//	               ▲             │ loop │ ◀───────────▶ │ Model │
//	            mailbox ◀─────── │      │   Emissions   └───────┘
//	               │  tokens     └──────┘   one goroutine, one timer
//	               ▼
//	   Write + Flush, stamped before and after ──▶ truth
//
// A [engine.Model] decides when tokens leave. It is pure: jobs and instants in,
// emissions out, no clock and no goroutine, so the same model runs on the wall
// clock behind the server and in virtual time in a test or a prediction.
// [engine.LatencyModel] is the plain one: a queue, a number of places, and a
// stated distribution for each delay. [engine.Deployment] schedules as a serving
// engine does, and gets the content of prompts if it caches them.
//
// The loop owns the model and the one timer. It never waits for a handler: a
// handler that falls behind finds several tokens in its mailbox and sends them
// as one event, as vLLM's output collector does.
//
// The model's instants do not drift, but on an idle Linux machine Go's timers
// wake up to a millisecond late, and so do the tokens; the stamps say when they
// were really written.
//
// What a client measured can then be held against what was really written:
// /pitot/truth gives back the stamps of every response. Over HTTP/1.1 they
// bracket the system call; over HTTP/2 only the hand-over to the goroutine that
// writes the connection. [Fault] lets the server misbehave on purpose, in ways
// drawn from the seed, so that a client's handling of failures can be checked
// too.
//
// The server imports none of the packages of Pitot's client, neither endpoint nor
// driver: it is reached over HTTP, like any other.
package apiserver
