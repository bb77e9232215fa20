#!/usr/bin/env python3
"""Writes wheels of pitot-bench: the static program, and the module pitot_bench. The same input gives the same bytes.

Usage: packaging/wheel.py VERSION README OUT PLATFORM=PROGRAM...    such as linux-amd64=dist/build/linux-amd64/pitot
"""

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path

# A static program runs on any libc: one wheel has both tags of Linux.
TAGS = {
    "linux-amd64": ["manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"],
    "linux-arm64": ["manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"],
    "darwin-amd64": ["macosx_11_0_x86_64"],
    "darwin-arm64": ["macosx_11_0_arm64"],
}
MODULE = Path(__file__).parent / "python" / "pitot_bench"


def public(version: str) -> str:
    """The version by PEP 440: 0.1.0-dev+47f2963e.dirty is 0.1.0.dev0+47f2963e.dirty."""
    version = version.replace("-dev", ".dev0")
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?(\.dev0)?(\+[a-z0-9.]+)?", version):
        sys.exit(f"wheel.py: {version} is no version of a wheel")
    return version


def write(version: str, readme: str, out: Path, platform: str, program: Path) -> Path:
    tags = TAGS[platform]
    info = f"pitot_bench-{version}.dist-info"
    files = {f"pitot_bench/{p.name}": p.read_bytes() for p in sorted(MODULE.iterdir()) if p.is_file()}
    files[f"pitot_bench-{version}.data/scripts/pitot"] = program.read_bytes()
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: pitot-bench\nVersion: {version}\n"
        "Summary: Measures LLM serving endpoints, and says whether a change made a difference\n"
        "License: Apache-2.0\nRequires-Python: >=3.9\nProvides-Extra: pandas\nRequires-Dist: pandas; extra == 'pandas'\n"
        f"Description-Content-Type: text/markdown\n\n{readme}"
    ).encode()
    files[f"{info}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: pitot\nRoot-Is-Purelib: false\n" + "".join(f"Tag: py3-none-{t}\n" for t in tags)
    ).encode()
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\npitot-bench = pitot_bench.__main__:main\n"
    for licence in ("LICENSE", "LICENSES.txt"):
        if (program.parent / licence).exists():
            files[f"{info}/licenses/{licence}"] = (program.parent / licence).read_bytes()
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for name, data in files.items()
    )
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    path = out / f"pitot_bench-{version}-py3-none-{'.'.join(tags)}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            z.writestr(entry, data)
    return path


def main() -> None:
    version, readme, out, *programs = sys.argv[1:]
    for platform, program in (p.split("=", 1) for p in programs):
        print(write(public(version), Path(readme).read_text(), Path(out), platform, Path(program)))


if __name__ == "__main__":
    main()
