"""Replay time of real recordings against that of a C++ emulator's software renderer.

`ms_best` of TIMES.tsv beside the recordings is the emulator's best replay in four settings (interpreter or JIT,
one or two threads). Ours runs from the first event of a frame to its marker with all guest memory written, per
frame over all frames of a recording. Textures are filtered as programmed; the emulator samples the nearest texel only.

long run: one machine that is reset before each pass, as `pocketgpu bench` does it: memory is zero and every load
counts, but what was prepared for its draws is kept. fresh: a new machine every pass, which prepares everything but
what a process keeps for all its machines (`pica/front/plans.py`: what registers of draws and transfers mean); the
pages that the recording uses are there already. Waiting for the system to give these pages is listed apart: a new
machine without them, minus the one with them. It is the system's time, and differs much between hosts.

One thread is timed by its processor time, two by the wall clock. A recording counts with the better of both, as
`ms_best` is the best of the emulator's settings.

**Scale.** `ms_best` was taken on another machine. How fast that machine is, is known from the scalar C++ of `pixels`:
SCALE_FROM. The same C++ runs here in turns with each recording, and the ratios of that recording are multiplied by
SCALE_FROM / (its speed in these turns). So a ratio says how many times faster we would be on a machine where that C++
has the speed that it has there, whatever else runs here meanwhile. Without a C++ compiler ratios are not scaled.

**Floor.** Most of these frames draw little: they fill two buffers and transfer one. The floor is what the C library
(by NumPy) needs to set as many bytes as the fills write, to copy as many as the transfers write, and to copy the loads.
No way of drawing makes a frame shorter than that; `nearness` is the floor divided by our time.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from common import CAPTURES, Report, Series, cpu_time, geometric_mean, recordings, run, turns
from guest import use_clock
from pixels import PARTS, Reference, build, compiler, make_scene

import pocketgpu
from pocketgpu.arena import PAGE_SHIFT
from pocketgpu.capture.driver.n3ds import N3DSDriver
from pocketgpu.capture.formats.citrace import Trace
from pocketgpu.capture.formats.n3ds_trace import LoadRun
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.pica.n3ds import N3DS

SCALE_FROM = 13.8
"""Mpixel/s of the C++ of `pixels` (whole scene, raster) where `ms_best` was taken: two cores of an Intel Xeon with
AVX-512, g++ -O3 -march=native. TIMES.tsv comes with no figure of that C++; this one was measured on a machine of that
kind (README.md, 2026-11-21: median 13.8, best 14.1; the smaller one gives the smaller ratios)."""
TARGETS = {"long run": (20.0, 6.0), "fresh": (12.0, 3.0)}
"""Scaled ratios: geometric mean of all recordings that draw, and the least of them."""
NO_DRAWS = "hwtest_texcopy"
THREADS = (1, 2)
KINDS = ("long run", "fresh", "untouched")
IN_A_ROW = 3
MANY_IN_A_ROW = 20
Runs = list[tuple[int, int]]


class Player:
    """Replays one recording with one number of threads."""

    def __init__(self, trace: Trace, threads: int) -> None:
        self.trace, self.threads = trace, threads
        self.driver = self._new()
        self.missing: set[str] = set()
        self.phases: dict[str, float] = {}  # milliseconds a frame of the best pass
        self._best = 0.0
        blank = _pages(self.driver.machine)
        self._play(self.driver)
        used = _pages(self.driver.machine)
        self.pages = np.setdiff1d(used, blank)
        """Pages of the arena that the system gives while a new machine replays; empty where it does not tell."""

    def _new(self) -> N3DSDriver:
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
        """On a new machine each time, whose pages are there."""
        return self._fresh(True)

    def untouched(self) -> float:
        """On a new machine each time, which waits for its pages."""
        return self._fresh(False)

    def _fresh(self, touched: bool) -> float:
        kept, best, passes = self.phases, self._best, []
        for _ in range(IN_A_ROW):
            driver = self._new()
            if touched:
                for first, count in _in_runs(self.pages):
                    driver.machine.memory.populate(first << PAGE_SHIFT, count << PAGE_SHIFT)
            passes.append(self._play(driver))
        self.phases, self._best = kept, best
        return min(passes)


def _pages(machine: N3DS) -> np.ndarray:
    """The pages of a machine's arena that the host has memory for; none where it does not tell."""
    every = np.arange(machine.memory.size >> PAGE_SHIFT)
    used = machine.memory.used(every)
    return every[:0] if len(used) == len(every) else used


