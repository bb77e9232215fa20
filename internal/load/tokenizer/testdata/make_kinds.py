"""Trains tokenizers of every kind of model and records what Hugging Face makes of 10 000 texts.

Run: pip install tokenizers==0.23.3 transformers==5.23.0 sentencepiece==0.2.3 protobuf && python make_kinds.py [KIND ...]
Writes kinds/KIND.json.gz, the tokenizer, and kinds/KIND.sums.gz: for each of the
texts in kinds/texts.json.gz a checksum of its ids and of what ids decode to (see
checksum), then the same for the tokenizers that make_golden.py writes; where
another tokenizer is of the same kind (see SAME), for every fifth text. And
kinds/parts.json.gz: other parts put into those tokenizers, each with the
checksums of some of the texts. And kinds/long.json.gz: checksums of long texts.
And kinds/configs.json.gz: tokenizers with a tokenizer_config.json beside them, by transformers.
Training does not give the same tokenizers twice, so all has to be written anew.
"""

import gzip
import io
import json
import os
import random
import sys
import tempfile
import unicodedata
import zlib
from types import SimpleNamespace

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from make_golden import HERE, KINDS as BYTE_LEVEL, characters, corpus, dump, texts, tok

FOLDER = os.path.join(HERE, "kinds")
TEXTS, PART_TEXTS = 10_200, 120


def hexes(s):
    return " ".join(f"{ord(c):X}" for c in s)


def rules():
    """Replacements in the manner of SentencePiece's own, for some blocks."""
    blocks = [(0xA0, 0x250), (0x37A, 0x3D0), (0x0958, 0x0960), (0x1E00, 0x1F00), (0x2000, 0x2150), (0x2460, 0x2500),
              (0x3000, 0x3100), (0x3300, 0x3360), (0xFB00, 0xFB50), (0xFE30, 0xFE70), (0xFF01, 0xFFA0), (0x1D400, 0x1D420)]
    for first, end in blocks:
        for c in map(chr, range(first, end)):
            nfkc, nfd = unicodedata.normalize("NFKC", c), unicodedata.normalize("NFD", c)
            if nfkc != c:
                yield c, nfkc
            if nfd != c and unicodedata.normalize("NFC", nfd) == c:
                yield nfd, nfkc
    for c in "\t\n\r\u1680\u200b\u200e\u2028\u2029\u2581\ufeff\ufffd":
        yield c, " "
    for c in map(chr, [*range(1, 9), 11, *range(14, 32), 127]):
        yield c, ""


def charsmap():
    lines = dict(rules())
    path = os.path.join(FOLDER, "rules.tsv")
    with open(path, "w") as f:
        f.writelines(f"{hexes(a)}\t{hexes(b)}\n" for a, b in sorted(lines.items()))
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c d e f g", "h i j k l m"] * 50), model_writer=out, vocab_size=30,
        normalization_rule_tsv=path, hard_vocab_limit=False, minloglevel=2)
    os.remove(path)
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(out.getvalue())
    return proto.normalizer_spec.precompiled_charsmap


def trained(model, trainer, normalizer=None, pre_tokenizer=None):
    t = Tokenizer(model)
    if normalizer:
        t.normalizer = normalizer
    if pre_tokenizer:
        t.pre_tokenizer = pre_tokenizer
    t.train_from_iterator(corpus(random.Random(5)), trainer)
    return t


BYTES = [f"<0x{b:02X}>" for b in range(256)]


def around(t, before, after):
    single = " ".join([*before, "$A", *after])
    t.post_processor = processors.TemplateProcessing(
        single=single, pair=single + " $B", special_tokens=[(s, t.token_to_id(s)) for s in {*before, *after}])


def metaspace_bpe():
    """BPE as SentencePiece makes it: trained on words, used on whole texts."""
    t = trained(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"),
                trainers.BpeTrainer(vocab_size=1500, special_tokens=["<unk>", "<s>", "</s>"] + BYTES, show_progress=False,
                                    limit_alphabet=160, initial_alphabet=["▁"]),
                pre_tokenizer=pre_tokenizers.Metaspace())
    j = json.loads(t.to_str())
    j["added_tokens"] = j["added_tokens"][:3]
    return j


