"""Frames of the Switch against the same scenes drawn by Mesa's llvmpipe on the same machine, in turn, two threads each.

Two scenes are recordings of deko3d programs (twins/recorded.py), five are made here (twins/five.py): deferred shading
with targets of 16-bit floats that are read again; a user interface with stencil and blending; large textured quads at
1920 x 1080; small draws in many states; four samples a pixel. A frame of ours is its submissions, submitted again:
commands, clears, draws, resolve. One of llvmpipe is the same calls up to glFinish, made by machine code. Our first
frame is that of a new machine whose code is in memory; llvmpipe's includes its compiler. Both must show the same
picture, else a scene has no figure. Needs PyOpenGL with Mesa's EGL; and the recordings, for those two.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
from common import SHARED, Report, geometric_mean, run
from twins import five, recorded
from twins.description import Array
from twins.ours import recording
from twins.player import FRAMES, Player, phases
from twins.theirs import Twin, context

from pocketgpu.capture.formats import mxcap
from pocketgpu.lanes import background

FOLDER = SHARED / "captures" / "switch"
THREADS = 2
TARGET, TARGET_OF_ALL = 1.5, 1.0  # times llvmpipe's time, at most
LEVELS, LEAST = 8, 99.0  # percent of pixels that must be so near


def alike(ours: Array, theirs: Array) -> float:
    """Percent of pixels within LEVELS of 255."""
    near = np.abs(ours.astype(int) - theirs.astype(int)).max(axis=-1) <= LEVELS
    return float(100 * near.mean())


def _in_turns(repeat: int, *frames: Callable[[], float]) -> list[list[tuple[float, float]]]:
    """For each of some frames, the best (seconds, processor seconds of all threads) of FRAMES in a row, `repeat`
    times."""
    found: list[list[tuple[float, float]]] = [[] for _ in frames]
    for number in range(-1, repeat):
        for series, frame in zip(found, frames, strict=True):
            best, processor = float("inf"), float("inf")
            for _ in range(FRAMES):
                before = process_time()
                best = min(best, frame())
                processor = min(processor, process_time() - before)
            if number >= 0:
                series.append((best, processor))
    return found


def _compile(log: mxcap.ChannelLog) -> None:
    """Have all code of a recording in memory before the first frame that counts, specialised code included."""
    Player(log, THREADS)
    background.wait()


class _Comparison:
    """What is found about one scene."""

    def __init__(self, report: Report, repeat: int) -> None:
        self.report, self.repeat = report, repeat
        self.ratios: list[float] = []
        self.by_processor: list[float] = []

    def add(self, name: str, player: Player, frame: Callable[[], float], picture: Callable[[], Array]) -> bool:
        """Compare frames; False if they are not alike."""
        report, first = self.report, frame()
        like = alike(player.picture(), picture())
        if like < LEAST:
            report.notes.append(f"{name}: only {like:.2f} % of pixels are within {LEVELS} levels: no figure")
            return False
        report.notes.append(f"{name}: {like:.2f} % of pixels within {LEVELS} levels of llvmpipe's")
        ours, theirs = _in_turns(self.repeat, player.frame, frame)
        times = [[a[i] / b[i] for a, b in zip(ours, theirs, strict=True)] for i in range(2)]
        bests = [[min(row[i] for row in series) for series in (ours, theirs)] for i in range(2)]
        medians = [1e3 * median(row[0] for row in series) for series in (ours, theirs)]
        best, processor = (a / b for a, b in bests)
        note = f"ours {medians[0]:.2f} ms, llvmpipe {medians[1]:.2f} ms"
        report.add(name, median(times[0]), "x its time", best=best, target=TARGET, more=False, note=note)
        note = f"ours {1e3 * bests[1][0]:.2f} ms, llvmpipe {1e3 * bests[1][1]:.2f} ms"
        report.add(f"{name}, processor time", median(times[1]), "x its time", best=processor, note=note)
        note = "second " + ", third ".join(f"{1e3 * one:.1f}" for one in player.first[1:3]) + " ms"
        note += f"; llvmpipe's first {1e3 * first:.1f} ms"
        report.add(f"{name}, first frame", 1e3 * player.first[0], "ms", note=note)
        self.ratios.append(median(times[0]))
        self.by_processor.append(median(times[1]))
        return True


def measure(report: Report, arguments: argparse.Namespace) -> None:
    """All scenes, one after the other."""
    try:
        gl = context(THREADS)
    except ImportError:
        report.notes.append("PyOpenGL is not installed: nothing to compare with")
        return
    found = _Comparison(report, arguments.repeat)
    for name in recorded.RECORDINGS:
        path = Path(FOLDER / f"{name}_1280x720.mxcap.zip")
        if not path.is_file():
            report.notes.append(f"{path.name} is not there: nothing measured")
            continue
        log = mxcap.parse(path.read_bytes(), file=path.name)
        _compile(log)
        frame, picture = recorded.opengl(gl, recorded.recorded(log))
        found.add(name, Player(log, THREADS), frame, picture)
    for make in five.SCENES:
        scene = make()
        log = recording(scene)
        _compile(log)
        twin = Twin(gl, scene)
        if found.add(scene.name, Player(log, THREADS), twin.frame, twin.picture):
            parts = phases(scene, THREADS)
            texts = (f"{part} {1e3 * seconds:.2f}" for part, seconds in parts.items())
            report.notes.append(f"{scene.name}, ms of a frame: {', '.join(texts)}")
    if found.ratios:
        mean, processor = geometric_mean(found.ratios), geometric_mean(found.by_processor)
        what = f"geometric mean of {len(found.ratios)} scenes"
        report.add(what, mean, "x its time", target=TARGET_OF_ALL, more=False)
        report.add(f"{what}, processor time", processor, "x its time")


if __name__ == "__main__":
    run("llvmpipe", measure, repeat=5)
