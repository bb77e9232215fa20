"""``python -m pitot_bench`` and the command ``pitot-bench``: the program itself."""

import os
import subprocess
import sys

from . import program


def main() -> None:
    words = [program(), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(words[0], words)
    sys.exit(subprocess.call(words))


if __name__ == "__main__":
    main()
