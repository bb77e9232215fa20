"""Trains the tokenizers in this folder and records what Hugging Face makes of texts.

Run: pip install tokenizers==0.23.3 transformers==5.23.0 && python make_golden.py
Writes NAME/tokenizer.json and NAME.golden.gz for each kind of tokenizer,
variants.golden.gz for one of them with other parts put in, configs.golden.gz for
another with a tokenizer_config.json, and forms.golden.gz for normal forms.
Characters are of Unicode 14 or older (those of Python 3.11), which every library
here knows.
"""

import gzip
import json
import os
import random
import sys
import tempfile
import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = os.path.dirname(os.path.abspath(__file__))

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
DEEPSEEK3 = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
             r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")

SENTENCES = """The pump runs quietly, and nobody on the lower deck hears it.
We've measured the queue twice; it's longer than they'd said, isn't it?
Don't count the tokens by hand: I'll do it, she'll check it, and you're done.
HE'S RIGHT, THEY'RE LATE, WE'LL SEE, I'M HERE, YOU'D KNOW, IT'S TRUE.
Le débit mesuré à l'étage supérieur dépasse déjà 1 200 litres par heure.
Die Durchflussmenge wächst, während die Straßenbahn über die Brücke fährt.
El niño midió la señal mañana y noche; ¿quién lo habría pensado?
A medição começou às três, e o coração da máquina não parou.
Il perché è semplice: la città è più fredda, però l'acqua scorre.
Řeka tiše teče pod mostem, žlutý kůň pije a příliš spěchá.
Łódź płynie wzdłuż brzegu, gdzie rośnie gęsta trzcina.
Đường ống dài hơn chúng tôi nghĩ, nhưng nước vẫn chảy đều.
İstanbul'da ölçüm günü yağmur yağıyordu, ışık azdı.
Давление в трубе растёт медленно, но верно, и прибор это видит.
Вода тече повільно, а їжак п'є з калюжі біля ґанку.
Το νερό κυλάει αργά και το όργανο δείχνει την πίεση.
מד הלחץ מראה שהמים זורמים לאט מאוד היום.
يقيس الجهاز سرعة الماء في الأنبوب كل دقيقة تقريبًا.
दबाव धीरे-धीरे बढ़ रहा है और यंत्र उसे दिखाता है।
জল ধীরে বইছে, আর যন্ত্রটি তা মাপছে।
நீர் மெதுவாக ஓடுகிறது, கருவி அதை அளக்கிறது.
เครื่องวัดแสดงว่าน้ำไหลช้ามากในวันนี้
水流得很慢，但是仪器每分钟都记录一次压力。
今天的測量結果比昨天好，大家都很高興。
水はゆっくり流れ、計器は毎分その圧力をキロパスカルで記録する。
ポンプは静かに動いているので、だれも気づきません。
물은 천천히 흐르고 계기는 매분 압력을 기록한다.
წყალი ნელა მიედინება და ხელსაწყო ზომავს წნევას.
Ջուրը դանդաղ է հոսում, և սարքը չափում է ճնշումը։
ውሃው በቀስታ ይፈሳል፤ መሣሪያውም ግፊቱን ይለካል።""".split("\n")

CODE = r'''func flow(p Pipe) (float64, error) {
	if p.Area <= 0 { return 0, errors.New("no area") }
	return p.Speed * p.Area, nil // m^3/s
}
def drain(tank, *, rate=0.25):
    """Empties tank; returns [(t, level), ...]."""
    while tank.level > 1e-9:
        yield tank.step(rate), tank.level
for (let i = 0; i < gauges.length; ++i) { sum += gauges[i]?.value ?? 0; }
SELECT id, AVG(kpa) AS mean FROM gauge WHERE day >= '2024-01-31' GROUP BY id;
<div class="gauge"><span data-k="p1">101.325&nbsp;kPa</span></div>
{"gauge": [1, 2.5, -3e-7], "ok": true, "unit": null}
$ curl -s http://localhost:8000/v1/flow?id=42 | jq '.[] | .kpa' >> out.txt
#include <stdio.h>
int main(void) { printf("%5.2f\n", 3.14159); return 0; }'''.split("\n")

