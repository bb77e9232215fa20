// Package dialect speaks for other tools: it reads their command lines and
// writes their reports and result files.
//
// A dialect is two functions around the trace. One turns that tool's arguments
// into what a run needs: which requests, when, with which options. The other
// turns the trace into that tool's text and JSON, from that tool's definitions
// in package metrics. Nothing in between knows which dialect asked.
//
// The command lines are Python's argparse: parser.go has its rules. Of `vllm bench
// serve` there is all of it: vllm_args.go (the flags), vllm_plan.go (what they mean),
// vllm_report.go (the table), vllm_result.go (the JSON); of sglang.bench_serving the
// table, sglang_report.go.
package dialect
