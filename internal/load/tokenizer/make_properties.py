"""Asks Hugging Face's tokenizers what it knows of each character, and writes properties.txt.

Run: pip install tokenizers==0.23.3 unicodedata2==16.0.0 && python make_properties.py

The library is made of parts with Unicode data of different age. Every property is asked of the
part that uses it, code point by code point. Only the version in the head of the file is from
elsewhere: it is that of the data of unicodedata2, with which the general categories must agree.
"""

import os
import struct

import tokenizers
import unicodedata2
from tokenizers import Regex, normalizers, pre_tokenizers

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "properties.txt")
CODES = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
TEXT = "".join(map(chr, CODES))

CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co".split()

SCRIPTS = """Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki
Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian
Common Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan
Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Garay Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi
Gurmukhi Gurung_Khema Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited
Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi
Khitan_Small_Script Khmer Khojki Khudawadi Kirat_Rai Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian
Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui
Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari
New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Ol_Onal Old_Hungarian Old_Italic Old_North_Arabian
Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene
Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting
Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Sunuwar Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet
Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Todhri Toto Tulu_Tigalari Ugaritic Vai Vithkuqi
Wancho Warang_Citi Yezidi Yi Zanabazar_Square""".split()


def expression(items):
    """The characters of a class of Oniguruma."""
    return set(map(ord, normalizers.Replace(Regex(f"[^{items}]+"), "").normalize_str(TEXT)))


def splits(pre_tokenizer):
    """The characters that are split from letters around them."""
    return {c for c in CODES if len(pre_tokenizer.pre_tokenize_str(f"a{chr(c)}a")) > 1}


def dropped(normalizer):
    return {c for c in CODES if normalizer.normalize_str(chr(c)) == ""}


def words():
    whitespace = pre_tokenizers.Whitespace()
    return {c for c in CODES if len(whitespace.pre_tokenize_str("a" + chr(c))) == 1} - splits(whitespace)


def bert(**settings):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**off, **settings})


def byte_map():
    """A map of SentencePiece (a trie of Darts-clone) in which any text begins with a key: an "a"
    becomes X, other first bytes P. What it replaces is the whole cluster."""
    units = [0] * 1024
    units[0] = 256 << 10
    for byte in range(1, 256):
        units[256 + byte] = byte | 1 << 8 | 768 << 10
        units[512 + byte] = 1 << 31 | (2 if byte == ord("a") else 0)
    data = struct.pack("<I", 4 * len(units)) + struct.pack(f"<{len(units)}I", *units) + b"P\0X\0"
    return normalizers.Precompiled(data)


def clusters():
    precompiled = byte_map()
    extend = {c for c in CODES if c > 0x7F and precompiled.normalize_str("a" + chr(c)) == "X"}
    prepend = {c for c in CODES if c > 0x7F and precompiled.normalize_str(chr(c) + "a") == "P"}
    return extend, prepend


def scripts():
    """The scripts of UnicodeScripts, by the first character of each, and those that go with any
    other: pairs are split where the script changes."""
    split = pre_tokenizers.UnicodeScripts()

    def same(a, b):
        return len(split.pre_tokenize_str(chr(a) + chr(b))) == 1

    runs, neutral, last = [], set(), None
    for c in CODES:
        if not split.pre_tokenize_str(chr(c)):
            neutral.add(c)
        elif last is not None and c == last + 1 and same(last, c):
            runs[-1].append(c)
            last = c
        else:
            runs.append([c])
            last = c
    found = []
    for run in runs:
        for members in found:
            if same(min(members), run[0]):
                members.update(run)
                break
        else:
            found.append(set(run))
    return neutral, found


def lower_case():
    """The characters of other case by how far away their lower case is."""
    lower, far = normalizers.Lowercase(), {}
    for c in CODES:
        to = lower.normalize_str(chr(c))
        if len(to) == 1 and ord(to) != c:
            far.setdefault(ord(to) - c, set()).add(c)
    return far


def ranges(members, steps):
    """Ranges with a step of one or, where wanted, two."""
    out, rest = [], sorted(members)
    while rest:
        step = 2 if steps and len(rest) > 2 and rest[1] - rest[0] == 2 == rest[2] - rest[1] else 1
        n = 1
        while n < len(rest) and rest[n] - rest[n - 1] == step:
            n += 1
        first, last, rest = rest[0], rest[n - 1], rest[n:]
        out.append(f"{first:x}" if n == 1 else f"{first:x}-{last:x}" + ("/2" if step == 2 else ""))
    return " ".join(out)


def properties():
    for name in CATEGORIES:
        members = expression(rf"\p{{{name}}}")
        known = {c for c in CODES if unicodedata2.category(chr(c)) == name}
        if members != known:
            raise SystemExit(f"{name} is not that of Unicode {unicodedata2.unidata_version}")
        yield name, members
    for name in SCRIPTS:
        yield name, expression(rf"\p{{{name}}}")
    yield "regex word", expression(r"\w")
    yield "word", words()
    yield "numeric", splits(pre_tokenizers.Digits())
    yield "punctuation", splits(pre_tokenizers.Punctuation())
    yield "control", dropped(bert(clean_text=True))
    yield "accent", dropped(normalizers.StripAccents())
    yield "nonspacing", dropped(bert(strip_accents=True))
    extend, prepend = clusters()
    yield "extend", extend
    yield "prepend", prepend
    neutral, found = scripts()
    yield "script neutral", neutral
    for members in sorted(found, key=min):
        yield f"script {min(members):x}", members
    for far, members in sorted(lower_case().items()):
        yield f"lower {far:+d}", members


def main():
    lines = [f"# Unicode {unicodedata2.unidata_version}, as in tokenizers {tokenizers.__version__}: "
             "written by make_properties.py"]
    for name, members in properties():
        lines.append(f"{name}: {ranges(members, not name.startswith('script '))}")
    with open(FILE, "w") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
