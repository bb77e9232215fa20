"""Writes the files of this folder that datasets are read from, and golden.json with
what the dataset classes of vllm 0.33.0 make of them; also golden.json of package
workload's datasets prefix_repetition, random-rerank and random in batches.

    pip install numpy==2.4.6 pandas==3.1.1 pyarrow==26.0.1 datasets==5.2.0 \
        transformers==5.23.0 tokenizers==0.23.3 jinja2 pillow soundfile pybase64
    PYTHONHASHSEED=0 PYTHONPATH=FOLDER_OF_THE_PACKAGE_vllm python golden.py

vllm itself need not be installed whole: its benchmarks/datasets is enough, with
stand-ins for the modules of vllm that it imports. sonnet is not in that release any
more; here it is by its description.
"""

import base64
import hashlib
import io
import json
import os
import random
import shutil
import tempfile

assert os.environ.get("PYTHONHASHSEED") == "0", "timed_trace depends on it"
os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import soundfile as sf
from PIL import Image
from transformers import PreTrainedTokenizerFast

import vllm.benchmarks.datasets.datasets as V

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = os.path.join(HERE, "files")
SEEDS = (0, 1, 42)
TEMPLATE = (
    "{% if tools %}[{{ tools | length }} tools]{% endif %}"
    "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{{ mood or '' }}{% endif %}"
)

# -- tokenizers of package tokenizer ------------------------------------------


def tokenizer(name):
    folder = os.path.join(HERE, "../../../../load/tokenizer/testdata", name)
    t = PreTrainedTokenizerFast(tokenizer_file=os.path.join(folder, "tokenizer.json"))
    # Without a tokenizer_config.json every token flagged special counts as special here.
    t.add_special_tokens({"extra_special_tokens": [a.content for a in t.added_tokens_decoder.values() if a.special]})
    t.chat_template = TEMPLATE
    return t


TOKENIZERS = {name: tokenizer(name) for name in ("gpt2", "llama3", "qwen")}

# -- files ----------------------------------------------------------------------

WORDS = "the engine prefill token stream cache of a we measure latency batch scheduler and gate über naïve 序列 kernel".split()
R = random.Random(7)


def words(low, high):
    return " ".join(R.choices(WORDS, k=R.randint(low, high)))


