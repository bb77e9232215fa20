"""Draws random prompts with vLLM's own generator, and says how long that took.

Usage: python prompts.py FOLDER TOKENIZER PROMPTS
"""

import importlib.util
import pathlib
import resource
import sys
import time


def main():
    folder, tokenizer_path, prompts = sys.argv[1], sys.argv[2], int(sys.argv[3])
    spec = importlib.util.spec_from_file_location("stand_in", pathlib.Path(__file__).with_name("vllm.py"))
    stand_in = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stand_in)
    stand_in.make_package(folder)
    from vllm.benchmarks.datasets import RandomDataset

    tokenizer = stand_in.get_tokenizer(tokenizer_path)
    start = time.time()
    drawn = RandomDataset(random_seed=0).sample(
        tokenizer=tokenizer, num_requests=prompts, input_len=8192, output_len=1, request_id_prefix="b-"
    )
    seconds = time.time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"vllm   {len(drawn)} prompts in {seconds:.1f} s, {len(drawn) * 8192 / seconds:.0f} tokens/s, peak {peak:.0f} MiB")


main()
