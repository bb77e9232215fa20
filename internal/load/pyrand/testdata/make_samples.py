"""Writes samples.json; run with numpy: python make_samples.py

What package pyrand makes of Python's sample and choices and of numpy's choice with
probabilities, each from a generator of its own.
"""

import json
import os
import random

import numpy as np

SIZES = [(0, 0), (1, 1), (5, 5), (21, 5), (22, 5), (85, 6), (86, 6), (277, 22), (278, 22), (1000, 21), (1000, 86), (60000, 300)]


def samples(seed):
    r = random.Random(seed)
    return [[n, k, r.sample(range(n), k)] for n, k in SIZES]


def choices(seed):
    r = random.Random(seed)
    return [[n, k, r.choices(range(n), k=k)] for n, k in [(1, 3), (7, 20), (50257, 20), (2**31, 5)]]


def zipf(seed):
    rows = []
    for n, alpha in [(1, 1.0), (3, 0.5), (8, 1.2), (64, 1.0), (129, 2.5), (1000, 0.99)]:
        ranks = np.arange(1, n + 1, dtype=np.float64)
        p = 1.0 / ranks**alpha
        p /= p.sum()
        legacy = np.random.RandomState(seed)
        rows.append({
            "n": n, "alpha": alpha, "p": p[: min(n, 8)].tolist(), "last": float(p[-1]),
            "generator": np.random.default_rng(seed).choice(n, size=60, replace=True, p=p).tolist(),
            "legacy": [int(legacy.choice(n, p=p)) for _ in range(60)],
        })
    return rows


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "samples.json"), "w") as f:
    rows = [{"seed": s, "samples": samples(s), "choices": choices(s), "zipf": zipf(s)} for s in (1, 42, 7)]
    f.write("[\n" + ",\n".join(json.dumps(v, separators=(",", ":")) for v in rows) + "\n]\n")
