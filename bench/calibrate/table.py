"""What bench/calibrate/llama.sh measured, beside what was predicted.

table.py rate            requests/s of the records on stdin, from the first to the last
table.py tables FOLDER   the tables of its files, in Markdown
"""

import json
import pathlib
import statistics
import sys

FIGURES = {
    "throughput.output": ("output", 1, "tok/s"),
    "ttft.mean": ("TTFT mean", 1e3, "ms"),
    "ttft.p99": ("TTFT P99", 1e3, "ms"),
    "tpot.mean": ("TPOT mean", 1e3, "ms"),
    "itl.mean": ("ITL mean", 1e3, "ms"),
    "itl.p99": ("ITL P99", 1e3, "ms"),
    "e2el.mean": ("E2EL mean", 1e3, "ms"),
    "e2el.p99": ("E2EL P99", 1e3, "ms"),
}
LOADS = {
    1: "open, 0.5 of the capacity",
    2: "open, 0.75 of the capacity",
    3: "2 in flight",
    4: "6 in flight",
    5: "5 in flight, prompts 1.75 times as long",
}


def rate():
    lines = [json.loads(line) for line in sys.stdin if line.strip()]
    ends = sorted(r["done_ns"] for r in lines if r.get("done_ns"))
    seconds = (ends[-1] - ends[0]) / 1e9
    print(f"{(len(ends) - 1) / seconds:.4g}")


def read(file):
    """The figures of a prediction by name, and in which ways it leaves what was seen."""
    report = json.loads(file.read_text())
    row = report["rows"][0]
    figures = {f["name"]: f for f in row["prediction"]["figures"]}
    return figures, row.get("extrapolated", "")


def row(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |")


def shown(value, scale):
    return f"{value * scale:.4g}"


def spread(values):
    """The standard deviation of repetitions, relative to their mean; 0 of one."""
    return statistics.stdev(values) / statistics.mean(values) if len(values) > 1 else 0


def measured_in(figure):
    """What the run has, in a list; nothing if its client was in the way of the figure."""
    return figure.get("measured", [])


def heldout(folder, number):
    """One held-out load: returns by figure the error of the prediction and the spread."""
    replays = [read(folder / f"heldout-{number}.{i}.json") for i in (1, 2, 3)]
    new, _ = read(folder / f"heldout-{number}.new.json")
    first, beyond = replays[0]
    print(f"\n### {LOADS[number]}{' (beyond what was seen: ' + beyond + ')' if beyond else ''}\n")
    row("figure", "predicted, these requests", "90 %", "predicted, new requests", "90 %", "measured 1", "2", "3", "spread", "error", "inside", "inside, new")
    row(*["---"] * 12)
    out = {}
    for name, (title, scale, unit) in FIGURES.items():
        p, q = first[name], new[name]
        each = [measured_in(figures[name]) for figures, _ in replays]
        measured = [v for values in each for v in values]
        if not measured:
            row(f"{title} ({unit})", *["void"] * 11)
            continue
        error = p["predicted"] / statistics.mean(measured) - 1
        inside = [sum(f["low"] <= v <= f["high"] for v in measured) for f in (p, q)]
        row(
            f"{title} ({unit})",
            shown(p["predicted"], scale),
            f"{shown(p['low'], scale)} to {shown(p['high'], scale)}",
            shown(q["predicted"], scale),
            f"{shown(q['low'], scale)} to {shown(q['high'], scale)}",
            *[shown(values[0], scale) if values else "void" for values in each],
            f"{100 * spread(measured):.1f} %",
            f"{100 * error:+.1f} %",
            *[f"{n} of {len(measured)}" for n in inside],
        )
        out[name] = abs(error), spread(measured), *inside, len(measured)
    return out


def calibration(folder):
    """How far apart the two sets of calibration loads are, in figures over what the same engine has."""
    print("\n### The loads of the calibration, measured over simulated: set 1 and set 2\n")
    names = ["throughput.output", "ttft.mean", "tpot.mean"]
    row("load", *[FIGURES[n][0] for n in names])
    row(*["---"] * (1 + len(names)))
    for k in range(1, 7):
        sets = [read(folder / f"calibration-{k}.{i}.json")[0] for i in (1, 2)]
        ratios = [[f"{v / s[n]['predicted']:.3f}" for s in sets for v in measured_in(s[n]) or [float("nan")]] for n in names]
        row(k, *[", ".join(r) for r in ratios])


def tables(folder):
    all_ = [heldout(folder, number) for number in LOADS]
    print("\n### All held-out loads\n")
    row("figure", "mean error", "spread of the repetitions", "inside", "inside, new requests")
    row(*["---"] * 5)
    for name, (title, _, _) in FIGURES.items():
        cells = [one[name] for one in all_ if name in one]
        if not cells:
            continue
        errors, spreads, inside, new, runs = zip(*cells)
        runs = sum(runs)
        row(title, f"{100 * statistics.mean(errors):.1f} %", f"{100 * statistics.mean(spreads):.1f} %", f"{sum(inside)} of {runs}", f"{sum(new)} of {runs}")
    calibration(folder)


if sys.argv[1] == "rate":
    rate()
else:
    tables(pathlib.Path(sys.argv[2]))
