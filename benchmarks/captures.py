"""Replay time of real recordings against that of a C++ emulator's software renderer.

`ms_best` of TIMES.tsv beside the recordings is the emulator's best of four settings (interpreter or JIT, one or two
threads). Ours runs from the first event of a frame to its marker with all guest memory written, per frame over
all frames of a recording. "long run": the machine is in use, its memory holds pages, but zero again before each pass, so
that every load and texture counts. "fresh": a new machine every pass, which also pays for the system's pages. Textures are
filtered as programmed; the emulator samples the nearest texel only.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from time import perf_counter

from common import CAPTURES, Report, Series, geometric_mean, run, turns

import pocketgpu
from pocketgpu.capture.citrace import Trace
from pocketgpu.capture.replay import replay
from pocketgpu.pica.n3ds import N3DS

TARGET = 5.0  # times faster than ms_best, for the plain recordings
PLAIN = ("simple_tri", "both_screens", "multiple_buf", "immediate", "textured_cube")
MIB = 1 << 20


class Player:
    """Replays one recording with one number of threads."""

    def __init__(self, trace: Trace, threads: int) -> None:
        self.trace, self.threads = trace, threads
        self.machine = self._fresh()
        self.blank = self.machine.memory.snapshot()
        self.missing: set[str] = set()

    def _fresh(self) -> N3DS:
        return N3DS(fcram=(256 if self.trace.needs_new_model else 128) * MIB, threads=self.threads)

    def _play(self, machine: N3DS) -> float:
        """Seconds per frame of one pass."""
        total = 0.0
        for frame in replay(self.trace, machine, range(self.trace.frame_count)):
            total += frame.milliseconds / 1000
            self.missing |= {event.id for event in frame.warnings if event.id.startswith("pica.")}
        return total / self.trace.frame_count

    def again(self) -> float:
        """On the machine in use, all guest memory zero as after power-on."""
        self.machine.memory.restore(self.blank)
        return self._play(self.machine)

    def fresh(self) -> float:
        """On a new machine."""
        return self._play(self._fresh())


def measure(report: Report, arguments: argparse.Namespace) -> None:
    table = CAPTURES / "TIMES.tsv"
    if not table.is_file():
        report.notes.append(f"no recordings at {CAPTURES}: the folder beside the checkout is missing; nothing measured")
        return
    with table.open(newline="") as lines:
        best = {row["capture"]: float(row["ms_best"]) for row in csv.DictReader(lines, delimiter="\t")}
    ratios: dict[tuple[str, int], list[float]] = {}
    for name, theirs in sorted(best.items()):
        path = CAPTURES / f"{name}.ctf.xz"
        if path.is_file():
            for kind, value in _one(report, path, name, theirs, arguments.repeat).items():
                if name != "hwtest_texcopy":  # draws nothing, and has no time worth the name
                    ratios.setdefault(kind, []).append(value)
    for (kind, threads), values in ratios.items():
        report.add(
            f"geometric mean of {len(values)}, {kind}, {_threads(threads)}", geometric_mean(values), "x",
            note=f"least {min(values):.1f}",
        )  # fmt: skip


def _one(report: Report, path: Path, name: str, theirs: float, repeat: int) -> dict[tuple[str, int], float]:
    """Measure one recording; how many times faster (median), by kind of replay and threads."""
    trace = pocketgpu.open(path).trace
    players = [Player(trace, threads) for threads in (1, 2)]
    began = perf_counter()
    series = turns(repeat, *(play for player in players for play in (player.again, player.fresh)))
    took = perf_counter() - began
    out: dict[tuple[str, int], float] = {}
    missing = ", ".join(sorted(set().union(*(player.missing for player in players))))
    for (kind, threads), one in zip(
        ((kind, player.threads) for player in players for kind in ("long run", "fresh")), series, strict=True
    ):
        out[kind, threads] = theirs / _ms(one)
        if kind == "long run":
            target = TARGET if name in PLAIN and threads == 1 else None
            note = f"{_ms(one):.3f} ms (best {1e3 * one.best:.3f}) against {theirs:g}"
            note += f"; not drawn: {missing}" if missing else ""
            report.add(
                f"{name}, {_threads(threads)}", out[kind, threads], "x", best=theirs / (1e3 * one.best), target=target,
                note=note,
            )  # fmt: skip
        else:
            report.add(
                f"{name}, {_threads(threads)}, fresh", out[kind, threads], "x", best=theirs / (1e3 * one.best),
                note=f"{_ms(one):.3f} ms",
            )  # fmt: skip
    if took > 60:
        report.notes.append(f"{name} took {took:.0f} s to measure")
    return out


def _ms(series: Series) -> float:
    return 1e3 * series.median


def _threads(count: int) -> str:
    return f"{count} thread" if count == 1 else f"{count} threads"


if __name__ == "__main__":
    run("captures", measure, repeat=20)
