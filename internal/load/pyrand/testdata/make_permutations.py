"""Writes permutations.json: permutations and samples of rows as numpy and pandas
draw them.

    pip install numpy==2.4.6 pandas==3.1.1 && python make_permutations.py
"""

import json
import os

import numpy as np
import pandas as pd

cases = []
for seed in (0, 1, 42, 2**32 - 1):
    for n in (1, 2, 7, 100, 1000):
        g = np.random.default_rng(seed)
        first = g.permutation(n).tolist()
        items = list(range(n))
        g.shuffle(items)
        frame = pd.DataFrame({"row": range(n)})
        take = lambda k, replace: frame.sample(n=k, random_state=seed, replace=replace)["row"].tolist()
        cases.append(
            {
                "seed": seed,
                "n": n,
                "permutation": first,
                "shuffle": items[:20],
                "after": float(g.random()),
                "legacy": np.random.RandomState(seed).permutation(n).tolist()[:20],
                "sample": take(min(n, 20), False),
                "replaced": take(min(3 * n, 20), True),
            }
        )
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "permutations.json"), "w") as f:
    json.dump(cases, f, separators=(",", ":"))
    f.write("\n")