LLAMA_DECODER = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]


def llama2():
    t = Tokenizer.from_str(json.dumps(metaspace_bpe()))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.pre_tokenizer = None
    t.decoder = decoders.Sequence(LLAMA_DECODER + [decoders.Strip(" ", 1, 0)])
    t.add_tokens([AddedToken("word", normalized=True), AddedToken("<é>", normalized=False)])
    around(t, ["<s>"], [])
    return t


def mistral():
    t = Tokenizer.from_str(json.dumps(metaspace_bpe()))
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    t.decoder = decoders.Sequence(LLAMA_DECODER + [decoders.Strip(" ", 1, 0)])
    t.add_special_tokens(["<|im_start|>", "<|im_end|>", "<tool_call>"])
    around(t, ["<s>"], ["</s>"])
    return t


def gemma():
    t = Tokenizer.from_str(json.dumps(metaspace_bpe()))
    t.normalizer = normalizers.Replace(" ", "▁")
    t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    t.decoder = decoders.Sequence(LLAMA_DECODER)
    t.add_tokens([AddedToken(s, normalized=False) for s in ("\n\n", "\n", "\t", "  ", "   ", "<b>")])
    t.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    around(t, ["<s>"], [])
    return t


def words_bpe():
    """Unknown characters without fallback, fused or not."""
    t = trained(models.BPE(unk_token="[UNK]"), trainers.BpeTrainer(vocab_size=900, special_tokens=["[UNK]"], show_progress=False,
                                                                    limit_alphabet=90),
                normalizers.NFC(), pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits()]))
    return t


def gpt1():
    """The end of a word is marked in its last token."""
    t = trained(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"),
                trainers.BpeTrainer(vocab_size=1200, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False,
                                    limit_alphabet=150),
                normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer())
    t.decoder = decoders.BPEDecoder("</w>")
    return t


def clip():
    t = trained(models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>", continuing_subword_prefix=""),
                trainers.BpeTrainer(vocab_size=1500, special_tokens=["<|startoftext|>", "<|endoftext|>"], end_of_word_suffix="</w>",
                                    show_progress=False, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())),
                normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]),
                pre_tokenizers.Sequence([
                    pre_tokenizers.Split(Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed", invert=True),
                    pre_tokenizers.ByteLevel(add_prefix_space=False)]))
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.RobertaProcessing(("<|endoftext|>", 1), ("<|startoftext|>", 0), False, False)
    return t


def prefix_bpe():
    """Tokens inside a word are marked."""
    t = trained(models.BPE(unk_token="[UNK]", continuing_subword_prefix="##", fuse_unk=True),
                trainers.BpeTrainer(vocab_size=1000, special_tokens=["[UNK]"], continuing_subword_prefix="##", show_progress=False,
                                    limit_alphabet=80),
                normalizers.NFKC(), pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()]))
    t.decoder = decoders.WordPiece("##", cleanup=False)
    return t


def unigram_trainer(size, special, **kw):
    return trainers.UnigramTrainer(vocab_size=size, special_tokens=special, unk_token="<unk>", show_progress=False,
                                   shrinking_factor=0.75, **kw)


def t5():
    t = trained(models.Unigram(), unigram_trainer(1000, ["<pad>", "</s>", "<unk>"]),
                normalizers.Sequence([normalizers.Precompiled(MAP), normalizers.Strip(left=False, right=True),
                                      normalizers.Replace(Regex(" {2,}"), "▁")]),
                pre_tokenizers.Metaspace())
    t.decoder = decoders.Metaspace()
    t.add_special_tokens([f"<extra_{i}>" for i in range(5)] + ["<mask>"])
    around(t, [], ["</s>"])
    return t


def xlmr():
    t = trained(models.Unigram(), unigram_trainer(1200, ["<s>", "<pad>", "</s>", "<unk>"]),
                normalizers.Precompiled(MAP), pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]))
    t.decoder = decoders.Metaspace()
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=True)])
    around(t, ["<s>"], ["</s>"])
    return t


