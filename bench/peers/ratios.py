"""Prints what clients cost and how wrong they are beside the first of them.

Usage: python ratios.py RESULT.JSON...    files of pitot conform --out
"""

import json
import statistics
import sys


def load(files):
    """Results by client and cell, in the order of the files."""
    clients = {}
    for name in files:
        with open(name, encoding="utf-8") as f:
            for report in json.load(f):
                cells = clients.setdefault(report["client"], {})
                for result in report["results"]:
                    result["definitions"] = report.get("definitions", {})
                    cells.setdefault(result["cell"]["name"], []).append(result)
    return clients


def middle(results, value):
    values = [v for v in map(value, results) if v is not None]
    return statistics.median(values) if values else None


def cost(result):
    """Processor time for a token, in seconds; None where the client failed."""
    return None if result.get("failure") else result["usage"].get("per_token")


def p99_error(result):
    """Of the P99 of gaps between tokens, as a share of the true one. AIPerf calls the
    gaps ICL; a tool whose ITL is a mean of gaps has no such figure."""
    for metric in ("icl", "itl"):
        if result["definitions"].get(metric, {}).get("code") != "conform.gaps":
            continue
        for figure in result.get("figures", []):
            if figure["metric"] == metric and figure["statistic"] == "p99" and figure["true"] > 0:
                return abs(figure["claimed"] - figure["true"]) / figure["true"]
    return None


def table(title, clients, cell_names, text):
    print(f"\n{title}")
    width = max(map(len, cell_names))
    print(" " * width, *(f"{name:>15}" for name in clients))
    for cell in cell_names:
        print(f"{cell:<{width}}", *(f"{text(cells.get(cell, []), cell):>15}" for cells in clients.values()))


def main():
    clients = load(sys.argv[1:])
    first = next(iter(clients))
    cell_names = list(dict.fromkeys(cell for cells in clients.values() for cell in cells))

    def cost_text(results, cell):
        mine, base = middle(results, cost), middle(clients[first].get(cell, []), cost)
        if not mine:
            return "failed" if any(r.get("failure") for r in results) else "-"
        ratio = f" {mine / base:.2f}x" if base else ""
        return f"{mine * 1e6:.1f} us{ratio}"

    def error_text(results, _):
        error = middle(results, p99_error)
        return "-" if error is None else f"{error:.3%}"

    table(f"CPU time for a token, and how many times that of {first}", clients, cell_names, cost_text)
    table("Error of P99 ITL, without its sign", clients, cell_names, error_text)


if __name__ == "__main__":
    main()