def _in_runs(pages: np.ndarray) -> Runs:
    """Ascending pages as ranges: first page, number of pages."""
    parts = np.split(pages, np.flatnonzero(np.diff(pages) != 1) + 1)
    return [(int(part[0]), len(part)) for part in parts if len(part)]


class Floor:
    """The C library moves as many bytes as the fills, transfers and loads of a recording's frame."""

    def __init__(self, trace: Trace, machine: N3DS) -> None:
        """`machine` has replayed the recording once since it was made."""
        moved = {name: _traffic(machine, name) // trace.frame_count for name in ("PSC0", "PSC1", "PPF")}
        loads = sum(
            len(run.data) for i in range(trace.frame_count) for run in trace.runs(i) if isinstance(run, LoadRun)
        )
        self.filled = [np.zeros(max(1, moved[name] // 8), np.uint64) for name in ("PSC0", "PSC1")]
        self.copied = [
            (np.zeros(size, np.uint8), np.ones(size, np.uint8)) for size in (moved["PPF"], loads // trace.frame_count)
        ]
        self.size = sum(moved.values()) + _traffic(machine, "PPF", "READ") // trace.frame_count

    def measure(self) -> float:
        passes = []
        for _ in range(MANY_IN_A_ROW):
            started = cpu_time()
            for area in self.filled:
                area.fill(0x00FFFFFF00FFFFFF)
            for target, source in self.copied:
                target[:] = source
            passes.append(cpu_time() - started)
        return min(passes)


def _traffic(machine: N3DS, unit: str, side: str = "WRITE") -> int:
    return machine.read_register(EXTERNAL[f"TRAFFIC_{unit}_{side}"].address)


@dataclass
class Measured:
    """One recording: the emulator's milliseconds a frame, ours by kind and threads, the floor; pages that a new machine
    waits for."""

    theirs: float
    ours: dict[tuple[str, int], Series]
    floor: Series
    cxx: Series
    pages: int
    missing: set[str]

    def scaled(self, kind: str, fragments: int) -> tuple[float, float]:
        """How many times faster we are: median, best. fragments: of the C++ beside it; 0 if there is none."""
        median, best = self.best(kind)
        if not fragments:
            return self.theirs / (1e3 * median), self.theirs / (1e3 * best)
        scales = [1e6 * SCALE_FROM * seconds / fragments for seconds in (self.cxx.median, self.cxx.best)]
        return self.theirs / (1e3 * median) * scales[0], self.theirs / (1e3 * best) * scales[1]

    def best(self, kind: str) -> tuple[float, float]:
        """Seconds of the better number of threads: median, best."""
        series = [self.ours[kind, threads] for threads in THREADS]
        return min(one.median for one in series), min(one.best for one in series)


def measure(report: Report, arguments: argparse.Namespace) -> None:
    table = CAPTURES / "TIMES.tsv"
    if not table.is_file():
        report.notes.append(f"nothing measured: {recordings.REASON}")
        return
    with table.open(newline="") as lines:
        theirs = {row["capture"]: float(row["ms_best"]) for row in csv.DictReader(lines, delimiter="\t")}
    found: dict[str, Measured] = {}
    with tempfile.TemporaryDirectory() as folder:
        cxx = compiler()
        beside = Reference(build(cxx, Path(folder)), make_scene(*PARTS["all"])) if cxx else None
        for name in sorted(theirs):
            path = CAPTURES / f"{name}.ctf.xz"
            if path.is_file():
                found[name] = _replay(report, path, name, theirs[name], arguments.repeat, beside)
    _tell(report, found, beside.fragments if beside else 0)


def _replay(report: Report, path: Path, name: str, theirs: float, repeat: int, beside: Reference | None) -> Measured:
    """Measure one recording."""
    trace = pocketgpu.open(path).trace
    assert isinstance(trace, Trace)
    players = [Player(trace, threads) for threads in THREADS]
    floor = Floor(trace, players[0].driver.machine)
    order = [(kind, player) for player in players for kind in KINDS]
    plays = [{"long run": p.again, "fresh": p.fresh, "untouched": p.untouched}[kind] for kind, p in order]

    def reference() -> float:
        if beside is None:
            return 0.0
        beside.draw()
        return beside.raster

    *ours, lowest, cxx = turns(repeat, *plays, floor.measure, reference)
    report.notes.append(f"{name}, long run, 1 thread: {_split(players[0].phases)}")
    by_kind = {(kind, p.threads): s for (kind, p), s in zip(order, ours, strict=True)}
    missing = set[str]().union(*(player.missing for player in players))
    return Measured(theirs, by_kind, lowest, cxx, len(players[0].pages), missing)


def _tell(report: Report, found: dict[str, Measured], fragments: int) -> None:
    """The figures: of each recording, then of all that draw. fragments: that the C++ beside them draws."""
    if fragments:
        speeds = [fragments / one.cxx.best / 1e6 for one in found.values()]
        note = f"beside each recording {min(speeds):.2f} to {max(speeds):.2f}; ratios are scaled from {SCALE_FROM}"
        report.add("the C++ of pixels", statistics.median(speeds), "Mpixel/s", best=max(speeds), note=note)
    else:
        report.notes.append("ratios are not scaled: no C++ compiler was found for the C++ of `pixels`")
    ratios = {kind: {name: one.scaled(kind, fragments) for name, one in found.items()} for kind in KINDS}
    for name, one in found.items():
        floor = 1e3 * one.floor.best
        for kind in TARGETS:
            median, best = (1e3 * seconds for seconds in one.best(kind))
            threads = ", ".join(f"{n} thread{'s' * (n > 1)} {1e3 * one.ours[kind, n].best:.3f}" for n in THREADS)
            note = f"{best:.3f} ms ({threads}); theirs {one.theirs:g}"
            if kind == "long run":
                note += f"; floor {floor:.3f}, nearness {floor / best:.0%}"
            else:
                waits = 1e3 * one.best("untouched")[1] - best
                note += f"; first touches of {one.pages} pages apart: {waits:.3f} ms a frame"
            if one.missing:
                note += f"; not drawn: {', '.join(sorted(one.missing))}"
            median, best = ratios[kind][name]
            report.add(f"{name}, {kind}", median, "x", best=best, note=note)
    drawing = [name for name in found if name != NO_DRAWS]
    for kind in KINDS:
        medians, bests = ([ratios[kind][name][i] for name in drawing] for i in range(2))
        least = min(drawing, key=lambda name: ratios[kind][name][1])
        shown = {"untouched": "fresh with first touches"}.get(kind, kind)
        mean_target, least_target = TARGETS.get(kind, (None, None))
        report.add(
            f"geometric mean of {len(drawing)}, {shown}", geometric_mean(medians), "x", best=geometric_mean(bests),
            target=mean_target, by_best=True,
        )  # fmt: skip
        report.add(
            f"the least of them, {shown}", min(medians), "x", best=min(bests), target=least_target, by_best=True,
            note=least,
        )  # fmt: skip
    near = [one.floor.best / one.best("long run")[1] for name, one in found.items() if name != NO_DRAWS]
    report.add("geometric mean of the nearness to the floor, long run", 100 * geometric_mean(near), "%")


def _split(phases: dict[str, float]) -> str:
    return "ms a frame: " + ", ".join(f"{name} {value:.3f}" for name, value in phases.items())


if __name__ == "__main__":
    run("captures", measure, repeat=20)