def albert():
    t = trained(models.Unigram(), unigram_trainer(800, ["<pad>", "<unk>", "[CLS]", "[SEP]"]),
                normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(),
                                      normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Nmt()]),
                pre_tokenizers.Metaspace(prepend_scheme="first"))
    t.decoder = decoders.Metaspace(prepend_scheme="first")
    around(t, ["[CLS]"], ["[SEP]"])
    return t


def unigram_bytes():
    """A unigram that falls back to bytes and sees whole texts."""
    t = trained(models.Unigram(), unigram_trainer(1000, ["<unk>", "<s>", "</s>"] + BYTES, max_piece_length=8),
                normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()]), pre_tokenizers.Metaspace())
    j = json.loads(t.to_str())
    j["added_tokens"] = j["added_tokens"][:3]
    j["model"]["byte_fallback"] = True
    t = Tokenizer.from_str(json.dumps(j))
    t.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(" ", "▁")])
    t.pre_tokenizer = None
    t.decoder = decoders.Sequence(LLAMA_DECODER)
    return t


def bert_like(size, normalizer):
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    t = trained(models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer(vocab_size=size, special_tokens=special,
                                                                               show_progress=False, limit_alphabet=200),
                normalizer, pre_tokenizers.BertPreTokenizer())
    t.decoder = decoders.WordPiece()
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return t


def bert():
    return bert_like(1500, normalizers.BertNormalizer(lowercase=True))


def bert_cased():
    t = bert_like(1000, normalizers.BertNormalizer(lowercase=False, strip_accents=None))
    t.decoder = decoders.WordPiece(cleanup=False)
    t.add_tokens([AddedToken("word", single_word=True), AddedToken("two words", normalized=True), AddedToken("CAFÉ", rstrip=True)])
    around(t, ["[CLS]"], ["[SEP]"])
    return t


def word_level():
    t = trained(models.WordLevel(unk_token="?"), trainers.WordLevelTrainer(vocab_size=600, special_tokens=["?"], show_progress=False),
                None, pre_tokenizers.Whitespace())
    return t


KINDS = [llama2, mistral, gemma, words_bpe, gpt1, clip, prefix_bpe, t5, xlmr, albert, unigram_bytes, bert, bert_cased, word_level]


SAME = ["qwen", "deepseek2", "deepseek3", "roberta", "mistral", "gemma", "gpt1", "clip", "prefix_bpe", "xlmr", "albert", "unigram_bytes", "bert_cased"]
LONG = ["gpt2", "llama2", "clip", "t5", "unigram_bytes", "bert"]