EMOJI = ["🙂", "👍🏽", "👩‍🔧", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇫🇷🇯🇵", "❤️", "1️⃣", "☕", "🧑🏿‍🚀", "🀄", "©", "™"]
SPACES = [" ", "  ", "   ", " " * 17, "\t", "\t\t", "\n", "\n\n", "\r\n", "\r\n\r\n", " \n ", "\x0b", "\x0c", "\x85", "\xa0",
          "\u1680", "\u180e", "\u2000", "\u2003", "\u2009", "\u200a", "\u200b", "\u2028", "\u2029", "\u202f", "\u205f",
          "\u3000", "\ufeff", " \u3000 ", "\n \t"]
ODD = ["\ufffd", "\ufffd\ufffd", "\x00", "\x07", "\x1b[0m", "\x7f", "\u200d", "\u0301", "e\u0301", "\u1e9b\u0323", "가", "각",
       "ſ", "K", "Å", "Ω", "ﬁ", "ﬆ", "ß", "ŉ", "İ", "ı", "'ſ", "'S", "'LL", "'ſ s", "’s", "ʼn", "Ⅷ", "½", "²³", "①②", "٣٤٥",
       "४५६", "１２３", "𝟘𝟙", "〇", "一二三", "\U0001d400", "𐐷", "\U0010ffff", "\ue000", "\u0344", "q\u0307\u0323",
       "q\u0323\u0307", "ḍ̇", "a" + "\u0300\u0316" * 20, "o" + "\u0328\u0302" * 35, "\u0345\u0301\u0300", "≠", "\u226e",
       "\u0915\u093c", "\u0958", "豈", "㌀", "ﷺ", "―", "…", "«»", "\u2010-\u2015", "_", "__init__", "a_b", "x²", "½kg"]
MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "aab", "abaab", "<|begin_of_text|>", "<|eot_id|>",
         "<mask>", "<s>", "</s>", " <mask> ", "<|im_start", "<|im_end|", "<tool_call", "word", "swordfish", "Word", "WORD",
         "  pad  ", "pad", "<é>", "<e\u0301>", "caf\u00e9", "cafe\u0301", "CAFÉ", "two words", "two  words", "\u00e9t\u00e9",
         "<|end|>", "<|end|>ing", "<<", "<", "   ", "\t\t\t"]


def characters():
    """Assigned characters, surrogates and private use left out."""
    skipped = {"Cn", "Cs", "Co"}
    return [c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in skipped]


def corpus(r):
    words = [w for s in SENTENCES for w in s.split()]
    for _ in range(1500):
        yield r.choice(SENTENCES)
        yield " ".join(r.choices(words, k=r.randrange(3, 20))) + r.choice([".", "!", "?", "…", " ", "\n"])
        yield "\n".join(r.choices(CODE, k=r.randrange(1, 4)))
        yield " ".join(str(r.randrange(10 ** r.randrange(1, 9))) for _ in range(3))
        yield r.choice(EMOJI) + r.choice(SPACES) + r.choice(EMOJI)


def bits(r, letters):
    """One random stretch of a text."""
    return r.choice([
        lambda: r.choice(SENTENCES),
        lambda: r.choice(SENTENCES)[r.randrange(20):][:r.randrange(1, 30)],
        lambda: r.choice(CODE),
        lambda: r.choice(SPACES),
        lambda: "".join(r.choices(SPACES, k=r.randrange(2, 6))),
        lambda: r.choice(EMOJI),
        lambda: r.choice(ODD),
        lambda: r.choice(ODD) + r.choice(ODD),
        lambda: r.choice(MARKS),
        lambda: r.choice(MARKS) + r.choice(MARKS),
        lambda: r.choice(SPACES) + r.choice(MARKS) + r.choice(SPACES),
        lambda: str(r.randrange(10 ** r.randrange(1, 12))),
        lambda: "".join(r.choices(letters, k=r.randrange(1, 8))),
        lambda: "".join(chr(r.randrange(32, 127)) for _ in range(r.randrange(1, 20))),
        lambda: r.choice(["ab", "aaaa", "la", "=", "-", "水", "é", "🙂"]) * r.randrange(1, 40),
    ])()


