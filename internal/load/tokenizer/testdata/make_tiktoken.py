"""Records what tiktoken makes of 10 000 texts with the encodings of models.

Run: pip install tiktoken==0.14.0 && python make_tiktoken.py
Writes tiktoken/ranks.tiktoken.gz, the ranks of the vocabulary of llama3/tokenizer.json,
and tiktoken/ENCODING.sums.gz: for each of the texts in kinds/texts.json.gz a checksum
of its ids, with special tokens in the text taken as such, and of what those and some
other ids decode to.

The encodings differ in how they split, and in their special tokens, which here have
ids behind those of the small vocabulary.
"""

import base64
import gzip
import json
import os
import unicodedata
import zlib

import tiktoken
import tiktoken_ext.openai_public as public

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "tiktoken")
CONTRACTED = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def cased(large, small, rest):
    return "|".join([rf"[^\r\n\p{{L}}\p{{N}}]?[{large}]*[{small}]+{CONTRACTED}?", rf"[^\r\n\p{{L}}\p{{N}}]?[{large}]+[{small}]*{CONTRACTED}?", r"\p{N}{1,3}", rest])


LARGE, SMALL = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
PATTERNS = {
    "qwen": rf"{CONTRACTED}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{REST}",
    "glm4": rf"{CONTRACTED}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{REST}",
    "kimi": r"[\p{Han}]+|" + cased(LARGE + r"&&[^\p{Han}]", SMALL + r"&&[^\p{Han}]", REST),
}


def open_ai(name):
    """The pattern of one of OpenAI's encodings, without its file of ranks."""
    public.load_tiktoken_bpe = lambda *_, **__: {}
    return getattr(public, name)()["pat_str"]


def ranks():
    """The tokens of a small vocabulary in the order of its ids, as bytes."""
    with open(os.path.join(HERE, "llama3", "tokenizer.json"), encoding="utf-8") as f:
        vocab = json.load(f)["model"]["vocab"]
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {chr(b): b for b in plain} | {chr(256 + i): b for i, b in enumerate(sorted(set(range(256)) - set(plain)))}
    return {bytes(letters[c] for c in token): rank for rank, (token, _) in enumerate(sorted(vocab.items(), key=lambda kv: kv[1]))}


def odd_ids(i, top):
    ids, state = [], i + 1
    for _ in range(i % 29):
        state = (state * 1664525 + 1013904223) % 2**32
        ids.append((state >> 8) % top)
    return ids


def main():
    os.makedirs(FOLDER, exist_ok=True)
    tokens = ranks()
    with open(os.path.join(FOLDER, "ranks.tiktoken.gz"), "wb") as f:
        f.write(gzip.compress(b"".join(base64.b64encode(t) + b" %d\n" % r for t, r in tokens.items()), mtime=0))
    special = {s: len(tokens) + 3 + i for i, s in enumerate(["<|endoftext|>", "<|im_start|>", "[gMASK]", "<sop>", "<|eot_id|>", "<|im_end|>"])}
    with gzip.open(os.path.join(HERE, "kinds", "texts.json.gz")) as f:
        texts = json.load(f)
    patterns = PATTERNS | {name: open_ai(name) for name in ["r50k_base", "cl100k_base", "o200k_base"]}
    for name, pattern in patterns.items():
        e = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=tokens, special_tokens=special)
        sums = b""
        for i, text in enumerate(texts):
            ids = e.encode(unicodedata.normalize("NFC", text) if name == "qwen" else text, allowed_special="all")
            fields = [",".join(map(str, ids)), e.decode(ids), e.decode(odd_ids(i, len(tokens)))]
            sums += zlib.crc32("\0".join(fields).encode()).to_bytes(4, "little")
        with open(os.path.join(FOLDER, name + ".sums.gz"), "wb") as f:
            f.write(gzip.compress(sums, mtime=0))
        print(name, len(texts), len(tokens))
    with open(os.path.join(FOLDER, "special.json"), "w") as f:
        json.dump(special, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main()
