"""Writes draws.json and libm.json; run with numpy: python make_golden.py

draws.json: generators, each with a seed and the calls made on it in order.
libm.json: logarithms and powers, rounded once from 60 digits.
"""

import json
import os
import random
from decimal import Decimal, getcontext

import numpy as np

INT_RANGES = [
    (0, 1), (7, 8), (0, 2), (0, 3), (0, 4), (0, 7), (0, 8), (0, 10), (-5, 5), (0, 255), (0, 256), (0, 257),
    (512, 1537), (64, 193), (0, 50257), (0, 65536), (0, 128256), (0, 151643), (0, 2**31 - 1), (0, 2**31),
    (0, 2**31 + 1), (-2**31, 2**31 - 1), (0, 2**32 - 1), (0, 2**32), (1, 2**32 + 1), (0, 2**32 + 1),
    (0, 3 * 2**31), (0, 2**40), (0, 2**53 + 1), (-2**62, 2**62 + 1), (0, 2**63 - 1), (-2**63, 2**63 - 1),
]
SHAPES = [0.01, 0.1, 0.3, 0.5, 0.999, 1.0, 1.001, 2.0, 5.5, 100.0]
SCALES = [1.0, 0.1, 2.5, 1 / 3]


def permuted(shuffle, n):
    items = list(range(n))
    shuffle(items)
    return items


def legacy(seed, pick):
    r = np.random.RandomState(seed)
    yield from ([name, args, want(*args)] for name, args, want in legacy_calls(r, pick))


def legacy_calls(r, pick):
    ints = lambda lo, hi: int(r.randint(lo, hi, dtype=np.int64))
    for _ in range(200):
        yield pick.choice([
            ("Float64", [], lambda: r.random_sample()),
            ("Exponential", [pick.choice(SCALES)], lambda s: r.exponential(s)),
            ("Normal", [], lambda: r.standard_normal()),
            ("Gamma", [pick.choice(SHAPES), pick.choice(SCALES)], lambda k, s: r.gamma(k, s)),
            ("Randint", list(pick.choice(INT_RANGES)), ints),
            ("Randint", list(pick.choice(INT_RANGES)), ints),
            ("Shuffle", [pick.choice([0, 1, 2, 5, 9])], lambda n: permuted(r.shuffle, n)),
        ])


def generator(seed, pick):
    r = np.random.default_rng(seed)
    many = lambda n, lo, hi: [int(v) for v in r.integers(lo, hi, size=n)]
    weights = [[1.0], [0.5, 0.5], [0.1, 0.2, 0.3, 0.4], [0.0, 1.0, 0.0], [1 / 3] * 3]
    for _ in range(200):
        name, args, want = pick.choice([
            ("Float64", [], lambda: r.random()),
            ("Integers", list(pick.choice(INT_RANGES)), lambda lo, hi: int(r.integers(lo, hi))),
            ("Integers", list(pick.choice(INT_RANGES)), lambda lo, hi: int(r.integers(lo, hi))),
            ("FillIntegers", [pick.randrange(6), *pick.choice(INT_RANGES)], many),
            ("Uint8s", [pick.randrange(10)], lambda n: r.integers(0, 256, size=n, dtype=np.uint8).tolist()),
            ("Choice", pick.choice(weights), lambda *p: int(r.choice(len(p), p=p))),
        ])
        yield [name, args, want(*args)]


def python(seed, pick):
    r = random.Random(seed)
    for _ in range(200):
        name, args, want = pick.choice([
            ("Float64", [], r.random),
            ("Bits", [pick.randrange(65)], r.getrandbits),
            ("Below", [pick.choice([1, 2, 3, 10, 4096, 50257, 2**32 - 1, 2**32, 2**32 + 1, 2**62])], r.randrange),
            ("Below", [pick.choice([1, 3, 8])], lambda n: r.choice(range(n))),
            ("Shuffle", [pick.choice([0, 1, 2, 5, 9])], lambda n: permuted(r.shuffle, n)),
        ])
        yield [name, args, want(*args)]


def draws():
    small = [0, 1, 42, 2**32 - 1]
    seeds = {legacy: small, generator: small + [2**32, 2**63 + 12345, 2**64 - 1], python: small + [-7, 2**32, 2**63 - 1]}
    for make, values in seeds.items():
        for seed in values:
            pick = random.Random(seed)
            yield {"generator": make.__name__, "seed": str(seed), "calls": list(make(seed, pick))}


def libm():
    getcontext().prec = 60
    r = random.Random(1)
    rows = []
    for i in range(400):
        x = [r.random(), 1 - r.random() * 2**-r.randrange(1, 53), r.random() * 2**-r.randrange(1, 1000)][i % 3]
        y = [r.expovariate(0.5), 1 / r.random(), 100 * r.random()][i // 3 % 3]
        ln = Decimal(x).ln()
        rows.append([x, y, float(ln), float((Decimal(y) * ln).exp())])
    return rows


def write(name, lines):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    with open(path, "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(v, separators=(",", ":")) for v in lines) + "\n]\n")


write("draws.json", draws())
write("libm.json", libm())
