"""Runs a module of sglang's benchmark without the rest of sglang.

The benchmark is the real one, unpacked from the wheel. It imports a little of the
package around it, which would pull in the engine, torch and CUDA: that is made up
here, as far as a text workload uses it.

Usage: python sglang.py FOLDER MODULE [ARGUMENTS]
"""

import runpy
import sys
import types


def module(name, path=(), **members):
    made = types.ModuleType(name)
    made.__path__ = list(path)
    made.__dict__.update(members)
    sys.modules[name] = made


def get_tokenizer(name, *_, **__):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(name)


def make_package(folder):
    # With their folders, but without what their own __init__ would import.
    for name in ("sglang", "sglang.srt", "sglang.srt.utils"):
        module(name, [f"{folder}/{name.replace('.', '/')}"])
    module("sglang.srt.disaggregation")
    module("sglang.srt.disaggregation.utils", FAKE_BOOTSTRAP_HOST="")
    module("sglang.srt.utils.hf_transformers_utils", get_tokenizer=get_tokenizer)
    module("datasets", load_dataset=None)  # Hugging Face's, for other workloads


def main():
    folder, name = sys.argv[1:3]
    make_package(folder)
    sys.argv[:3] = [name]
    runpy.run_module(name, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
