"""Pitot from Python: make runs, and look at them.

    from pitot_bench import run, runs, compare

    before = run("bench", url="http://127.0.0.1:8000", rate=10, n=200)
    print(before.validity, before.figures["ttft.p99"])      # seconds
    runs(since="7d", tag="baseline").frame()                # pandas, one row a run
    before.requests().frame()                               # one row a request

All is done by the program ``pitot``, which is in this package: each function here runs it once, and
reads the JSON that it prints. Names of figures and their units are those of
``pitot runs export --summary``: times in seconds, throughput per second.
"""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable, List, Mapping, Optional, Sequence, TypeVar, Union

__all__ = ["PitotError", "Rows", "Run", "compare", "pitot", "program", "run", "runs"]

Flag = Union[None, bool, str, int, float, Path, Sequence[Union[str, int, float]]]

_ABOUT = ("run", "name", "kind", "status", "validity", "started", "dialect", "model", "url", "load",
          "rate", "max_concurrency", "requests", "failed", "tags", "remark")  # the rest of a row are figures


class PitotError(RuntimeError):
    """The program ended with a code other than 0; its message is that of the program."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        #: exit code: 1 failure, 2 wrong arguments, 3 a gate was not met, 4 the data do not decide, 130 interrupted
        self.code = code


T = TypeVar("T")


class Rows(List[T]):
    """A list that becomes a pandas frame."""

    def frame(self) -> Any:
        """One row an element; needs pandas."""
        import pandas  # type: ignore[import-untyped,unused-ignore]

        return pandas.DataFrame([x.row() if isinstance(x, Run) else x for x in self])


@dataclass(frozen=True)
class Run:
    """A stored run. figures are by name, such as ``ttft.mean`` (seconds) or ``throughput.output`` (tokens/s)."""

    id: str
    name: str
    kind: str  # measured, simulated or imported
    status: str  # complete, interrupted, running or killed
    validity: str  # valid, doubtful, invalid, or empty if not judged
    started: str  # RFC 3339, UTC
    model: str
    load: str
    rate: float  # requests/s; 0: not one constant rate
    max_concurrency: int  # 0: no limit
    sent: int
    failed: int
    tags: Sequence[str]
    figures: Mapping[str, float]
    store: Optional[str] = field(default=None, repr=False)

    def row(self) -> Mapping[str, Any]:
        """The run as one flat row."""
        about = {k: v for k, v in self.__dict__.items() if k not in ("figures", "store")}
        return {**about, "tags": ",".join(self.tags), **self.figures}

    def requests(self) -> Rows[Mapping[str, Any]]:
        """The requests of the run, a dict each: the columns of ``pitot runs export -f csv``, numbers as numbers."""
        out = pitot("runs", "export", self.id, format="csv", store=self.store)
        csv.field_size_limit(sys.maxsize)
        return Rows({k: _number(v) for k, v in row.items()} for row in csv.DictReader(io.StringIO(out)))

    def report(self) -> Any:
        """The whole report of the run: what ``pitot runs report --dialect json`` prints."""
        return json.loads(pitot("runs", "report", self.id, dialect="json", store=self.store))


def program() -> str:
    """The path of the program: PITOT, or the one that was installed with this package."""
    if "PITOT" in os.environ:
        return os.environ["PITOT"]
    name = "pitot" + (".exe" if os.name == "nt" else "")
    user = "posix_user" if os.name == "posix" else "nt_user"
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", user),
               str(Path(__file__).resolve().parent.parent / "bin")]  # of pip install --target
    for folder in folders:
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(f"the program pitot is not in {', '.join(folders)}: install pitot-bench again, or set PITOT")


def pitot(*words: str, **flags: Flag) -> str:
    """Run ``pitot`` and return what it prints.

    ``pitot("runs", "list", since="7d", json=True)`` is ``pitot runs list --since=7d --json``. A flag that is None or
    False is left out, a list gives the flag once for each element, and ``_`` in its name is ``-``. A name of one letter
    is a short flag.
    """
    done = subprocess.run([program(), *words, *_flags(flags)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          encoding="utf-8", errors="replace", env={**os.environ, "PITOT_LANG": "en"})
    if done.returncode != 0:
        _, _, said = ("\n" + done.stderr.strip()).rpartition("\npitot: ")  # its last message, which may have several lines
        raise PitotError(done.returncode, said.strip() or f"pitot ended with exit code {done.returncode}")
    return done.stdout


def run(command: str = "bench", *words: str, store: Optional[str] = None, **flags: Flag) -> Run:
    """Make a run: ``run("bench", url="http://127.0.0.1:8000", rate=10, n=200)``, or ``run("sim", n=1000, rate=20)``."""
    report = json.loads(pitot(command, *words, report="json", quiet=True, store=store, **flags))
    return _listed(["export", report["run"]["id"], "--summary", "--format=json"], store)[0]


def runs(*patterns: str, store: Optional[str] = None, **filters: Flag) -> Rows[Run]:
    """The stored runs, newest first; filters are the flags of ``pitot runs list``, such as since, model, tag, verdict."""
    return _listed(["list", *patterns, "--json", *_flags(filters)], store)


def compare(*of: Union[str, Run], store: Optional[str] = None, **flags: Flag) -> Any:
    """The comparison of runs, as ``pitot compare --format json`` prints it."""
    store = store or next((r.store for r in of if isinstance(r, Run) and r.store), None)
    return json.loads(pitot("compare", *(r.id if isinstance(r, Run) else r for r in of), format="json", store=store, **flags))


def _listed(words: Iterable[str], store: Optional[str]) -> Rows[Run]:
    rows = json.loads(pitot("runs", *words, store=store))
    return Rows(
        Run(
            id=r["run"], name=r["name"], kind=r["kind"], status=r["status"], validity=r["validity"], started=r["started"],
            model=r["model"], load=r["load"], rate=r["rate"], max_concurrency=r["max_concurrency"], sent=r["requests"],
            failed=r["failed"], tags=tuple(r["tags"].split(", ")) if r["tags"] else (),
            figures={k: v for k, v in r.items() if k not in _ABOUT and v is not None}, store=store,
        )
        for r in rows
    )


def _flags(flags: Mapping[str, Flag]) -> List[str]:
    out: List[str] = []
    for name, value in flags.items():
        flag = "-" + name if len(name) == 1 else "--" + name.replace("_", "-")
        many = value if isinstance(value, (list, tuple)) else [value]
        for v in many:
            if v is None or v is False:
                continue
            if v is True:
                out.append(flag)
            elif len(name) == 1:
                out += [flag, str(v)]
            else:
                out.append(f"{flag}={v}")
    return out


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text if text else None