def parts():
    """Parts to put into a tokenizer, by its name."""
    sp = lambda *stages: {"type": "Sequence", "pretokenizers": list(stages)}
    ns = lambda *steps: {"type": "Sequence", "normalizers": list(steps)}
    ds = lambda *steps: {"type": "Sequence", "decoders": list(steps)}
    meta = lambda scheme, split=True, **k: {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split, **k}
    plain = lambda *names: [{"type": n} for n in names]
    strip = lambda left, right: {"type": "Strip", "strip_left": left, "strip_right": right}
    replace = lambda pattern, content: {"type": "Replace", "pattern": pattern, "content": content}
    precompiled = json.loads(normalizers.Precompiled(MAP).__getstate__())
    flagged = [tok("word", single_word=True), tok("pad", lstrip=True, rstrip=True), tok("two words", normalized=True),
               tok("CAFÉ", normalized=True, special=True), tok("<mask>", lstrip=True, special=True), tok("   "),
               tok("<|im_start|>", special=True), tok("<|im_end|>", normalized=True), tok("<é>", normalized=True), tok("été", rstrip=True)]
    for scheme in ("always", "first", "never"):
        for split in (True, False):
            for name in ("llama2", "t5"):
                for normalizer in (None, ns(strip(True, False)), ns(replace({"Regex": " {2,}"}, "▁"), precompiled),
                                   ns({"type": "Prepend", "prepend": "▁"}, {"type": "NFKD"}), {"type": "Nmt"}):
                    yield name, {"pre_tokenizer": meta(scheme, split), "normalizer": normalizer, "added_tokens": flagged}
            yield "t5", {"pre_tokenizer": sp(*plain("WhitespaceSplit"), meta(scheme, split)), "decoder": meta(scheme)}
            yield "llama2", {"pre_tokenizer": sp(*plain("Whitespace"), meta(scheme, split)), "normalizer": None, "decoder": None}
    for stage in plain("BertPreTokenizer", "Whitespace", "WhitespaceSplit", "Punctuation", "FixedLength") + [
            {"type": "FixedLength", "length": 2}, {"type": "CharDelimiterSplit", "delimiter": "水"}, {"type": "Digits", "individual_digits": True},
            {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
            sp({"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}, {"type": "FixedLength", "length": 3}),
            sp(meta("first"), *plain("Punctuation"))] + [
            {"type": "Punctuation", "behavior": b} for b in ("Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous")]:
        for name in ("bert", "words_bpe", "unigram_bytes", "clip", "gpt1"):
            yield name, {"pre_tokenizer": stage}
    bert = {"type": "BertNormalizer", "clean_text": False, "handle_chinese_chars": False, "strip_accents": None, "lowercase": False}
    for step in plain("Lowercase", "StripAccents", "Nmt", "NFD", "ByteLevel") + [
            strip(True, True), strip(False, True), precompiled, replace({"String": "水"}, ""), replace({"Regex": "[0-9]+"}, "N"),
            {**bert, "clean_text": True}, {**bert, "handle_chinese_chars": True}, {**bert, "strip_accents": True}, {**bert, "lowercase": True},
            {**bert, "lowercase": True, "strip_accents": False}, ns(strip(True, True), {"type": "Prepend", "prepend": "x "})]:
        for name in ("mistral", "bert_cased", "xlmr"):
            if name == "mistral" and step.get("type") == "ByteLevel":
                continue
            yield name, {"normalizer": step, "added_tokens": flagged}
    for name in ("llama2", "bert", "t5", "clip", "gpt1"):
        for decoder in [None, ds(), {"type": "Fuse"}, {"type": "WordPiece", "prefix": "##", "cleanup": True}, {"type": "BPEDecoder", "suffix": "</w>"},
                        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}, meta("always"), meta("never"),
                        {"type": "CTC", "pad_token": "a", "word_delimiter_token": "▁", "cleanup": True},
                        ds(replace({"Regex": "▁+"}, " "), {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 2, "stop": 0}),
                        ds({"type": "Fuse"}, {"type": "Strip", "content": "▁", "start": 1, "stop": 0}, replace({"String": "▁"}, " ")),
                        ds({"type": "ByteFallback"}, {"type": "Strip", "content": "▁", "start": 1, "stop": 0}, meta("always"))]:
            yield name, {"decoder": decoder}
    for model in ({"fuse_unk": True}, {"unk_token": None}, {"ignore_merges": True}):
        yield "words_bpe", {"model": model}
        yield "llama2", {"model": {**model, "byte_fallback": False}}
        yield "llama2", {"model": model}
        yield "gpt1", {"model": model}
    yield "bert", {"model": {"max_input_chars_per_word": 4}}
    yield "bert", {"model": {"continuing_subword_prefix": ""}}
    yield "t5", {"model": {"byte_fallback": True}}
    yield "unigram_bytes", {"model": {"byte_fallback": False}}


def long_texts():
    """Texts in which a way to encode that is not linear shows; the test makes the same."""
    yield from ("abcdefghij" * 10_000, "水" * 30_000, " " * 50_000 + "x", "e\u0301" * 20_000, "▁" * 30_000, "🙂" * 20_000, "a1." * 20_000)
    yield "".join(chr(97 + n % 26) for n in random_ids(28, 2**20) * 2000)


def random_ids(i, top):
    """Ids to decode, the same here and in the test that reads the checksums."""
    state, ids = i + 1, []
    for _ in range(i % 29):
        state = (state * 1664525 + 1013904223) % 2**32
        ids.append((state >> 8) % top)
    return ids


def checksum(t, i, s, top):
    ids, special, odd = t.encode(s, add_special_tokens=False).ids, t.encode(s).ids, random_ids(i, top)
    fields = [",".join(map(str, ids)), ",".join(map(str, special))]
    fields += [t.decode(x, skip_special_tokens=skip) for x in (special, odd) for skip in (False, True)]
    return zlib.crc32("\0".join(fields).encode())


def checksums(t, samples):
    top = t.get_vocab_size() + 20
    return [checksum(t, i, s, top) for i, s in enumerate(samples)]


def write(name, data):
    with open(os.path.join(FOLDER, name), "wb") as f:
        with gzip.GzipFile(fileobj=f, mode="wb", mtime=0, filename="") as z:
            z.write(data)


def write_sums(name, t, samples):
    samples = samples[::5] if name in SAME else samples
    write(name + ".sums.gz", b"".join(n.to_bytes(4, "little") for n in checksums(t, samples)))


def read_json(name):
    with gzip.open(os.path.join(FOLDER, name + ".json.gz")) as f:
        return json.load(f)


def load(name):
    path = os.path.join(HERE, name, "tokenizer.json")
    return Tokenizer.from_file(path) if os.path.exists(path) else Tokenizer.from_str(json.dumps(read_json(name)))


def put(file, part):
    """The file with some fields replaced; of the model, some of its fields."""
    part = dict(part)
    model = {**file["model"], **part.pop("model", {})}
    return {**file, **part, "model": model}


def all_parts(samples):
    files = {}
    for name, part in parts():
        file = files.setdefault(name, read_json(name))
        t = Tokenizer.from_str(json.dumps(put(file, part)))
        yield {"kind": name, "part": part, "sums": checksums(t, samples)}


def configs():
    """Contents of tokenizer_config.json, by the name of a tokenizer."""
    clean, insist = "clean_up_tokenization_spaces", "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"
    for name, bos in (("bert", "[CLS]"), ("t5", None), ("llama2", "<s>"), ("gpt2", "<|endoftext|>")):
        for flags in ({}, {clean: True}, {clean: False, insist: True}, {clean: True, insist: True}):
            yield name, {"bos_token": bos, "unk_token": "<unk>" if name != "bert" else "[UNK]", **flags}
    yield "xlmr", {clean: True, "bos_token": {"__type": "AddedToken", "content": "<s>", "lstrip": False, "rstrip": False, "normalized": False,
                                              "single_word": False}, "add_bos_token": False, "mask_token": "<mask>"}


def all_configs(samples):
    from transformers import PreTrainedTokenizerFast

    class Whole:
        """A tokenizer of transformers with the methods of one of tokenizers."""

        def __init__(self, t):
            self.t = t

        def encode(self, s, add_special_tokens=True):
            return SimpleNamespace(ids=self.t.encode(s, add_special_tokens=add_special_tokens))

        def decode(self, ids, skip_special_tokens):
            return self.t.decode(ids, skip_special_tokens=skip_special_tokens)

        def get_vocab_size(self):
            return len(self.t)

    for name, config in configs():
        with tempfile.TemporaryDirectory() as folder:
            load(name).save(os.path.join(folder, "tokenizer.json"))
            with open(os.path.join(folder, "tokenizer_config.json"), "w") as f:
                json.dump({"tokenizer_class": "PreTrainedTokenizerFast", **config}, f)
            t = PreTrainedTokenizerFast.from_pretrained(folder)
            yield {"kind": name, "config": config, "bos": t.bos_token or "", "special_ids": sorted(t.all_special_ids),
                   "sums": checksums(Whole(t), samples)}


def main(names):
    global MAP
    os.makedirs(FOLDER, exist_ok=True)
    samples = texts(random.Random(11), TEXTS, characters())
    MAP = charsmap()
    write("texts.json.gz", dump(samples))
    for make in KINDS:
        if not names or make.__name__ in names:
            t = make()
            write(make.__name__ + ".json.gz", t.to_str().encode())
            write_sums(make.__name__, t, samples)
    for make in BYTE_LEVEL:
        if not names or make.__name__ in names:
            write_sums(make.__name__, load(make.__name__), samples)
    if not names or "long" in names:
        write("long.json.gz", dump({name: checksums(load(name), list(long_texts())) for name in LONG}))
    if not names or "configs" in names:
        write("configs.json.gz", dump(list(all_configs(samples[:: TEXTS // PART_TEXTS]))))
    if not names or "parts" in names:
        write("parts.json.gz", dump(list(all_parts(samples[:: TEXTS // PART_TEXTS]))))


if __name__ == "__main__":
    main(sys.argv[1:])
