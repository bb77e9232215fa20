"""Which adapter each of ten requests has, and when it is sent, as sglang.bench_serving
draws both from the generators of Python and numpy, with numpy itself.

    python dispatch.py > dispatch.json
"""

import json
import random
import sys

import numpy as np

NAMES = ["a", "b", "c", "d"]


def dispatch(seed, distribution, alpha, rate):
    random.seed(seed)
    np.random.seed(seed)
    weights = np.array([alpha**-i for i in range(len(NAMES))])
    shares = weights / np.sum(weights)
    at, names, times = 0.0, [], []
    for i in range(10):
        times.append(at)
        if distribution == "uniform":
            names.append(random.choice(NAMES))
        elif distribution == "distinct":
            names.append(NAMES[i % len(NAMES)])
        else:
            names.append(str(np.random.choice(NAMES, p=shares)))
        at += np.random.exponential(1.0 / rate)
    return {"seed": seed, "distribution": distribution, "alpha": alpha, "rate": rate, "names": names, "times": times, "end": at}


cases = [dispatch(s, d, a, r) for s in (1, 42, 7) for d, a, r in (("uniform", 1.5, 2.0), ("distinct", 1.5, 0.5), ("skewed", 1.5, 3.0), ("skewed", 4.0, 100.0))]
json.dump(cases, sys.stdout, indent=0)
print()
