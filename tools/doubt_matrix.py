"""Which values of doubtful choices change pictures of which recordings: the table of docs/doubts.tsv.

    python tools/doubt_matrix.py FOLDER

FOLDER has recordings in folders of their own, such as 3ds/NAME.ctf.xz and switch/NAME.mxcap.zip. What is written are
numbers: how many pixels a value changes, in how many frames, and where first. A 0 says that the choice was tried, and
changed nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parents[1]
TABLE: Final = ROOT / "docs" / "doubts.tsv"
COLUMNS: Final = ("choice", "value", "recording", "pixels", "frames", "first")
SUFFIXES: Final = (".ctf.xz", ".gx.json.xz", ".mxcap.zip", ".pgc")


def recordings(folder: Path) -> list[Path]:
    """The recordings of a folder, in order of their names."""
    return sorted(path for path in folder.rglob("*") if path.name.endswith(SUFFIXES))


def rows(found: list[dict[str, Any]], folder: Path) -> Iterator[tuple[str, ...]]:
    """The rows of the table, from the answers of `pocketgpu doubts --json`."""
    for capture in found:
        name = Path(capture["path"]).relative_to(folder).as_posix()
        parted = {(one["choice"], one["value"]): one for one in capture["partings"]}
        for tried in capture["tried"]:
            choice, _, value = tried.partition("=")
            one = parted.get((choice, value))
            if one is None:
                yield choice, value, name, "0", "0", ""
            else:
                yield choice, value, name, str(one["pixels"]), str(one["frames"]), one["first"]


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: python tools/doubt_matrix.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1]).resolve()
    paths = recordings(folder)
    if not paths:
        print(f"there are no recordings in {folder}", file=sys.stderr)
        return 2
    line = [sys.executable, "-m", "pocketgpu", "doubts", "--json", *map(str, paths)]
    answer = subprocess.run(line, stdout=subprocess.PIPE, check=True)
    lines = ["\t".join(row) for row in sorted(rows(json.loads(answer.stdout)["captures"], folder))]
    TABLE.write_text("\n".join(["\t".join(COLUMNS), *lines, ""]), encoding="utf-8", newline="\n")
    print(f"{TABLE}: {len(lines)} rows of {len(paths)} recordings")
    return 0


if __name__ == "__main__":
    sys.exit(main())
