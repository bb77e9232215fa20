"""What sglang.bench_serving makes of command lines.

Run with an environment that has that tool, and write the output beside this file:

    python args.py > args.json

Where only its Python files are to be had, PYTHONPATH names a folder that has them
and stand-ins for what they import.
"""

import argparse
import io
import json
import sys
from contextlib import redirect_stderr
from importlib import import_module

LINES = [
    "",
    "--backend sglang --host 127.0.0.1 --port 6688 --dataset-name random --model m --num-prompts 1536 --random-input-len 3500"
    " --random-output-len 1500 --random-range-ratio 1.0 --max-concurrency 384",
    "--num-prompt 5 --random-input 7 --random-output=9 --random-range 1",
    "--request-rate 4 --request-rate 0.25 --seed -1 --temperature 1e-5 --top-p 1e16",
    "--profile --profile-activities CPU MEM --profile-stages prefill decode --profile-by-stage --profile-output-dir it's",
    "--lora-name --tag é --header A=b C=d",
    "--lora-name a b --lora-name c --token-ids-logprob 1 -2 3",
    "--profile-prefill-url http://a http://b --goodput ttft:500 tpot:50.5",
    "--gsp-group-distribution zipf --gsp-zipf-alpha 1.5 --extra-request-body {\"a\":1}",
    "--profile-prefill-url a --profile-decode-url b",
    "--profile-activities X",
    "--gsp-zipf-alpha -1",
    "--flush-cache-timeout inf",
    "--random_input 1",
    "--goodput x:1",
    "--goodput ttft:0",
    "--image 1",
    "foo --num-prompts 3 bar",
    "--num-prompts x",
    "--num-prompts",
    "--token-ids-logprob",
    "--lora-zipf-alpha a",
    "--profile=3",
    "--backend openai",
    "--rust-worker-threads 3",
    "--gsp-send-routing-id",
]


def read(serving, line):
    seen, errors = [], io.StringIO()
    serving.run_benchmark = seen.append
    sys.argv = ["bench_serving.py", *line.split()]
    try:
        with redirect_stderr(errors):
            serving.cli_main()
    except SystemExit as end:
        return {"line": line, "error": errors.getvalue().splitlines()[-1].removeprefix("bench_serving.py: error: "), "code": end.code}
    return {"line": line, "namespace": repr(argparse.Namespace(**vars(seen[0])))}


def usage(serving):
    errors = io.StringIO()
    sys.argv = ["bench_serving.py", "--nothing-of-the-kind"]
    try:
        with redirect_stderr(errors):
            serving.cli_main()
    except SystemExit:
        return errors.getvalue().rsplit("bench_serving.py: error", 1)[0]


serving = import_module("sglang.benchmark.serving")
json.dump({"usage": usage(serving), "lines": [read(serving, line) for line in LINES]}, sys.stdout, indent=1)
print()
