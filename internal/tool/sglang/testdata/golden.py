"""Writes golden.json and the files of conversations beside it.

    python golden.py FOLDER FILE

FOLDER holds the package sglang of mid-2026 (its python directory), FILE is
bench_serving.py of sglang 0.5.7, of 1 January 2026. Needs numpy, pandas, pyarrow,
datasets, transformers, tokenizers, pillow, aiohttp.

Every case is what those two make of one dataset: prompts (a hash each, the first in
full), lengths, lines printed, when requests are sent, and what the two generators draw
after that. The January form takes its vocabulary in hash order, which no two processes
share; here it gets it sorted.
"""

import asyncio
import base64
import contextlib
import hashlib
import importlib.util
import io
import json
import os
import random
import sys
import tempfile
import types
import warnings

FOLDER, JANUARY = sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))

import numpy as np
import pandas as pd
from PIL import Image
from transformers import PreTrainedTokenizerFast

warnings.simplefilter("ignore")
SEEDS = (1, 42, 7)
RATE = 4.0
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|{{ m['role'] }}|>\n"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for c in m['content'] %}{% if c['type'] == 'image' %}<|picture|>{% else %}{{ c['text'] }}{% endif %}{% endfor %}"
    "{% endif %}\n{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
BOS = {"gpt2": "<|endoftext|>", "llama3": "<|begin_of_text|>"}
PAD = 17  # the id that stands for a picture


# ---- files


def words(r, n):
    made = ["".join(r.choice("bcdfgklmnprst") + r.choice("aeiou") for _ in range(r.randint(1, 4))) for _ in range(n)]
    for i in range(7, n, 11):
        made[i] = r.choice(["Ärger", "naïve", "日本語", "👩‍🚀", "x = [1, 2]", "Привет", "\n\n", "  two", "don't"])
    return " ".join(made)


