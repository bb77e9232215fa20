// Package dialect speaks for other tools: it reads their command lines and
// writes their reports and result files.
//
// A dialect is two functions around the trace. One turns that tool's arguments
// into what a run needs: which requests, when, with which options. The other
// turns the trace into that tool's text and JSON, from that tool's definitions
// in package metrics. Nothing in between knows which dialect asked.
//
// The command lines are Python's argparse: parser.go has its rules. Of each tool,
// `vllm bench serve` and sglang.bench_serving, there is vllm_args.go or sglang_args.go
// (the flags), _plan.go (what they mean), _report.go (the table) and _result.go (the
// JSON).
package dialect
