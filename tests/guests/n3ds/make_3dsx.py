"""Makes a .3dsx of an .elf of the tests, with title, icon and read-only files.

    python3 make_3dsx.py tables.elf tables.3dsx
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3] / "tools")]

from make_3dsx import make  # noqa: E402

FILES = {"hello.txt": b"hello from the RomFS\n", "second.txt": b"and from another file\n"}

if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    title = source.stem
    target.write_bytes(make(source.read_bytes(), title, f"{title}: a program of the tests", FILES))
