"""Tables at any width: numbers are whole, no column is lost, on a real terminal too."""

from __future__ import annotations

import json
import os
import pty
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from pocketgpu.cli.parts.tables import INDENT, lay_out

SCENES = Path(__file__).resolve().parents[1] / "promises" / "data"
WIDTHS = (40, 60, 80, 100, 200)
COMMANDS = (
    "render scene_3ds.pgc --out OUT/a", "render scene_switch.pgc --out OUT/b", "bench scene_3ds.pgc --repeat 1",
    "bench scene_switch.pgc --repeat 1", "info scene_3ds.pgc", "info scene_switch.pgc", "check --list",
    "check scene_3ds.pgc", "timing", "events scene_3ds.pgc f0", "diff scene_3ds.pgc scene_3ds.pgc",
    "shader step OUT/t.shbin --at 0",
)  # fmt: skip
RUN = """
import fcntl, json, struct, sys, termios
from pocketgpu.cli import main
widths, lines = json.loads(sys.argv[1])
for width in widths:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    print("\\n# " + str(width), flush=True)
    for line in lines:
        print("$", " ".join(line), flush=True)
        main(line)
        sys.stdout.flush()
"""
ANSI = re.compile(r"\x1b\[[0-9;]*m")
# What differs from run to run, and from file to file: durations, rates, sizes.
VARYING = re.compile(r"\b[\d,]+\.\d+\b|\b[\d,]+(?=\s+(?:MiB|KiB|bytes)\b)")


def words(text: str) -> list[str]:
    return VARYING.sub("T", text).split()


# Layout


@pytest.mark.parametrize("seed", range(30))
def test_any_table_at_any_width(seed: int) -> None:
    """Every cell is there whole, rows begin with their first cell, and lines are longer only for a longer word."""
    r = random.Random(seed)
    kinds = [r.random() < 0.6 for _ in range(r.randint(1, 8))]

    def text(count: int) -> str:
        return " ".join("".join(r.choices("abcdefgh", k=r.randint(1, 14))) for _ in range(count))

    def cell(is_number: bool) -> str:
        return f"{10 ** r.randint(0, 9):,}" if is_number else text(r.randint(0, 9))

    title = [f"{text(1)}{n}" for n in range(len(kinds))]
    rows = [[f"row{n}", *(cell(kind) for kind in kinds)] for n in range(r.randint(1, 6))]
    columns = [("first", False), *zip(title, kinds, strict=True)]
    for width in (20, *WIDTHS):
        lines = [line for line, _ in lay_out(columns, rows, (), width)]
        starts = [n for n, line in enumerate(lines) if line.startswith("row")] + [len(lines)]
        assert len(starts) == len(rows) + 1
        for row, (start, end) in zip(rows, pairwise(starts), strict=True):
            found = Counter(" ".join(lines[start:end]).split())
            assert lines[start].split()[0] == row[0]
            assert not Counter(" ".join(row).split()) - found, f"something is missing at {width}: {row}"
        for line in lines:
            assert len(line) <= max(width, INDENT + max(map(len, line.split())), 3 + 5 + max(map(len, line.split())))


def test_a_table_that_fits_is_one_line_a_row() -> None:
    columns = [("frame", False), ("draws", True), ("files", False)]
    lines = list(lay_out(columns, [("f0", "12,345", "a.png b.png"), ("f1", "1", "c.png")], ("all", "12,346", ""), 40))
    assert lines == [
        ("frame    draws   files", True),
        ("f0      12,345   a.png b.png", False),
        ("f1           1   c.png", False),
        ("all     12,346", True),
    ]


def test_what_does_not_fit_goes_below_its_row() -> None:
    columns = [("frame", False), ("draws", True), ("triangles", True), ("files", False)]
    lines = [line for line, _ in lay_out(columns, [("f0", "12,345", "1,234,567", "a.png b.png")], (), 24)]
    assert lines == ["frame    draws", "f0      12,345", "    triangles 1,234,567", "    files a.png b.png"]


# A terminal


def on_a_terminal(widths: Sequence[int], out: Path) -> dict[int, dict[str, str]]:
    """What each command prints on a terminal of each width."""
    lines = [command.replace("OUT", str(out)).split() for command in COMMANDS]
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, json.dumps([widths, lines])], cwd=SCENES, env={**environment, "TERM": "xterm"},
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(theirs)
    data = bytearray()
    while True:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # the terminal is closed
            break
        if not piece:
            break
        data += piece
    os.close(ours)
    assert process.wait() == 0
    text = ANSI.sub("", data.decode()).replace("\r\n", "\n").replace(str(out), "OUT")
    found = {}
    for part in text.split("\n# ")[1:]:
        width, *blocks = part.split("\n$ ")
        found[int(width)] = {command: shown for command, _, shown in (block.partition("\n") for block in blocks)}
    return found


def test_no_command_loses_a_number_on_a_narrow_terminal(tmp_path: Path) -> None:
    found = on_a_terminal(WIDTHS, tmp_path)
    wide = found.pop(200)
    assert [*found, 200] == list(WIDTHS) and list(wide) == list(COMMANDS)
    assert max(len(line) for line in "\n".join(found[40].values()).splitlines()) < max(
        len(line) for line in "\n".join(wide.values()).splitlines()
    ), "commands see the width"
    for width, shown_by in found.items():
        assert list(shown_by) == list(COMMANDS)
        for command, shown in shown_by.items():
            lost = Counter(words(wide[command])) - Counter(words(shown))
            assert not lost, f"{command} at {width} columns lacks {sorted(lost)}"
            heading = next((line for line in shown.splitlines() if line.startswith(("frame", "rule"))), None)
            if heading is not None and any(line.startswith(("frame", "rule")) for line in wide[command].splitlines()):
                assert heading.split()[0] in ("frame", "rule")