def write(name, text):
    path = os.path.join(FILES, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    return path


def lines(name, rows):
    return write(name, "".join(json.dumps(r) + "\n" for r in rows))


def parquet(name, rows, schema=None):
    path = os.path.join(FILES, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, compression="zstd")


def png(size, mode="RGB"):
    b = io.BytesIO()
    Image.new(mode, size, tuple(R.randrange(256) for _ in mode)).save(b, format="PNG")
    return b.getvalue()


def wav(name, seconds, rate=8000, channels=1, subtype="PCM_16"):
    path = os.path.join(FILES, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    n = int(seconds * rate)
    y = np.sin(np.arange(n * channels) / 9.0).reshape(n, channels) * np.linspace(0, 1.1, n)[:, None]
    sf.write(path, y, rate, subtype=subtype)
    return path


def make_files():
    shutil.rmtree(FILES, ignore_errors=True)
    rows = ["Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type"]
    for i in range(60):
        a, b = R.randint(1, 90), R.choice([0, 5, 17, 80])
        rows.append(f"{i * 3},{R.choice(['ChatGPT', 'GPT-4'])},{a},{b},{a + b},Conversation log")
    write("burstgpt.csv", "\n".join(rows) + "\n")
    write("poem.txt", "".join(words(4, 9) + ",\n" for _ in range(40)))
    lines("spec_bench.jsonl", [{"question_id": i, "category": R.choice(["writing", "math"]), "turns": [words(3, 20), words(2, 4)]} for i in range(20)])
    lines("speed/qualitative.jsonl", [{"category": R.choice(["coding", "qa"]), "messages": [{"role": "user", "content": words(3, 20)}]} for i in range(15)])
    lines("rows.jsonl", [{"prompt": words(3, 20), "output_tokens": i + 3} for i in range(9)])
    trace = []
    for i in range(12):
        n = R.randint(1, 90)
        trace.append({"timestamp": i * 250 + (3 if i == 5 else 0), "input_length": n, "output_length": R.randint(1, 40), "hash_ids": [46, 47] + [R.randint(48, 55) for _ in range(R.randint(1, 6))]})
    lines("trace.jsonl", trace)
    images = []
    for i in range(8):
        if i % 2:
            images.append({"prompt": words(2, 8), "image_files": [f"/pictures/{i}.png", "https://example.org/a.jpg"][: 1 + i % 3]})
        else:
            images.append({"content": [{"type": "text", "text": words(1, 5)}, {"type": "image", "image": f"pictures/{i}.png"}, {"type": "text", "text": words(1, 3)}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}]})
    lines("images.jsonl", images)
    sounds = []
    for i, (channels, subtype) in enumerate([(1, "PCM_16"), (2, "PCM_16"), (1, "PCM_24"), (1, "PCM_U8"), (2, "FLOAT"), (1, "PCM_32"), (1, "DOUBLE")]):
        wav(f"sounds/{i}.wav", 0.02 + i / 200, channels=channels, subtype=subtype)
        sounds.append({"prompt": words(1, 5), "audio": f"FILES/sounds/{i}.wav", "output_tokens": 4 + i})
    sounds.append({"prompt": words(1, 5), "audio": {"array": [0, 0.25, -1.5, 0.75, 1.0], "sampling_rate": 16000}, "output_tokens": 9})
    lines("sounds.jsonl", sounds)
    talks = []
    for i in range(14):
        talk = {"id": str(i), "conversations": [{"from": "human", "value": words(4, 9)}, {"from": "gpt", "value": words(1, 12)}]}
        if i % 3 == 0:
            talk["image"] = R.choice(["a.png", "https://example.org/a.png"])
        if i % 4 == 0:
            talk["video"] = R.choice(["/b.mp4", "http://example.org/b.mp4"])
        talks.append(talk)
    write("pictured.json", json.dumps(talks))
    make_hub_files()


def make_hub_files():
    turn = lambda: [{"role": "user", "content": words(3, 12)}]
    picture = lambda: {"bytes": png((R.randint(1, 9), R.randint(1, 9)), R.choice(["RGB", "RGBA", "L"])), "path": None}
    parquet("arena/data/train-00000-of-00001.parquet", [{"conversation": [turn(), turn()], "images": [picture(), picture()][: 1 + i % 2]} for i in range(9)])
    parquet("arena2/data/train-00000-of-00001.parquet", [{"turns": [turn()], "images": [picture()]} for i in range(5)])
    lines("mmvu/validation.json", [{"question": words(3, 9), "choices": {k: words(1, 2) for k in "ABCDE"}, "video": f"https://huggingface.co/datasets/yale-nlp/MMVU/resolve/main/videos/{i}.mp4"} for i in range(6)])
    lines("coder/train.json", [{"instruction": words(2, 5), "input": words(2, 9), "output": words(1, 3)} for i in range(12)])
    lines("mtbench/question.jsonl", [{"question_id": i, "turns": [words(2, 9), words(2, 5)]} for i in range(10)])
    parquet("humaneval/openai_humaneval/test-00000-of-00001.parquet", [{"task_id": str(i), "prompt": "def f():\n    " + words(2, 9)} for i in range(10)])
    for subset in ("main", "socratic"):
        for split in ("train", "test"):
            parquet(f"gsm8k/{subset}/{split}-00000-of-00001.parquet", [{"question": f"{subset} {split} " + words(3, 9), "answer": words(1, 4)} for _ in range(8)])
    write("gsm8k/README.md", "---\nconfigs:\n" + "".join(f"- config_name: {s}\n  data_files:\n  - split: train\n    path: {s}/train-*\n  - split: test\n    path: {s}/test-*\n" for s in ("main", "socratic")) + "---\n")
    talk = lambda: [{"from": "human", "value": words(1, 9)}, {"from": "gpt", "value": words(1, 30)}][: R.choice([1, 2, 2, 2])]
    for i in range(3):
        lines(f"talks/train-{i:05d}-of-00003.jsonl", [{"id": f"{i}-{j}", "conversations": talk()} for j in range(12 + 5 * i)])
    parquet("onevision/train.parquet", [{"id": str(i), "conversations": talk(), "image": picture()} for i in range(12)])
    parquet("aime/data/train-00000-of-00001.parquet", [{"problem": words(1, 9), "solution": words(1, 30)} for i in range(12)])
    zeta = [{"events": words(3, 9), "input": words(3, 9), "output": words(1, 4) + " <|editable_region_start|>\n" + words(2, 9)} for _ in range(8)]
    zeta[3]["output"] = "no region here"
    lines("zeta/train.jsonl", zeta)
    lines("edit/train.jsonl", [{"code": words(5, 20), "change_request": words(2, 6), "norm_distance": i / 10} for i in range(10)])
    parquet("mlperf/train.parquet", [{"system_prompt": words(2, 5), "question": words(2, 9), "output": words(1, 9)} for i in range(12)])
    write("mmstar/README.md", "---\nconfigs:\n- config_name: val\n  data_files:\n  - split: val\n    path: mmstar.parquet\n---\n")
    parquet("mmstar/mmstar.parquet", [{"index": i, "question": f" {words(3, 6)}?\nOptions: A: {words(1, 2)}", "image": picture()} for i in range(7)])
    speech = []
    for i in range(6):
        path = wav(f"tmp/{i}.wav", 0.01 * (i + 1), rate=16000)
        with open(path, "rb") as f:
            speech.append({"audio": {"bytes": f.read(), "path": f"{i}.wav"}, "text": words(2, 5)})
    shutil.rmtree(os.path.join(FILES, "tmp"))
    parquet("speech/data/train-00000-of-00001.parquet", speech)
    kinds = ["dict", "float", "tuple", "any", "string", "integer"]
    for category, n in (("simple", 5), ("live_simple", 3), ("multiple", 4)):
        rows = []
        for i in range(n):
            fn = {"name": f"{category}_{i}", "description": words(1, 3), "parameters": {"type": "dict", "properties": {k: {"type": k, "items": {"type": R.choice(kinds)}} for k in kinds}, "required": ["type"]}}
            rows.append({"id": f"{category}_{i}", "question": [[{"role": "user", "content": words(3, 8)}]] if i != 2 else [], "function": [fn] if i % 2 else [fn, fn]})
        lines(f"bfcl/BFCL_v3_{category}.json", rows)


# -- what is kept of requests ---------------------------------------------------------


def sha(b):
    return hashlib.sha256(b if isinstance(b, bytes) else b.encode()).hexdigest()[:16]


def medium(m):
    """A medium in a form that does not depend on an encoder: the size of a picture."""
    if m is None:
        return []
    if isinstance(m, list):
        return [x for e in m for x in medium(e)]
    if m.get("type") in ("image_url", "video_url"):
        url = m[m["type"]]["url"]
        if url.startswith("data:image/jpeg;base64,"):
            size = Image.open(io.BytesIO(base64.b64decode(url.split(",")[1]))).size
            return ["jpeg %dx%d" % size]
        return [url.replace(FILES, "FILES")]
    if m.get("type") == "input_audio":
        return [m["input_audio"]["format"] + " " + sha(base64.b64decode(m["input_audio"]["data"]))]
    if "audio" in m:
        y, rate = m["audio"]
        b = io.BytesIO()
        sf.write(b, y, rate, format="WAV")
        return ["wav " + sha(b.getvalue())]
    raise ValueError(m)


def kept(requests):
    out = {"prompts": [], "lens": [], "outs": [], "ids": [], "media": [], "extra": []}
    for r in requests:
        p = r.prompt if r.chat_messages is None else r.chat_messages
        out["prompts"].append(p if isinstance(p, str) and len(p) < 60 else sha(p if isinstance(p, str) else json.dumps(p, sort_keys=True, ensure_ascii=False)))
        out["lens"].append(r.prompt_len)
        out["outs"].append(r.expected_output_len)
        out["ids"].append(r.request_id or "")
        out["media"].append(medium(r.multi_modal_data))
        out["extra"].append(sha(json.dumps(r.request_overrides, sort_keys=True, ensure_ascii=False)) if r.request_overrides else "")
    if any(r.timestamp is not None for r in requests):
        out["at"] = [r.timestamp for r in requests]
    if not any(out["media"]):
        del out["media"]
    if not any(out["extra"]):
        del out["extra"]
    return out


CASES = []


def case(kind, made, **settings):
    CASES.append({"kind": kind, **settings, **kept(made)})


def path(name):
    return os.path.join(FILES, name)


# -- the datasets -----------------------------------------------------------------


def sonnet(t, seed, n, input_len, prefix_len, output_len, formatted):
    """By the description of the dataset, which was taken out."""
    random.seed(seed)
    with open(path("poem.txt")) as f:
        poem = f.readlines()
    task = "Pick as many lines as you can from these poem lines:\n"
    count = lambda s: len(t(s).input_ids)
    render = lambda s: t.apply_chat_template([{"role": "user", "content": s}], add_generation_prompt=True, tokenize=False)
    average = sum(map(count, poem)) / len(poem)
    base = count(render(task))
    total = max(round((input_len - base) / average), 1)
    prefix = max(round((prefix_len - base) / average), 0)
    out = []
    while len(out) < n:
        text = task + "".join(poem[:prefix] + random.choices(poem, k=total - prefix))
        if count(render(text)) <= input_len:
            out.append(V.SampleRequest(render(text) if formatted else text, count(render(text)), output_len, request_id=f"b-{len(out)}"))
    return out


class Hub:
    def __init__(self, folder):
        self.folder = folder

    def __call__(self):
        return self

    def snapshot_download(self, *a, **k):
        return path(self.folder)

    def hf_hub_download(self, repo, filename, **k):
        return os.path.join(path(self.folder), filename)


def hub(cls, name, folder, split, subset=None, n=6, seed=0, stream=True, shuffle=True, **sample):
    V.hf_api = Hub(folder)
    d = cls(dataset_path=path(folder), dataset_split=split, dataset_subset=subset, random_seed=seed, no_stream=not stream, hf_name=name, disable_shuffle=not shuffle)
    r = d.sample(tokenizer=TOKENIZERS["qwen"], num_requests=n, request_id_prefix="b-", **sample)
    settings = {k: v for k, v in sample.items() if k != "enable_multimodal_chat"}
    case("hf", r, name=name, folder=folder, split=split, subset=subset or "", requests=n, seed=seed, gather=not stream, still=not shuffle, settings=settings)


def file_cases():
    for seed in SEEDS:
        for tok in ("gpt2", "qwen"):
            t = TOKENIZERS[tok]
            d = V.BurstGPTDataset(random_seed=seed, dataset_path=path("burstgpt.csv"))
            for n in (5, 60):
                case("burstgpt", d.sample(t, n, request_id_prefix="b-"), tokenizer=tok, seed=seed, requests=n)
        t = TOKENIZERS["llama3"]
        for formatted in (False, True):
            case("sonnet", sonnet(t, seed, 6, 150, 60, 30, formatted), tokenizer="llama3", seed=seed, requests=6, raw=not formatted)
        for n, o in ((4, 40), (0, 50), (14, 7)):
            d = V.CustomImageDataset(random_seed=seed, dataset_path=path("images.jsonl"))
            case("custom_image", d.sample(t, n, request_id_prefix="b-", output_len=o), tokenizer="llama3", seed=seed, requests=n, output=o)
        for n, o, skip in ((4, 40, False), (0, -1, True), (14, -1, False)):
            d = V.CustomDataset(random_seed=seed, dataset_path=path("rows.jsonl"))
            r = d.sample(t, n, request_id_prefix="b-", output_len=o, skip_chat_template=skip, chat_template_kwargs={"mood": "calm"} if n == 4 else None)
            case("custom", r, tokenizer="llama3", seed=seed, requests=n, output=o, skip=skip, mood="calm" if n == 4 else "")
        for chat in (True, False):
            for n, o in ((4, 40), (10, -1)):
                with open(path("sounds.jsonl")) as f:
                    text = f.read().replace("FILES", FILES)
                with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False) as f:
                    f.write(text)
                d = V.CustomAudioDataset(random_seed=seed, dataset_path=f.name)
                case("custom_audio", d.sample(t, n, request_id_prefix="b-", output_len=o, enable_multimodal_chat=chat), tokenizer="llama3", seed=seed, requests=n, output=o, chat=chat)
                os.remove(f.name)
        for n, o in ((5, None), (20, 9)):
            d = V.ShareGPTDataset(random_seed=seed, dataset_path=path("pictured.json"))
            case("sharegpt", d.sample(t, n, request_id_prefix="b-", output_len=o), tokenizer="llama3", seed=seed, requests=n, output=o or 0)
        timed_trace(seed)
    for n, category in ((5, None), (0, "math"), (30, None)):
        d = V.SpecBench(dataset_path=path("spec_bench.jsonl"), category=category)
        case("spec_bench", d.sample(TOKENIZERS["llama3"], n, request_id_prefix="b-", output_len=33), tokenizer="llama3", requests=n, category=category or "", output=33)
    for n, category, skip in ((5, None, True), (0, "coding", False), (30, None, False)):
        d = V.SpeedBench(dataset_path=path("speed"), dataset_subset="qualitative", category=category)
        case("speed_bench", d.sample(TOKENIZERS["llama3"], n, request_id_prefix="b-", output_len=44, skip_chat_template=skip, chat_template_kwargs={"mood": "calm"}), tokenizer="llama3", requests=n, category=category or "", output=44, skip=skip)


