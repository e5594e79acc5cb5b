"""Replay time of real recordings against that of a C++ emulator's software renderer.

`ms_best` of TIMES.tsv beside the recordings is the emulator's best replay in four settings (interpreter or JIT,
one or two threads). Ours runs from the first event of a frame to its marker with all guest memory written, per
frame over all frames of a recording. "long run": one machine that is reset before each pass, as `pocketgpu
bench` does it: memory is zero and every load counts, but what was prepared for its draws is kept. "fresh": a new
machine every pass, which also waits for the system to allocate pages. One thread is timed by its processor time,
two by the wall clock. Textures are filtered as programmed; the emulator samples the nearest texel only.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from time import perf_counter

from common import CAPTURES, Report, Series, cpu_time, geometric_mean, recordings, run, turns
from guest import use_clock

import pocketgpu
from pocketgpu.capture.driver.n3ds import N3DSDriver
from pocketgpu.capture.formats.citrace import Trace

TARGET = 5.0  # times faster than ms_best, for the plain recordings, best against best
PLAIN = ("simple_tri", "both_screens", "multiple_buf", "immediate", "textured_cube")
NO_DRAWS = "hwtest_texcopy"
THREADS = (1, 2)
KINDS = ("long run", "fresh")
IN_A_ROW = 3


class Player:
    """Replays one recording with one number of threads."""

    def __init__(self, trace: Trace, threads: int) -> None:
        self.trace, self.threads = trace, threads
        self.driver = self._fresh()
        self.missing: set[str] = set()
        self.phases: dict[str, float] = {}  # milliseconds a frame of the best pass
        self._best = 0.0

    def _fresh(self) -> N3DSDriver:
        machine = N3DSDriver.make_machine(self.trace, threads=self.threads, tier="specialised")
        return N3DSDriver(self.trace, machine)

    def _play(self, driver: N3DSDriver) -> float:
        """Seconds per frame of one pass."""
        use_clock(cpu_time if self.threads == 1 else perf_counter)
        total, phases, count = 0.0, dict[str, float](), self.trace.frame_count
        for frame in driver.frames(pictures=False):
            total += frame.milliseconds / 1000
            for name, value in frame.phases.items():
                phases[name] = phases.get(name, 0.0) + value / count
            self.missing |= {event.id for event in frame.warnings if event.id.startswith("pica.")}
        if not self.phases or total < self._best:
            self._best = total
            self.phases = phases | {"other": 1000 * total / count - sum(phases.values())}
        return total / count

    def again(self) -> float:
        """On the machine in use, switched off and on. The first pass of a turn finds other data in the caches."""
        passes = []
        for _ in range(IN_A_ROW):
            self.driver.begin()
            passes.append(self._play(self.driver))
        return min(passes)

    def fresh(self) -> float:
        """On a new machine each time."""
        kept, best = self.phases, self._best
        seconds = min(self._play(self._fresh()) for _ in range(IN_A_ROW))
        self.phases, self._best = kept, best
        return seconds


def measure(report: Report, arguments: argparse.Namespace) -> None:
    table = CAPTURES / "TIMES.tsv"
    if not table.is_file():
        report.notes.append(f"nothing measured: {recordings.REASON}")
        return
    with table.open(newline="") as lines:
        theirs = {row["capture"]: float(row["ms_best"]) for row in csv.DictReader(lines, delimiter="\t")}
    series: dict[str, dict[tuple[str, int], Series]] = {}
    for name in sorted(theirs):
        path = CAPTURES / f"{name}.ctf.xz"
        if path.is_file():
            series[name] = _replay(report, path, name, theirs[name], arguments.repeat)
    drawing = [name for name in series if name != NO_DRAWS]
    for kind, threads in ((kind, threads) for kind in KINDS for threads in THREADS):
        best = [theirs[name] / (1e3 * series[name][kind, threads].best) for name in drawing]
        report.add(
            f"geometric mean of {len(drawing)}, {_label(kind, threads)}",
            geometric_mean(theirs[name] / (1e3 * series[name][kind, threads].median) for name in drawing),
            "x",
            best=geometric_mean(best),
            note=f"the least of them {min(best):.1f}",
        )


def _replay(report: Report, path: Path, name: str, theirs: float, repeat: int) -> dict[tuple[str, int], Series]:
    """Measure one recording."""
    trace = pocketgpu.open(path).trace
    assert isinstance(trace, Trace)
    players = [Player(trace, threads) for threads in THREADS]
    order = [(kind, player) for player in players for kind in KINDS]
    plays = [player.again if kind == "long run" else player.fresh for kind, player in order]
    out = {(kind, p.threads): s for (kind, p), s in zip(order, turns(repeat, *plays), strict=True)}
    missing = ", ".join(sorted(set().union(*(player.missing for player in players))))
    for (kind, threads), one in out.items():
        note = f"{1e3 * one.median:.3f} ms, best {1e3 * one.best:.3f}; theirs {theirs:g}"
        if missing:
            note += f"; not drawn: {missing}"
        if kind == "long run" and threads == 1:
            report.notes.append(f"{name}: {_split(players[0].phases)}")
        figure = report.add(
            f"{name}, {_label(kind, threads)}",
            theirs / (1e3 * one.median),
            "x",
            best=theirs / (1e3 * one.best),
            note=note,
        )
        if name in PLAIN and kind == "long run" and threads == 1:
            figure.target, figure.by_best = TARGET, True
    return out


def _split(phases: dict[str, float]) -> str:
    return "ms a frame: " + ", ".join(f"{name} {value:.3f}" for name, value in phases.items())


def _label(kind: str, threads: int) -> str:
    return f"{kind}, {threads} thread{'s' * (threads > 1)}"


if __name__ == "__main__":
    run("captures", measure, repeat=20)