def texts(r, n, letters):
    fixed = ["", " ", "a", "\n"] + SENTENCES + CODE + EMOJI + SPACES + ODD + MARKS
    fixed += ["x" * 3000, "".join(r.choices("abcdefgh", k=3000)), " " * 700 + "x", "水" * 500, "'s" * 200]
    rest = ("".join(bits(r, letters) for _ in range(r.randrange(1, 7))) for _ in range(n - len(fixed)))
    return fixed + list(rest)


def train(vocab_size, pre_tokenizer, normalizer=None, special=()):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizer
    if normalizer:
        t.normalizer = normalizer
    t.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, special_tokens=list(special), show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    t.train_from_iterator(corpus(random.Random(vocab_size)), trainer)
    return t


def byte_level():
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def isolated(*patterns):
    return [pre_tokenizers.Split(Regex(p), "isolated") for p in patterns]


def gpt2():
    """In the form of the oldest files: no model type, merges as strings."""
    t = train(1600, pre_tokenizers.ByteLevel(add_prefix_space=False))
    t.add_tokens([AddedToken("<|endoftext|>", special=True, normalized=True)])
    t.post_processor = processors.ByteLevel()
    j = json.loads(t.to_str())
    model = {k: j["model"][k] for k in ("dropout", "fuse_unk", "vocab")}
    model.update(unk_token="", continuing_subword_prefix="", end_of_word_suffix="")
    model["merges"] = ["#version: 0.2"] + [" ".join(m) for m in j["model"]["merges"]]
    return {**j, "model": model}


def llama3():
    t = train(2000, pre_tokenizers.Sequence(isolated(LLAMA3) + [byte_level()]))
    names = ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"] + [f"<|reserved_{i}|>" for i in range(20)]
    t.add_special_tokens(names)
    bos = t.token_to_id(names[0])
    template = processors.TemplateProcessing(single=f"{names[0]} $A", pair=f"{names[0]} $A {names[0]}:1 $B:1",
                                             special_tokens=[(names[0], bos)])
    t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    j = json.loads(t.to_str())
    j["model"]["ignore_merges"] = True
    return j


def qwen():
    t = train(2200, pre_tokenizers.Sequence(isolated(QWEN) + [byte_level()]), normalizers.NFC())
    t.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    t.add_tokens([AddedToken(s, normalized=False) for s in ("<tool_call>", "</tool_call>")])
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    return json.loads(t.to_str())


def deepseek2():
    patterns = [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-\ud7ff]+"]
    stages = isolated(*patterns) + [pre_tokenizers.Digits(individual_digits=True), byte_level()]
    t = train(1700, pre_tokenizers.Sequence(stages), special=["<s>", "</s>"])
    t.add_tokens([AddedToken("<|end|>", special=True, normalized=True), AddedToken("word", normalized=True)])
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A $B </s>",
                                                     special_tokens=[("<s>", 0), ("</s>", 1)])
    return json.loads(t.to_str())