def timed_trace(seed):
    d = V.TimedTrace(dataset_path=path("trace.jsonl"), random_seed=seed, timed_trace_chunk_hash_size=16, timed_trace_sec_multiplier=0.001, timed_trace_label_timestamp="timestamp", timed_trace_label_input_length="input_length", timed_trace_label_output_length="output_length", timed_trace_label_hash_ids="hash_ids")
    for n in (5, 100):
        case("timed_trace", d.sample(TOKENIZERS["qwen"], n, request_id_prefix="b-"), tokenizer="qwen", seed=seed, requests=n)


def hub_cases():
    for seed in SEEDS:
        hub(V.ConversationDataset, "Aeala/ShareGPT_Vicuna_unfiltered", "talks", "train", n=20, seed=seed)
        hub(V.ConversationDataset, "Aeala/ShareGPT_Vicuna_unfiltered", "talks", "train", n=70, seed=seed, stream=False)
        hub(V.MTBenchDataset, "philschmid/mt-bench", "mtbench", "train", n=14, seed=seed)
        hub(V.BFCLDataset, "gorilla-llm/Berkeley-Function-Calling-Leaderboard", "bfcl", "train", n=5, seed=seed)
        hub(V.BlazeditDataset, "vdaita/edit_5k_char", "edit", "train", n=4, seed=seed, min_distance=0.2, max_distance=0.7)
    hub(V.ConversationDataset, "Aeala/ShareGPT_Vicuna_unfiltered", "talks", "train", n=9, shuffle=False, output_len=11)
    hub(V.VisionArenaDataset, "lmarena-ai/VisionArena-Chat", "arena", "train")
    hub(V.VisionArenaDataset, "lmarena-ai/vision-arena-bench-v0.1", "arena2", "train", n=9)
    hub(V.MMVUDataset, "yale-nlp/MMVU", "mmvu", "validation")
    hub(V.InstructCoderDataset, "likaixin/InstructCoder", "coder", "train")
    hub(V.InstructCoderDataset, "likaixin/InstructCoder", "coder", "train", skip_chat_template=True, output_len=77)
    hub(V.HumanEvalDataset, "openai/openai_humaneval", "humaneval", "test")
    hub(V.GSM8KDataset, "openai/gsm8k", "gsm8k", "test", subset="main", seed=1)
    hub(V.GSM8KDataset, "openai/gsm8k", "gsm8k", "train", subset="socratic")
    hub(V.MultiModalConversationDataset, "lmms-lab/LLaVA-OneVision-Data", "onevision", "train")
    hub(V.AIMODataset, "AI-MO/aimo-validation-aime", "aime", "train")
    hub(V.AIMODataset, "AI-MO/NuminaMath-CoT", "aime", "train", output_len=3, n=15)
    hub(V.NextEditPredictionDataset, "zed-industries/zeta", "zeta", "train", n=10)
    hub(V.MLPerfDataset, "mgoin/mlperf-inference-llama2-data", "mlperf", "train")
    hub(V.MLPerfDataset, "mgoin/mlperf-inference-llama3.1-data", "mlperf", "train", output_len=20)
    hub(V.MMStarDataset, "Lin-Chen/MMStar", "mmstar", "val")
    hub(V.BFCLDataset, "gorilla-llm/Berkeley-Function-Calling-Leaderboard", "bfcl", "train", n=30, shuffle=False, categories=["multiple", " simple"])
    hub(V.ASRDataset, "openslr/librispeech_asr", "speech", "train", n=4)


