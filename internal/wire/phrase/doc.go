// Package phrase says how a server words the protocols of inference servers: the
// events of a stream, unstreamed answers, usage and errors, and how it reads requests.
//
// A [Protocol] is a row of a table: its routes, the reader of its requests, and the
// bytes around the tokens of its answers. A server reads a request, sets the plain
// values of its [Answer], and appends bytes:
//
//	                    Read                        Stream
//	route, body ──▶ Protocol ──▶ Request ┈┈▶ Answer ──▶ Writer ──▶ Accept
//	                                                               Begin
//	              data: {"id":…,"choices":[{"text":" ┃ The ┃ "}]}  Event, Event, …
//	              data: {"id":…,"usage":{…}}                       Total
//	              data: [DONE]                                     End
//
// The constant part of all events is rendered once, so that an event is a few copies
// into the caller's buffer and takes no allocation. The tokens come from a [Source]:
// the simulated engine draws them, the truth server has a list of them.
//
// The words are those of vLLM, of SGLang and of the other servers that clients
// speak to. The server decides when a token leaves and which request is too long:
// nothing here has a clock, a connection or a tokenizer.
package phrase