def write_lines(name, rows):
    with open(os.path.join(HERE, name), "w", encoding="utf-8") as f:
        f.writelines((row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)


def talk(r, first="value", key="conversations"):
    return {"id": "t", key: [{"from": "human", first: words(r, r.choice([1, 8, 30, 90]))}, {"from": "gpt", first: words(r, r.choice([2, 12, 60]))}]}


def write_files():
    r = random.Random(0)
    talks = [talk(r) for _ in range(22)] + [talk(r, key="conversation") for _ in range(3)]
    talks[3]["conversations"] = talks[3]["conversations"][:1]
    talks[5]["conversations"][0]["value"] = ""
    talks[8]["conversations"][0]["value"] += " Assistant:"
    talks[9]["conversations"][0]["value"] = "<|endoftext|> says " + words(r, 5)
    talks[10]["conversations"].append({"from": "human", "value": "and then?"})
    talks[12]["conversations"][1]["value"] = ""
    with open(os.path.join(HERE, "talks.json"), "w", encoding="utf-8") as f:
        json.dump(talks, f, ensure_ascii=False)
    lines = [talk(r, first) for first in ["content", "value"] * 9]
    lines[4]["conversations"][0]["content"] = "content goes before value"
    del lines[6]["conversations"][1]["content"]
    lines[7]["conversations"] = []
    write_lines("custom.jsonl", lines[:5] + ["{ not json", ""] + lines[5:])
    write_lines("openai.jsonl", openai_lines(r))
    write_lines("longbench.jsonl", questions(r))
    pd.DataFrame(questions(random.Random(5))).to_parquet(os.path.join(HERE, "longbench.parquet"))
    write_lines("speed.jsonl", [{"category": r.choice(["low_entropy", "mixed", "high_entropy"]), "turns": [words(r, r.choice([4, 25])) for _ in range(i % 3)]} for i in range(30)])
    write_lines("mooncake.jsonl", sessions(r))
    with open(os.path.join(HERE, "agentic.json"), "w", encoding="utf-8") as f:
        json.dump({"metadata": {}, "conversations": [agentic(r, i) for i in range(7)]}, f, ensure_ascii=False)
    write_pictures(r)


def openai_lines(r):
    tools = [{"type": "function", "function": {"name": "größe", "parameters": {"type": "object", "n": 1.50, "big": 1e20, "small": 0.00001, "no": None, "yes": True, "e": [], "o": {}, "s": "a\"b\\c\n😀\x7f</"}}}]
    for i in range(14):
        line = {"messages": [{"role": "system", "content": words(r, 6)}, {"role": "user", "content": words(r, 20)}]}
        if i % 2:
            line["max_tokens"] = r.randint(5, 500)
        if i % 3 == 0:
            line |= {"temperature": 0.5, "model": "other", "tools": tools[: i % 2 + 1]}
        if i == 9:
            line["messages"] = []
        if i == 11:
            line |= {"max_completion_tokens": 7, "tools": []}
        yield line
        if i == 4:
            yield "nonsense"


def questions(r):
    return [{"_id": str(i), "context": words(r, r.choice([40, 200])), "question": words(r, 9), **{"choice_" + c: words(r, 3) for c in "ABCD"}} for i in range(16)]


def sessions(r):
    rows = [{"timestamp": 250 * r.randint(0, 40), "input_length": 100, "hash_ids": [r.randint(0, 60) for _ in range(r.randint(1, 3))], "output_length": r.randint(1, 20)} for _ in range(9)]
    del rows[2]["output_length"], rows[3]["hash_ids"]
    return rows


def agentic(r, i):
    turn = lambda: {"messages": [{"role": "tool", "name": "sh", "content": words(r, 12)} for _ in range(r.randint(1, 2))], "prompt_tokens": 5}
    turns = [turn() for _ in range(1 + i % 4)]
    turns[0]["messages"].insert(0, {"role": "system", "content": "<be> brief & exact"})
    if i == 3:
        turns = [{"messages": []}]
    return turns


def write_pictures(r):
    rows = []
    for i in range(9):
        mode = ["RGB", "RGBA", "L", "P"][i % 4]
        noise = np.random.default_rng(i).integers(0, 256, (5 + i, 8, 4), dtype=np.uint8)
        image = Image.fromarray(noise, "RGBA").convert(mode)
        kept = io.BytesIO()
        image.save(kept, "PNG")
        rows.append({"question": words(r, 10), "image_1": None if i == 6 else {"bytes": kept.getvalue(), "path": f"{i}.png"}})
    pd.DataFrame(rows).to_parquet(os.path.join(HERE, "mmmu.parquet"))


# ---- the two tools


def stub(name, **attributes):
    module = types.ModuleType(name)
    module.__dict__.update(attributes)
    module.__path__ = []
    sys.modules[name] = module


def load_main():
    package = types.ModuleType("sglang")
    package.__path__ = [os.path.join(FOLDER, "sglang")]
    sys.modules["sglang"] = package
    stub("sglang.srt")
    stub("sglang.srt.disaggregation")
    stub("sglang.srt.disaggregation.utils", FAKE_BOOTSTRAP_HOST="")
    stub("sglang.srt.utils")
    stub("sglang.srt.utils.network", resolve_base_url=None, resolve_host_port=None)
    from sglang.benchmark import serving
    from sglang.benchmark.datasets import get_dataset, image, mmmu, mooncake

    return types.SimpleNamespace(get_dataset=get_dataset, serving=serving, image=image, mmmu=mmmu, mooncake=mooncake)


def load_january():
    spec = importlib.util.spec_from_file_location("january", JANUARY)
    module = importlib.util.module_from_spec(spec)
    sys.modules["january"] = module
    spec.loader.exec_module(module)
    return types.SimpleNamespace(get_dataset=module.get_dataset, serving=module, image=module, mmmu=module, mooncake=module)


class Clock:
    """Time that passes in sleeps alone."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now

    async def sleep(self, seconds):
        self.now += seconds


class Processor:
    """A tokenizer in the place of a processor, to which pictures are no tokens."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.image_token_id = PAD

    def apply_chat_template(self, *args, **options):
        return self.tokenizer.apply_chat_template(*args, **options)

    def __call__(self, text, **_):
        plain = text[0].replace("<|picture|>", "").replace("<image>", "")
        return {"input_ids": types.SimpleNamespace(numel=lambda: len(self.tokenizer.encode(plain)))}


class Table(list):
    def select(self, indices):
        return Table(self[i] for i in indices)


def mmmu_table(*_, **__):
    rows = pd.read_parquet(os.path.join(HERE, "mmmu.parquet")).to_dict(orient="records")
    for row in rows:
        kept = row["image_1"]
        row["image_1"] = Image.open(io.BytesIO(kept["bytes"])) if kept else None
    return Table(rows)


def tokenizer(name):
    file, _, plain = name.partition("-")
    t = PreTrainedTokenizerFast(
        tokenizer_file=os.path.join(HERE, "../../../../load/tokenizer/testdata", file, "tokenizer.json"),
        bos_token=BOS[file],
        chat_template=None if plain else TEMPLATE,
    )
    vocabulary = dict(sorted(t.get_vocab().items(), key=lambda item: item[1]))
    assert list(vocabulary.values()) == list(range(len(vocabulary)))
    t.get_vocab = lambda: vocabulary
    return t


# ---- what is kept of a case


def digest(data):
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()[:16]


def turn_text(turn):
    if isinstance(turn, str):
        turn = [{"role": "user", "content": turn}]
    return "\x1e".join(m["role"] + "\x1f" + m["content"] for m in turn)


def texts(prompt, chain):
    """The prompts of a row: one, or one for each turn."""
    if isinstance(prompt, str):
        return [prompt]
    if isinstance(prompt[0], (int, np.integer)):
        return [",".join(map(str, prompt))]
    if chain:
        return [turn_text(turn) for turn in prompt]
    return [turn_text(prompt)]


def pixels(uri):
    image = Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))
    return f"{image.width}x{image.height} " + digest(image.convert("RGB").tobytes())