def orders():
    """The order of rows of several files, by IterableDataset.shuffle."""
    from datasets import load_dataset

    out = []
    for form, sizes in (("jsonl", [30]), ("jsonl", [2500]), ("jsonl", [700, 50, 900]), ("jsonl", [40] * 13), ("csv", [333] * 11 + [50])):
        folder = path("order")
        shutil.rmtree(folder, ignore_errors=True)
        n = 0
        for i, size in enumerate(sizes):
            numbers = range(n, n + size)
            n += size
            name = f"order/train-{i:05d}-of-{len(sizes):05d}.{form}"
            if form == "csv":
                write(name, "n\n" + "".join(f"{k}\n" for k in numbers))
            else:
                lines(name, [{"n": k} for k in numbers])
        for seed in SEEDS:
            got = [r["n"] for r in load_dataset(folder, split="train", streaming=True).shuffle(seed=seed)]
            out.append({"form": form, "sizes": sizes, "seed": seed, "first": got[:8], "last": got[-8:], "digest": sha(" ".join(map(str, got)))})
        shutil.rmtree(folder)
    return out


def sent(n, seed, requests, **load):
    """The offsets at which the tool's own loop wakes, on a clock that stands still."""
    import asyncio

    import vllm.benchmarks.serve as serve

    offsets = []

    async def sleep(seconds):
        offsets.append(seconds)

    async def run():
        async for _ in serve.get_request(requests, **load):
            pass

    clock, serve.time.time = serve.time.time, lambda: 0.0
    real, serve.asyncio.sleep = serve.asyncio.sleep, sleep
    try:
        asyncio.run(run())
    finally:
        serve.time.time, serve.asyncio.sleep = clock, real
    return offsets


