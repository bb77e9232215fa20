"""Encodes what BenchmarkKinds of internal/load/tokenizer encodes with Hugging Face's tokenizers, and with tiktoken what is of its kind, and prints both beside each other.

Usage: hf_tokenizers.py GO_OUTPUT [tokenizer.json | ENCODING.tiktoken ...]
GO_OUTPUT is what `go test -bench Kinds` printed.
"""

import gzip
import json
import os
import re
import sys
import time

from tokenizers import Tokenizer, __version__

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "internal", "tokenizer", "testdata")


def random_ids(n, below):
    state, ids = 1, []
    for _ in range(n):
        state = (state * 1664525 + 1013904223) % 2**32
        ids.append((state >> 8) % below)
    return ids


def prose(texts):
    words = [w for s in texts[4:48] for w in s.split(" ")]
    return "".join(words[i] + " \n"[i % 2] for i in random_ids(30_000, len(words)))


class Tiktoken:
    """An encoding of OpenAI with the ranks of a file, called like a Tokenizer."""

    def __init__(self, name):
        import tiktoken
        import tiktoken_ext.openai_public as public
        from tiktoken.load import load_tiktoken_bpe

        public.load_tiktoken_bpe = lambda *_, **__: load_tiktoken_bpe(name)
        made = getattr(public, os.path.basename(name).removesuffix(".tiktoken"))()
        self.encoding = tiktoken.Encoding(made["name"], pat_str=made["pat_str"], mergeable_ranks=made["mergeable_ranks"], special_tokens={})

    def encode_batch_fast(self, texts, add_special_tokens):
        for text in texts:
            self.encoding.encode_ordinary(text)

    def decode(self, ids, skip_special_tokens):
        return self.encoding.decode(ids)

    def get_vocab_size(self, with_added_tokens):
        return self.encoding.n_vocab


def load(kind, files):
    for name in files:
        if os.path.basename(name) == kind:
            return Tiktoken(name) if name.endswith(".tiktoken") else Tokenizer.from_file(name)
    folder = os.path.join(DATA, kind, "tokenizer.json")
    if os.path.exists(folder):
        return Tokenizer.from_file(folder)
    with gzip.open(os.path.join(DATA, "kinds", kind + ".json.gz")) as f:
        return Tokenizer.from_str(f.read().decode())


def speed(t, texts, seconds=1.0):
    """Megabytes a second of processor time, of the best of at least three passes, by the call that leaves out offsets."""
    size = sum(len(s.encode()) for s in texts)
    best, start, passes = float("inf"), time.process_time(), 0
    while passes < 3 or time.process_time() - start < seconds:
        before = time.process_time()
        t.encode_batch_fast(texts, add_special_tokens=False)
        best, passes = min(best, time.process_time() - before), passes + 1
    return size / best / 1e6


def main(output, files):
    with gzip.open(os.path.join(DATA, "kinds", "texts.json.gz")) as f:
        texts = json.load(f)
    ours = {}
    with open(output) as f:
        for kind, name, rate in re.findall(r"BenchmarkKinds/(\S+)/(texts|prose|random)(?:-\d+)?\s.*?([\d.]+) MB/cpu-s", f.read()):
            best = ours.setdefault((kind, name), 0)
            ours[kind, name] = max(best, float(rate))
    print(f"{'MB a second of processor':<26}{'pitot':>10}{'tokenizers ' + __version__:>22}{'ratio':>9}")
    for (kind, name), rate in ours.items():
        t = load(kind, files)
        random = lambda: t.decode(random_ids(50_000, t.get_vocab_size(with_added_tokens=False)), skip_special_tokens=False)
        theirs = speed(t, texts if name == "texts" else [prose(texts)] if name == "prose" else [random()])
        print(f"{kind + ' ' + name:<26}{rate:>10.1f}{theirs:>22.1f}{rate / theirs:>9.1f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