async def sent(tool, rows, args):
    clock = Clock()
    if args["dataset_name"] == "mooncake":
        tool.mooncake.asyncio = tool.mooncake.time = clock
        generator = tool.mooncake.get_mooncake_request_over_time(rows, args["tokenizer"], args["mooncake_slowdown_factor"], args["mooncake_num_rounds"])
    else:
        tool.serving.asyncio = clock
        generator = tool.serving.get_request(rows, RATE)
    return [(clock.now, row) async for row in generator]


DEFAULTS = dict(
    dataset_path="", num_prompts=12, sharegpt_output_len=None, sharegpt_context_len=None, prompt_suffix="", apply_chat_template=False,
    random_input_len=200, random_output_len=50, random_range_ratio=0.0, tokenize_prompt=False, backend="sglang", served_model_name=None, model="m",
    image_count=1, image_content="random", image_format="png", image_resolution="5x7", random_image_count=False,
    gsp_num_groups=4, gsp_prompts_per_group=3, gsp_system_prompt_len=40, gsp_question_len=15, gsp_output_len=9, gsp_range_ratio=1.0,
    gsp_fast_prepare=False, gsp_send_routing_key=False, gsp_num_turns=1, gsp_ordered=False, gsp_group_distribution="uniform", gsp_zipf_alpha=None,
    mooncake_workload="conversation", mooncake_num_rounds=1, mooncake_slowdown_factor=1.0, dataset_offset=0, agentic_max_turns=None,
    speed_bench_category=None, speed_bench_output_len=512,
)


# Lines that tell of the tool's cache, of downloads, or of the size of files.
UNKEPT = ("Caching generated", "Error applying chat template", "Loading MMMU", "Attempting", "Successfully loaded MMMU")


def kept(printed):
    lines = [line for line in printed.split("\n")[:-1] if not line.startswith(UNKEPT)]
    return [line.partition(" with average")[0] for line in lines]


def case(form, tool, tokenizer_name, seed, given):
    os.environ["HOME"] = tempfile.mkdtemp()  # what is cached there does not tell whose tokenizer it is of
    args = DEFAULTS | given | {"seed": seed}
    if args["dataset_path"]:
        args["dataset_path"] = os.path.join(HERE, args["dataset_path"])
    t = args["tokenizer"] = tokenizer(tokenizer_name)
    tool.image.get_processor = tool.mmmu.get_processor = lambda _: Processor(t)
    tool.mmmu.load_dataset = mmmu_table
    random.seed(seed)
    np.random.seed(seed)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        rows = tool.get_dataset(types.SimpleNamespace(**{k: v for k, v in args.items() if k != "tokenizer"}), t, "m")
        warm = warmup(rows[0]) if args["dataset_name"] == "mooncake" else None
        timed = asyncio.run(sent(tool, rows, args))
    rows = [row for _, row in timed]
    chain = isinstance(rows[0].prompt, list) and not isinstance(rows[0].prompt[0], (int, np.integer, dict))
    prompts = [text for row in rows for text in texts(row.prompt, chain)]
    out = {
        "form": form, "tokenizer": tokenizer_name, "seed": seed, "args": given, "prompts": [digest(p) for p in prompts], "first": prompts[0][:200],
        "turns": [len(row.prompt) for row in rows] if chain else None,
        "lens": [int(row.prompt_len) for row in rows], "outs": [int(row.output_len) for row in rows], "lines": kept(printed.getvalue()),
        "times": [time for time, _ in timed], "numpy": np.random.random_sample(), "python": random.random(),
        "extra": [row.extra_request_body for row in rows] if args["dataset_name"] == "openai" else None,
        "groups": [int(row.routing_key.split("_")[2]) for row in rows] if getattr(rows[0], "routing_key", None) else None,
        "pixels": [[pixels(uri) for uri in row.image_data] for row in rows] if rows[0].image_data else None,
        "warmup": warm,
    }
    return {k: v for k, v in out.items() if v is not None}


