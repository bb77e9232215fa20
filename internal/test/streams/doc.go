// Package streams is a table of the ways in which servers word an answer: where output
// stands, how tokens are counted, how an error is told, how a stream ends and when it comes.
//
// Each row has the pieces that a server writes and the milliseconds between them, and the
// figures that are right: in Pitot's own form, and what `vllm bench serve` and
// sglang.bench_serving make of it. It says which of the three tell what the server did. Time
// is virtual and the network is in memory.
//
//	make streams                                  the table alone
//	make streams CLIENT=.../endpoint_request_func.py PYTHON=python3
//
// The second runs the functions of vLLM's client against the same rows, over loopback and in
// real time: a Python with aiohttp, regex and tqdm, and that file of vLLM's source.
package streams
