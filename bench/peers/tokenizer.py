"""Trains a small byte-level BPE tokenizer, since there may be no Hugging Face Hub.

It knows made-up words, of which tools make their prompts, and the texts of the
server that they are measured against (internal/proof/truth/texts.go): each is one token,
as a model's tokens are to its own tokenizer. A tool that counts tokens in the text
of a chunk would otherwise find several in one.

Usage: python tokenizer.py TEXTS.GO FOLDER
"""

import ast
import json
import os
import random
import re
import sys

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

END = "<|endoftext|>"
TEMPLATE = (
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def texts(source):
    """The strings of a Go list, which hold text as it stands in JSON."""
    listed = source.split("string{\n", 1)[1].split("\n}\n", 1)[0]
    strings = re.findall(r'"((?:\\.|[^"\\])*)"|`([^`]*)`', listed)
    return [json.loads('"' + (raw or ast.literal_eval(f'"{quoted}"')) + '"') for quoted, raw in strings]


def words(n):
    draw = random.Random(0)
    syllables = [a + b for a in "bcdfghjklmnprstvwz" for b in "aeiou"]
    return [" " + "".join(draw.choice(syllables) for _ in range(draw.randint(1, 4))) for _ in range(n)]


def train(known):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r" ?[^ ]+| +"), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=8192, special_tokens=[END], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    # What is known comes often enough to be merged whole before anything else.
    tokenizer.train_from_iterator(known * 100_000 + words(100_000), trainer)
    return tokenizer


def main():
    source, folder = sys.argv[1:]
    with open(source, encoding="utf-8") as f:
        known = texts(f.read())
    tokenizer = train(known)
    split = [t for t in known if len(tokenizer.encode(t).ids) != 1]
    if not known or split:
        sys.exit(f"tokenizer.py: {source}: {len(known)} texts, of which these are not one token: {split}")
    os.makedirs(folder, exist_ok=True)
    tokenizer.save(f"{folder}/tokenizer.json")
    with open(f"{folder}/tokenizer_config.json", "w", encoding="utf-8") as f:
        json.dump({"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": END, "eos_token": END, "pad_token": END,
                   "model_max_length": 131072, "clean_up_tokenization_spaces": False, "chat_template": TEMPLATE}, f)


if __name__ == "__main__":
    main()
