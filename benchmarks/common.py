"""What the benchmarks share: timing in turns, a description of the machine, printing and keeping figures.

Other programs may run on the same machine. So things that are compared are measured in turns in one run, each many
times, and figures have the load under which they were taken.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import platform
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from time import get_clock_info, perf_counter, thread_time
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))

from support import recordings  # noqa: E402  (found by the path above)

SHARED = recordings.folder()
CAPTURES = SHARED / "captures" / "3ds"
# For work of one thread: its processor time, which other programs do not add to. Coarse clocks are no use.
cpu_time = thread_time if get_clock_info("thread_time").resolution < 1e-6 else perf_counter


@dataclass
class Figure:
    """One measured number.

    what: a name that stays the same from run to run. value: the median of the repetitions, best: the best of them.
    target: what was promised, None for numbers that only inform. more: whether more is better. by_best: the promise is
    about `best`, because what it is compared with is the best of many, too. parts: what it is made of, by name.
    """

    what: str
    value: float
    unit: str
    best: float | None = None
    target: float | None = None
    more: bool = True
    note: str = ""
    by_best: bool = False
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None without one."""
        if self.target is None:
            return None
        value = self.best if self.by_best and self.best is not None else self.value
        return value >= self.target if self.more else value <= self.target


@dataclass
class Report:
    """The figures of one benchmark."""

    name: str
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, what: str, value: float, unit: str, **more: Any) -> Figure:
        figure = Figure(what, value, unit, **more)
        self.figures.append(figure)
        return figure

    def as_json(self) -> dict[str, Any]:
        figures = [asdict(f) | {"met": f.met} for f in self.figures]
        return {"name": self.name, "figures": figures, "notes": self.notes, "machine": machine()}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Report:
        """The report that `as_json` returned."""
        known = {f.name for f in fields(Figure)}
        figures = [Figure(**{k: v for k, v in figure.items() if k in known}) for figure in data["figures"]]
        return Report(data["name"], figures, data["notes"])


# -- measuring --------------------------------------------------------------------------------------------------------
@dataclass
class Series:
    """Seconds of many repetitions of one thing."""

    seconds: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def clock(work: Callable[[], object]) -> float:
    """Processor seconds that a call of one thread takes."""
    start = cpu_time()
    work()
    return cpu_time() - start


def turns(repeat: int, *measures: Callable[[], float], warm: int = 2) -> list[Series]:
    """Call each of `measures` (they return seconds) `repeat` times, in turns; `warm` rounds before do not count."""
    out = [Series() for _ in measures]
    gc.collect()
    for number in range(-warm, repeat):
        for series, measure in zip(out, measures, strict=True):
            seconds = measure()
            if number >= 0:
                series.seconds.append(seconds)
    return out


def ratio(slow: Series, fast: Series) -> tuple[float, float]:
    """How many times faster: (median over the rounds, of the two bests)."""
    rounds = [a / b for a, b in zip(slow.seconds, fast.seconds, strict=True)]
    return statistics.median(rounds), slow.best / fast.best


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(v) for v in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


# -- telling ----------------------------------------------------------------------------------------------------------
def machine() -> dict[str, Any]:
    """Where and when a figure was taken."""
    loads = os.getloadavg() if hasattr(os, "getloadavg") else ()
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load": [round(load, 2) for load in loads],
    }


def _processor() -> str:
    try:
        import llvmlite.binding as llvm

        name = f" ({llvm.get_host_cpu_name()})"
    except ImportError:
        name = ""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip() + name
    except OSError:
        pass
    return (platform.processor() or "unknown") + name


def number(value: float) -> str:
    """A number with three or four significant digits."""
    if not math.isfinite(value):
        return "-"
    digits = 0 if value == 0 else max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(digits, 5)}f}"


def show(reports: Sequence[Report], console: Console | None = None) -> None:
    """Print reports as one table."""
    console = console or Console(width=None if sys.stdout.isatty() else 150)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("benchmark", "figure"):
        table.add_column(column)
    for column in ("median", "best", "unit", "target"):
        table.add_column(column, justify="left" if column == "unit" else "right")
    table.add_column("")
    for report in reports:
        for i, f in enumerate(report.figures):
            mark = {None: "", True: "[green]met[/]", False: "[bold red]missed[/]"}[f.met]
            target = "" if f.target is None else f"{'>=' if f.more else '<='} {f.target:g}"
            best = "" if f.best is None else number(f.best)
            note = f"[dim]{f.note}[/]" if f.note else ""
            name = f"[bold]{report.name}[/]" if i == 0 else ""
            table.add_row(name, f.what, number(f.value), best, f.unit, target, f"{mark} {note}".strip())
    console.print(table)
    for report in reports:
        for note in report.notes:
            console.print(f"[dim]{report.name}: {note}[/]")
    m = machine()
    console.print(
        f"[dim]{m['date']}; {m['processor']}, {m['cores']} cores; {m['system']}, Python {m['python']}; "
        f"load average {m['load']}[/]"
    )


def run(name: str, measure: Callable[[Report, argparse.Namespace], None], **options: int | str) -> None:
    """The command line of one benchmark. `options` can be set: repeat=20 is a number, False a flag, "" a text."""
    parser = argparse.ArgumentParser(prog=f"benchmarks/{name}.py")
    parser.add_argument("--json", action="store_true", help="one JSON object to stdout instead of a table")
    for option, default in options.items():
        if default is False:
            parser.add_argument(f"--{option}", action="store_true")
            continue
        if isinstance(default, str):
            parser.add_argument(f"--{option}", default=default, metavar="TEXT")
            continue
        parser.add_argument(f"--{option}", type=int, default=default, metavar="N", help=f"default {default}")
    arguments = parser.parse_args()
    report = Report(name)
    measure(report, arguments)
    if arguments.json:
        json.dump(report.as_json(), sys.stdout, indent=1)
        print()
    else:
        show([report])