def send_times():
    """Send times after each way of drawing, which may move on the generator."""
    out = []
    t = TOKENIZERS["qwen"]
    for seed in SEEDS:
        for burstiness in (1.0, 0.5):
            random.seed(seed)
            np.random.seed(seed)
            r = V.RandomDataset(random_seed=seed).sample(t, 8, input_len=9, output_len=3)
            out.append({"dataset": "random", "seed": seed, "burstiness": burstiness, "sent": sent(8, seed, r, request_rate=10.0, burstiness=burstiness)})
            d = V.PrefixRepetitionRandomDataset(random_seed=seed)
            r = d.sample(t, 8, prefix_len=6, suffix_len=5, num_prefixes=4, output_len=3)
            out.append({"dataset": "prefix_repetition", "seed": seed, "burstiness": burstiness, "sent": sent(8, seed, r, request_rate=10.0, burstiness=burstiness)})
            random.seed(seed)
            np.random.seed(seed)
            r = V.ShareGPTDataset(random_seed=seed, dataset_path=path("pictured.json")).sample(t, 8)
            out.append({"dataset": "sharegpt", "seed": seed, "burstiness": burstiness, "sent": sent(8, seed, r, request_rate=10.0, burstiness=burstiness)})
    return out


def drawn_cases():
    """The datasets of package workload that draw all of their prompts."""
    for seed in SEEDS:
        for tok in ("gpt2", "llama3", "qwen"):
            t = TOKENIZERS[tok]
            for prefix, suffix, groups, n in ((20, 12, 3, 13), (0, 9, 2, 4)):
                d = V.PrefixRepetitionRandomDataset(random_seed=seed)
                r = d.sample(t, n, prefix_len=prefix, suffix_len=suffix, num_prefixes=groups, output_len=17)
                case("prefix_repetition", r, tokenizer=tok, seed=seed, requests=n, prefix=prefix, suffix=suffix, prefixes=groups, output=17, after=float(np.random.exponential()), python=random.random())
            for ratio in (0.0, 0.3):
                d = V.RandomDatasetForReranking(random_seed=seed)
                r = d.sample(t, 7, request_id_prefix="b-", input_len=40, range_ratio=ratio, batchsize=3)
                case("random-rerank", r, tokenizer=tok, seed=seed, requests=7, input=40, ratio=ratio, batch=3, reranker=True)
                d = V.RandomDatasetForReranking(random_seed=seed)
                r = d.sample(t, 7, request_id_prefix="b-", input_len=40, range_ratio=ratio, batchsize=3, is_reranker=False)
                case("random-rerank", r, tokenizer=tok, seed=seed, requests=7, input=40, ratio=ratio, batch=3, reranker=False)
            d = V.RandomDataset(random_seed=seed)
            r = d.sample(t, 10, request_id_prefix="b-", input_len=30, output_len=5, range_ratio=0.2, prefix_len=3, batchsize=4)
            case("batch", r, tokenizer=tok, seed=seed, requests=10, input=30, output=5, ratio=0.2, prefix=3, batch=4)


def dump(name, what):
    with open(os.path.join(HERE, name), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in what) + "\n]\n")


def main():
    make_files()
    file_cases()
    hub_cases()
    dump("golden.json", CASES)
    dump("orders.json", orders())
    CASES.clear()
    drawn_cases()
    dump("../../../../load/workload/testdata/drawn.json", CASES)
    dump("../../testdata/sent.json", send_times())


main()