def warmup(first):
    text = "".join(f"{h}" + " ".join(["hi"] * 512) for h in first.get("hash_ids", [])) + "Can you tell me a detailed story in 1000 words?"
    return [digest(text), first.get("output_length", 32)]


# ---- the cases


def both():
    random_file = dict(dataset_name="random", dataset_path="talks.json")
    yield random_file
    yield random_file | dict(random_range_ratio=0.5, num_prompts=60)
    yield random_file | dict(random_range_ratio=1.0, random_input_len=3, tokenize_prompt=True)
    yield dict(dataset_name="random-ids")
    yield dict(dataset_name="random-ids", random_range_ratio=0.5, tokenize_prompt=True)
    talks = dict(dataset_name="sharegpt", dataset_path="talks.json")
    yield talks
    yield talks | dict(num_prompts=50, apply_chat_template=True, sharegpt_context_len=120)
    yield talks | dict(prompt_suffix=" Go on. ", sharegpt_output_len=33)
    prefix = dict(dataset_name="generated-shared-prefix")
    yield prefix
    yield prefix | dict(gsp_range_ratio=0.3)
    yield prefix | dict(gsp_range_ratio=0.0, gsp_fast_prepare=True)
    yield prefix | dict(gsp_send_routing_key=True)
    image = dict(dataset_name="image", num_prompts=4, random_input_len=20)
    yield image | dict(backend="sglang-oai-chat")
    yield image | dict(image_count=3, random_image_count=True, image_content="blank")
    yield image | dict(random_range_ratio=0.5, image_resolution="12X4", backend="sglang-native")
    yield dict(dataset_name="mmmu", num_prompts=5, backend="sglang-oai-chat")
    yield dict(dataset_name="mmmu", num_prompts=50)
    mooncake = dict(dataset_name="mooncake", dataset_path="mooncake.jsonl", num_prompts=7)
    yield mooncake
    yield mooncake | dict(mooncake_num_rounds=3, mooncake_slowdown_factor=2.5, num_prompts=3)


def main_only():
    prefix = dict(dataset_name="generated-shared-prefix")
    yield prefix | dict(gsp_num_turns=3, gsp_range_ratio=0.5)
    yield prefix | dict(gsp_ordered=True, tokenize_prompt=True)
    yield prefix | dict(gsp_group_distribution="zipf", gsp_zipf_alpha=1.2, gsp_send_routing_key=True)
    custom = dict(dataset_name="custom", dataset_path="custom.jsonl")
    yield custom
    yield custom | dict(sharegpt_output_len=5, num_prompts=100)
    openai = dict(dataset_name="openai", dataset_path="openai.jsonl")
    yield openai
    yield openai | dict(num_prompts=0, sharegpt_output_len=44)
    long = dict(dataset_name="longbench_v2", dataset_path="longbench.jsonl")
    yield long
    yield long | dict(dataset_path="longbench.parquet", sharegpt_output_len=20, sharegpt_context_len=700)
    speed = dict(dataset_name="speed-bench", dataset_path="speed.jsonl")
    yield speed
    yield speed | dict(num_prompts=45, speed_bench_output_len=9)
    yield speed | dict(num_prompts=3, speed_bench_category="mixed")
    agentic = dict(dataset_name="agentic-trace", dataset_path="agentic.json")
    yield agentic | dict(num_prompts=4)
    yield agentic | dict(num_prompts=0, dataset_offset=9, agentic_max_turns=2, sharegpt_output_len=11)
    yield dict(dataset_name="image", num_prompts=4, random_input_len=20, image_resolution="random:2x3-9x8", image_count=2, backend="vllm-chat")


def plain():
    yield dict(dataset_name="mooncake", dataset_path="mooncake.jsonl", num_prompts=4, mooncake_num_rounds=2)
    yield dict(dataset_name="speed-bench", dataset_path="speed.jsonl")
    yield dict(dataset_name="image", num_prompts=3, random_input_len=20)


def cases():
    main, january = load_main(), load_january()
    for seed in SEEDS:
        for name in BOS:
            for given in [*both(), *main_only()]:
                yield case("main", main, name, seed, given)
            for given in both():
                yield case("january", january, name, seed, given)
        for given in plain():
            yield case("main", main, "llama3-plain", seed, given)


write_files()
with open(os.path.join(HERE, "golden.json"), "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":"), ensure_ascii=False) for c in cases()) + "\n]\n")
