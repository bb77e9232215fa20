"""Records what Hugging Face makes of characters newer than those of make_golden.py.

Run: pip install tokenizers==0.23.3 unicodedata2==18.0.0 && python make_late.py
Writes late.golden.gz: llama3/tokenizer.json with other parts put in, as variants.golden.gz,
with texts of characters of any Unicode version; and patterns with repetitions of repetitions.
"""

import gzip
import json
import os
import random

import unicodedata2
from tokenizers import Tokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
CODES = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and unicodedata2.category(chr(c)) != "Cn"]
LATE = [c for c in CODES if unicodedata2.ucd_3_2_0.category(chr(c)) == "Cn"]
FEW = "abcdefg ABC 123 .,'!\n\t-_²½é漢あ"

EXPRESSIONS = [
    r"\w+|\W", r"[\w]+|[^\w]+", r"\d+|\D", r"\p{S}+|\p{P}+", r"[\p{Lu}\p{Lt}]+|[\p{Ll}\p{M}]+|\p{No}",
    r"\p{Han}+|\p{Latin}+|\p{Garay}", r"(?:\p{L}+\p{M}*)+|(?:\d{1,2})+", r"(?:[a-c]{2}|\p{Lu}?)+x*",
    r"(?>a+){2}", r"(?:aa{1,3})+", r"(?:(?:ab++)c)*", r"(a|(?>b))++", r"(?:(?:a?))*", r"((a??b)*?c)+", r"(?:\s+\p{L}{2,})+?",
]
PARTS = ["UnicodeScripts", "Whitespace", "BertPreTokenizer", "Punctuation", "Digits"]
NORMALIZERS = ["Lowercase", "NFC", "NFD", "NFKC", "NFKD", "StripAccents"]


def text(draw):
    kinds = [lambda: draw.choice(FEW), lambda: chr(draw.choice(LATE)), lambda: chr(draw.choice(CODES[:4000]))]
    return "".join(draw.choices(kinds, [5, 3, 2])[0]() for _ in range(draw.randint(1, 20)))


def stage(part):
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [part, byte_level]}}


def patches():
    yield {}
    for expression in EXPRESSIONS:
        yield stage({"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False})
    for name in PARTS:
        settings = {"Punctuation": {"behavior": "Isolated"}, "Digits": {"individual_digits": False}}
        yield stage({"type": name, **settings.get(name, {})})
    for name in NORMALIZERS:
        yield {"normalizer": {"type": name}}
    yield {"normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                          "strip_accents": None, "lowercase": True}}


def main():
    with open(os.path.join(HERE, "llama3", "tokenizer.json")) as f:
        file = json.load(f)
    draw, rows = random.Random(16), []
    few = ["".join(draw.choices("aabbc 1", k=12)) for _ in range(20)]
    for patch in patches():
        tok = Tokenizer.from_str(json.dumps({**file, **patch}))
        texts = ["", " ", "  a", "aaaaaaa", "aabab1 b ", *few, *(text(draw) for _ in range(60))]
        encode = [[t, tok.encode(t, add_special_tokens=False).ids, tok.encode(t).ids] for t in texts]
        rows.append({"patch": patch, "encode": encode})
    with gzip.GzipFile(os.path.join(HERE, "late.golden.gz"), "wb", mtime=0) as f:
        f.write(json.dumps(rows, ensure_ascii=False).encode())


if __name__ == "__main__":
    main()