def deepseek3():
    stages = isolated(r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", DEEPSEEK3) + [byte_level()]
    t = train(1800, pre_tokenizers.Sequence(stages), normalizers.Sequence([]))
    t.add_special_tokens(["<s>", "</s>"])
    t.add_tokens([AddedToken("<|im_end|>", special=False, normalized=True), AddedToken("pad", rstrip=True, special=True)])
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    t.decoder = decoders.Sequence([decoders.ByteLevel()])
    return json.loads(t.to_str())


def roberta():
    t = train(1500, pre_tokenizers.ByteLevel(add_prefix_space=True), special=["<s>", "</s>"])
    t.add_tokens([AddedToken("<mask>", lstrip=True, special=True), AddedToken("word", single_word=True)])
    t.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    return json.loads(t.to_str())


KINDS = [gpt2, llama3, qwen, deepseek2, deepseek3, roberta]


def tok(content, **flags):
    base = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return {"id": 0, "content": content, **base, **flags}


def variants():
    """Replacements for parts of llama3/tokenizer.json."""
    last = json.loads(byte_level().__getstate__())
    sequence = lambda *stages: {"type": "Sequence", "pretokenizers": [*stages, last]}
    split = lambda pattern, behavior, invert=False: {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}
    patterns = [{"Regex": r"\s+"}, {"String": "a"}, {"Regex": r"(?=[A-Z])"}, {"Regex": "[aeiou]*"}, {"Regex": "e|(?<=e)"}]
    for behavior in ("Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"):
        for pattern in patterns:
            for invert in (False, True):
                yield {"pre_tokenizer": sequence(split(pattern, behavior, invert))}
    for source in (O200K, r"\w+|\W", r" ?[^(\s|[.,!?…。，、।۔،])]+", r"'(?i:[sdmt]|ll|ve|re)|\p{L}++|\S", r"\p{Han}+|[\p{Hiragana}\p{Katakana}]+?",
                   r"(?<=[a-z])(?=[A-Z])|(?<!\p{N})\.", r"[^\s\d_]+", r"(a|b|(?:cd))+|(?:x{2,3}y)?[\x20-\x2f\u00e9\t-]", "\\{[a-z:]*?\\}|(?>a+)b|.?z"):
        yield {"pre_tokenizer": sequence(split({"Regex": source}, "Isolated"))}
    for digits in (False, True):
        yield {"pre_tokenizer": sequence({"type": "Digits", "individual_digits": digits})}
        yield {"pre_tokenizer": {**last, "use_regex": digits, "add_prefix_space": True}}
        yield {"pre_tokenizer": sequence(split({"Regex": LLAMA3}, "Isolated"), {"type": "Digits", "individual_digits": digits})}
    forms = [{"type": n} for n in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase")]
    forms += [{"type": "Prepend", "prepend": "> "}, {"type": "Replace", "pattern": {"String": " "}, "content": "__"},
              {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
              {"type": "Sequence", "normalizers": [{"type": "NFKD"}, {"type": "Lowercase"}]}]
    flagged = [tok("word", single_word=True), tok("pad", lstrip=True, rstrip=True), tok("two words", normalized=True),
               tok("CAFÉ", normalized=True, special=True), tok("<mask>", lstrip=True, special=True), tok("   "),
               tok("<|im_start|>", special=True), tok("<|im_start", normalized=True), tok("<é>", normalized=True), tok("été"),
               tok("Ġ"), tok("\u0301"), tok(""), tok("a"), tok("<|end|>", rstrip=True, single_word=True)]
    for form in [None] + forms:
        yield {"normalizer": form, "added_tokens": flagged}
    small = {c: i for i, c in enumerate(["Ġ", "a", "b", "c", "ab", "abc", "aa", "x y", "<s>"])}
    yield {"model": {"type": "BPE", "vocab": small, "merges": [["a", "b"], ["a", "a"], ["ab", "c"], ["a", "b"]]},
           "added_tokens": [tok("<s>", special=True), tok("new"), tok("Ġa", special=True)], "post_processor": None}
    yield {"post_processor": {"type": "TemplateProcessing", "single": [
        {"SpecialToken": {"id": "x", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "y", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"x": {"id": "x", "ids": [5, 6], "tokens": ["a", "b"]}, "y": {"id": "y", "ids": [7], "tokens": ["c"]}}}}


def encodings(t, samples):
    for s in samples:
        yield [s, t.encode(s, add_special_tokens=False).ids, t.encode(s).ids]


def decodings(t, r, n):
    top = t.get_vocab_size() + 20
    for _ in range(n):
        ids = [r.randrange(max(0, r.choice([0, top - 60])), top) for _ in range(r.randrange(1, 30))]
        yield [ids, t.decode(ids, skip_special_tokens=False), t.decode(ids, skip_special_tokens=True)]


def record(t, r, n, letters):
    return {"vocab_size": t.get_vocab_size(with_added_tokens=False), "num_special": t.num_special_tokens_to_add(False),
            "special_ids": sorted(i for i, a in t.get_added_tokens_decoder().items() if a.special),
            "encode": list(encodings(t, texts(r, n, letters) if n > 300 else r.sample(texts(r, 500, letters), n))),
            "decode": list(decodings(t, r, n // 4))}


def configs():
    """Contents of tokenizer_config.json for qwen/tokenizer.json."""
    flags = {"lstrip": False, "rstrip": False, "single_word": False, "normalized": False}
    token = lambda s, **k: {"__type": "AddedToken", "content": s, **flags, **k}
    plain = lambda s, **k: {"content": s, "special": False, **flags, **k}
    yield {}
    yield {"bos_token": None, "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "unk_token": None, "add_bos_token": False,
           "additional_special_tokens": ["<|im_start|>", "<|im_end|>"], "clean_up_tokenization_spaces": False}
    yield {"eos_token": token("<|im_end|>"), "mask_token": token("<mask>", lstrip=True), "cls_token": token("pad", rstrip=True)}
    yield {"unk_token": "<s>", "bos_token": "</s>", "pad_token": "word", "extra_special_tokens": ["<|end|>", "<|im_end|>"]}
    yield {"eos_token": "<tool_call>", "sep_token": "the", "add_eos_token": True}
    yield {"eos_token": "<|im_end|>", "image_token": "<é>", "extra_special_tokens": {"video_token": "été", "audio_token": "pad"}}
    yield {"eos_token": "</tool_call>", "added_tokens_decoder": {
        "2203": plain("word", single_word=True), "2205": plain("pad", special=True), "2200": plain("<|endoftext|>", lstrip=True)}}


def with_config(directory, config, texts):
    from transformers import PreTrainedTokenizerFast

    with open(os.path.join(directory, "tokenizer_config.json"), "w") as f:
        json.dump({"tokenizer_class": "PreTrainedTokenizerFast", **config}, f)
    t = PreTrainedTokenizerFast.from_pretrained(directory)
    rows = [[s, t.encode(s, add_special_tokens=False), t.encode(s)] for s in texts]
    ids = [list(range(len(t) - k, len(t) + 1)) for k in (5, 9, 40)]
    return {"patch": config, "vocab_size": t.vocab_size, "num_special": t.num_special_tokens_to_add(),
            "special_ids": sorted(t.all_special_ids), "encode": rows,
            "decode": [[i, t.decode(i), t.decode(i, skip_special_tokens=True)] for i in ids]}


def all_configs(file):
    texts = MARKS + [f"the {a}  {b}{c} the" for a in MARKS for b, c in zip(MARKS[3:], MARKS[7:])][::37]
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "tokenizer.json"), "wb") as f:
            f.write(dump(file))
        return [with_config(directory, config, texts) for config in configs()]


def forms(r, letters, n):
    """Rows of a text in itself, NFC, NFD, NFKC and NFKD: marks on bases, few or many."""
    marks = [c for c in letters if unicodedata.combining(c)]
    bases = [c for c in letters if unicodedata.decomposition(c)] + list("aeiouqAO가각\u0915\u1100\u1161\u11a8")
    ways = [getattr(normalizers, w)() for w in ("NFC", "NFD", "NFKC", "NFKD")]
    for _ in range(n):
        length = r.choice([1, 2, 3, 4, 6, 12, 40])
        s = "".join(r.choice(marks if r.random() < 0.8 else bases) for _ in range(length))
        s += r.choice(["", "\U00011935\U00011930"])
        yield [s] + [w.normalize_str(s) for w in ways]


def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def write_golden(name, value):
    with open(os.path.join(HERE, name + ".golden.gz"), "wb") as f:
        with gzip.GzipFile(fileobj=f, mode="wb", mtime=0, filename="") as z:
            z.write(dump(value))


def main(texts_per_kind=420, texts_per_variant=60, seed=1):
    letters = characters()
    files = {}
    for make in KINDS:
        name = make.__name__
        files[name] = make()
        os.makedirs(os.path.join(HERE, name), exist_ok=True)
        with open(os.path.join(HERE, name, "tokenizer.json"), "wb") as f:
            f.write(dump(files[name]) + b"\n")
        t = Tokenizer.from_str(json.dumps(files[name]))
        write_golden(name, record(t, random.Random(seed), texts_per_kind, letters))
    rows = []
    for i, patch in enumerate(variants()):
        t = Tokenizer.from_str(json.dumps({**files["llama3"], **patch}))
        rows.append({"patch": patch, **record(t, random.Random(seed + i), texts_per_variant, letters)})
    write_golden("variants", rows)
    write_golden("configs", all_configs(files["qwen"]))
    write_golden("forms", list(forms(random.Random(seed), letters, 2 * texts_per_kind)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
