"""Writes the Parquet files of this folder, and golden.json with what pyarrow reads
from them.

    pip install pyarrow==26.0.1 && python golden.py
"""

import base64
import datetime
import json
import os

import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))


def plain(v):
    if isinstance(v, bytes):
        return {"bytes": base64.b64encode(v).decode()}
    if isinstance(v, (datetime.datetime, datetime.date)):
        return v.isoformat()
    if isinstance(v, list):
        return [plain(x) for x in v]
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    return v


TURN = pa.struct([("role", pa.string()), ("content", pa.string())])
SCHEMA = pa.schema(
    [
        ("text", pa.string()),
        ("small", pa.int32()),
        ("number", pa.int64()),
        ("half", pa.float32()),
        ("real", pa.float64()),
        ("yes", pa.bool_()),
        ("raw", pa.binary()),
        ("turns", pa.list_(TURN)),
        ("grid", pa.list_(pa.list_(pa.int64()))),
        ("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
        ("notes", pa.map_(pa.string(), pa.int64())),
        ("when", pa.timestamp("ms")),
        ("day", pa.date32()),
        pa.field("sure", pa.string(), nullable=False),
        ("deep", pa.list_(pa.struct([("tags", pa.list_(pa.string())), ("at", pa.struct([("x", pa.int64())]))]))),
    ]
)


def row(i):
    return {
        "text": None if i % 5 == 4 else f"row {i} ü",
        "small": i - 3,
        "number": i * 10**12,
        "half": i / 4,
        "real": None if i == 2 else i / 3,
        "yes": i % 2 == 0,
        "raw": bytes(range(i)),
        "turns": None if i == 3 else [{"role": r, "content": None if i == 1 else f"{r} {i}"} for r in ("user", "assistant")[: i % 3]],
        "grid": [[1, i], [], None, [None, 7]][: i % 5],
        "image": None if i == 6 else {"bytes": b"\xff\xd8" + bytes([i]), "path": None},
        "notes": [("a", i), ("b", None)][: i % 3],
        "when": datetime.datetime(2024, 5, 10, 0, 0, i, 500000),
        "day": datetime.date(2024, 5, 1 + i % 9),
        "sure": "s",
        "deep": [{"tags": ["x"] * k, "at": {"x": k} if k else None} for k in range(i % 4)],
    }


def main():
    golden = {}
    for name, rows, options in (
        ("kinds", 12, dict(compression="snappy", row_group_size=5)),
        ("zstd", 40, dict(compression="zstd", data_page_version="2.0", data_page_size=64)),
        ("plain", 3, dict(compression="none", use_dictionary=False)),
        ("none", 0, dict(compression="gzip")),
    ):
        table = pa.Table.from_pylist([row(i) for i in range(rows)], schema=SCHEMA)
        path = os.path.join(HERE, name + ".parquet")
        pq.write_table(table, path, **options)
        back = pq.read_table(path).to_pylist(maps_as_pydicts="strict")
        golden[name] = [plain(r) for r in back]
    with open(os.path.join(HERE, "golden.json"), "w") as f:
        json.dump(golden, f, separators=(",", ":"))
        f.write("\n")


main()
