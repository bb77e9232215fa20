"""Runs the client of `vllm bench serve` without the rest of vllm.

The benchmark is the real one, unpacked from the wheel. It imports a little of the
package around it, which would pull in the engine, torch and CUDA: that is made up
here, as far as a text workload uses it.

Usage: python vllm.py FOLDER [ARGUMENTS OF vllm bench serve]
"""

import gc
import logging
import sys
import types


class Unused(types.ModuleType):
    """A module of which a text workload needs the names and nothing else."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class PlaceholderModule:
    """Stands for an optional library that is not installed."""

    def __init__(self, name):
        self.name = name

    def placeholder_attr(self, attribute):
        return PlaceholderModule(f"{self.name}.{attribute}")

    def __call__(self, *_, **__):
        raise ImportError(f"{self.name} is not installed")


def get_tokenizer(name, *_, trust_remote_code=False, **__):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(name, trust_remote_code=trust_remote_code)


def freeze_gc_heap():
    """As vllm does before a run: the collector leaves alone what is there."""
    gc.collect()
    gc.freeze()


def join_host_port(host, port):
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def module(name, path=(), **members):
    made = types.ModuleType(name)
    made.__path__ = list(path)
    made.__dict__.update(members)
    sys.modules[name] = made


def make_package(folder):
    module("vllm", [f"{folder}/vllm"])
    module("vllm.utils", [f"{folder}/vllm/utils"])
    module("vllm.logger", init_logger=logging.getLogger)
    module("vllm.tokenizers", TokenizerLike=object, get_tokenizer=get_tokenizer)
    module("vllm.utils.gc_utils", freeze_gc_heap=freeze_gc_heap)
    module("vllm.utils.import_utils", PlaceholderModule=PlaceholderModule)
    module("vllm.utils.mistral", is_mistral_tokenizer=lambda _: False)
    module("vllm.utils.network_utils", join_host_port=join_host_port)
    for name in ("inputs", "lora", "lora.request", "lora.utils", "multimodal", "multimodal.audio", "multimodal.image",
                 "multimodal.utils", "transformers_utils", "transformers_utils.repo_utils"):
        sys.modules[f"vllm.{name}"] = Unused(f"vllm.{name}")


def main():
    make_package(sys.argv.pop(1))
    from vllm.benchmarks.serve import add_cli_args, main as serve
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    parser = FlexibleArgumentParser(prog="vllm bench serve")
    add_cli_args(parser)
    serve(parser.parse_args())


if __name__ == "__main__":
    main()
