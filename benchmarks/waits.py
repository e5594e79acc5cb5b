"""Where users wait, in one table: `python benchmarks/waits.py --wheel dist/pocketgpu-0.1.0-py3-none-any.whl`.

Runs `first_picture` (all public recordings), `answers`, `llvmpipe`, `captures` and `sass`, each in a process of its
own, and makes the kernels of a clone with an empty cache. The table has what each costs at first (cold) and afterwards
(warm), what is promised, and where the time of a start goes. It takes half an hour on two cores.

    --only answers,sass   some of the parts
    --level x86-64-v3     with code made for AVX2 only, where the processor has more; the C of `sass` too
    --again FILE          prints the table of figures that are there: those of build/waits.json, for one

Figures go to build/waits.json (--out FILE) as each part ends. A figure of a group of recordings is the median and the
most of them, as the best of its repetitions: `captures` and `llvmpipe` say in README.md why.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from common import ROOT, Figure, Report, machine, number
from phases import PHASES
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
OUT = ROOT / "build" / "waits.json"
PARTS = ("first_picture", "answers", "llvmpipe", "captures", "sass", "clone")
STARTS = {
    "3DS": re.compile(r".*\.(ctf|gx\.json)$"),
    "Switch, 1280x720": re.compile(r".*1280x720.*\.mxcap$"),
    "Switch, small": re.compile(r".*\.mxcap$"),
}
"""Public recordings by what is promised for them; the first that matches counts."""
ASKED = {"events": 0.5, "state": 0.6, "why": 0.8}
NUMPY = 0.26
"""Seconds that are promised for a command where `import numpy` takes NUMPY."""
CLONE, CLONE_SECONDS = ("cache", "make", "--seconds", "13"), 15.0
MEGABYTE = 1e6
WHEEL, UNPACKED = 15.0, 60.0


@dataclass(frozen=True)
class Row:
    """One line: what costs something, at first and afterwards, and what was promised for each."""

    what: str
    cold: str
    warm: str
    promised: str
    met: bool | None = None


# -- running ----------------------------------------------------------------------------------------------------------
def measured(part: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """What a part's process reports."""
    environment = os.environ | ({"POCKETGPU_LEVEL": arguments.level} if arguments.level else {})
    if part == "clone":
        return clone(environment).as_json()
    command = [sys.executable, str(HERE / f"{part}.py"), "--json"]
    if part == "first_picture":
        command += ["--all", *(["--wheel", arguments.wheel] if arguments.wheel else [])]
    if arguments.repeat:
        command += ["--repeat", str(arguments.repeat)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def clone(environment: dict[str, str]) -> Report:
    """What `make demo` does once in a clone: kernels are made in an empty cache."""
    report = Report("clone")
    with tempfile.TemporaryDirectory() as cache:
        environment = environment | {"POCKETGPU_CACHE": cache, "PYTHONPATH": str(ROOT / "src")}
        begin = perf_counter()
        subprocess.run(
            [sys.executable, "-m", "pocketgpu", *CLONE], env=environment, check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        report.add("kernels made once", perf_counter() - begin, "s", target=CLONE_SECONDS, more=False)
    return report


def wheel_sizes(wheel: Path) -> Report:
    """Megabytes of a wheel, and of what is in it."""
    report = Report("wheel")
    with zipfile.ZipFile(wheel) as file:
        unpacked = sum(one.file_size for one in file.infolist())
    report.add("wheel", wheel.stat().st_size / MEGABYTE, "MB", target=WHEEL, more=False)
    report.add("unpacked", unpacked / MEGABYTE, "MB", target=UNPACKED, more=False)
    return report


# -- the table --------------------------------------------------------------------------------------------------------
def best(figure: Figure) -> float:
    return figure.value if figure.best is None else figure.best


def starts(report: Report) -> Iterator[Row]:
    """Of each group of recordings: the median and the most of them, in multiples of `import numpy`."""
    for group, found in grouped(report).items():
        texts, targets, met = {}, {}, True
        for when, figures in found.items():
            most = max(figures, key=best)
            name = most.what.rpartition(", ")[0]
            texts[when] = f"{statistics.median(map(best, figures)):.2f}, most {best(most):.2f} ({name})"
            targets[when] = most.target
            met = met and most.target is not None and best(most) <= most.target
        promised = f"{targets.get('cold') or 0:g}; {targets.get('warm') or 0:g}"
        yield Row(f"first picture, {group}, x import numpy", texts["cold"], texts["warm"], promised, met)


def grouped(report: Report) -> dict[str, dict[str, list[Figure]]]:
    """Figures of starts by group of recordings, and by cold and warm."""
    out: dict[str, dict[str, list[Figure]]] = {}
    for figure in report.figures:
        name, _, when = figure.what.rpartition(", ")
        group = next((group for group, pattern in STARTS.items() if pattern.match(name)), None)
        if group:
            out.setdefault(group, {}).setdefault(when, []).append(figure)
    return out


def answers(report: Report) -> Iterator[Row]:
    for figure in report.figures:
        command, _, console = figure.what.removeprefix("worst ").partition(", ")
        if not figure.what.startswith("worst "):
            continue
        if command in ASKED:
            times, most = float(figure.note.split(" x")[0]), ASKED[command] / NUMPY
            text = f"{number(figure.value)} s, {times:.2f} x import numpy"
            yield Row(f"{command}, {console}, slowest", "", text, f"{ASKED[command]} s or {most:.2f} x", times <= most)
        else:
            text = f"{number(figure.value)} {figure.unit}"
            yield Row(f"{command} in Python, {console}", "", text, f"{figure.target:g} {figure.unit}", figure.met)


def against_llvmpipe(report: Report) -> Iterator[Row]:
    first = {f.what.removesuffix(", first frame"): f for f in report.figures if f.what.endswith(", first frame")}
    for figure in report.figures:
        if figure.target is None:
            continue
        begin = first.get(figure.what)
        cold = f"first frame {number(begin.value)} ms" if begin else ""
        text = f"{figure.value:.2f} x its time" + (f" ({figure.note})" if figure.note else "")
        yield Row(f"llvmpipe: {figure.what}", cold, text, f"{figure.target:g} x", figure.met)


def recordings(report: Report) -> Iterator[Row]:
    """Times faster than the emulator: a fresh machine as cold, one in use as warm."""
    found = {f.what: f for f in report.figures}
    for what in sorted({name.rpartition(", ")[0] for name, f in found.items() if f.target is not None}, reverse=True):
        fresh, used = found.get(f"{what}, fresh"), found.get(f"{what}, long run")
        if fresh and used:
            texts = [f"{best(f):.2f} x faster" for f in (fresh, used)]
            promised = f"{fresh.target:g}; {used.target:g}"
            yield Row(f"3DS replay, {what}", *texts, promised, bool(fresh.met and used.met))


def shaders(report: Report) -> Iterator[Row]:
    for figure in report.figures:
        if figure.target is None or not figure.what.endswith((", times the C", "launch", "instructions", "again")):
            continue
        if figure.what.endswith("thread-instructions"):
            continue
        text = f"{number(best(figure))} {figure.unit}"
        cold = "code made" in figure.what
        cells = (text, "") if cold else ("", text)
        yield Row(f"shaders: {figure.what}", *cells, f"{figure.target:g} {figure.unit}", figure.met)


def plain(report: Report) -> Iterator[Row]:
    for figure in report.figures:
        text, promised = f"{number(figure.value)} {figure.unit}", f"{figure.target or 0:g} {figure.unit}"
        yield Row(figure.what, text, "", promised, figure.met)


TELLERS = {
    "first_picture": starts, "answers": answers, "llvmpipe": against_llvmpipe, "captures": recordings,
    "sass": shaders, "clone": plain, "wheel": plain,
}  # fmt: skip


def show(found: dict[str, Any]) -> bool:
    """Print the tables; whether all that was promised is met."""
    console = Console(width=None if sys.stdout.isatty() else 180)
    reports = {name: Report.from_json(data) for name, data in found["parts"].items()}
    rows = [row for name, report in reports.items() for row in TELLERS[name](report)]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("where users wait", "cold", "warm", "promised", ""):
        table.add_column(column)
    for row in rows:
        mark = {None: "", True: "[green]met[/]", False: "[bold red]missed[/]"}[row.met]
        table.add_row(row.what, row.cold, row.warm, row.promised, mark)
    console.print(table)
    if "first_picture" in reports:
        console.print()
        console.print(breakdown(reports["first_picture"]))
    for name, data in found["parts"].items():
        taken = data["machine"]
        console.print(f"[dim]{name}: {taken['date']}, load {taken['load']}[/]")
    level = found["level"] or "all instructions"
    console.print(f"[dim]{found['machine']['processor']}, {found['machine']['cores']} cores; code for {level}[/]")
    return all(row.met is not False for row in rows)


def breakdown(report: Report) -> Table:
    """Where the time of a start goes: of each group of recordings the median of every phase."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("a start, x import numpy")
    for phase in PHASES:
        table.add_column(phase, justify="right")
    for group, found in grouped(report).items():
        for when, figures in found.items():
            parts = (statistics.median(f.parts.get(phase, 0.0) for f in figures) for phase in PHASES)
            table.add_row(f"{group}, {when}", *(f"{value:.2f}" for value in parts))
    return table


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks/waits.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--wheel", default="", metavar="FILE", help="starts of an installed wheel, not of this tree")
    parser.add_argument("--level", default="", metavar="NAME", help="x86-64-v2, x86-64-v3 or x86-64-v4")
    parser.add_argument("--only", default=",".join(PARTS), metavar="PARTS", help=f"default {','.join(PARTS)}")
    parser.add_argument("--repeat", type=int, metavar="N", help="repetitions, instead of each part's own number")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE", help="default build/waits.json")
    parser.add_argument("--again", type=Path, metavar="FILE", help="print the table of this file; measure nothing")
    arguments = parser.parse_args()
    if arguments.again:
        return 0 if show(json.loads(arguments.again.read_text(encoding="utf-8"))) else 1
    chosen = arguments.only.split(",")
    if unknown := sorted(set(chosen) - set(PARTS)):
        parser.error(f"no part is called {', '.join(unknown)}; there are {', '.join(PARTS)}")
    found: dict[str, Any] = {"machine": machine(), "level": arguments.level, "parts": {}}
    if arguments.wheel:
        found["parts"]["wheel"] = wheel_sizes(Path(arguments.wheel)).as_json()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    for part in chosen:
        print(f"running {part} ...", file=sys.stderr, flush=True)
        found["parts"][part] = measured(part, arguments)
        arguments.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0 if show(found) else 1


if __name__ == "__main__":
    sys.exit(main())
