"""Programs that run: frames of a scene, process start to first picture, the processor's rate, calls, cost of noticing.

The programs are in tests/guests. The scene of the 3DS is a textured, lit cube by command lists, whose texture is
another cube, for both screens, then an eye each, then 800 columns; that of the Switch a textured triangle of 320x180
pixels, by a pushbuffer through nvdrv. The processor's rate is that of Unicorn with the hook that
counts instructions, over that without it: a loop of four instructions, the worst case, and what programs compute:
sorting, a checksum, matrices. Noticing: the scene, over a run that never looks whether the processor wrote textures.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, sleep
from unittest.mock import patch

from common import ROOT, Report, Series, cpu_time, ratio, run, turns

from pocketgpu import guests
from pocketgpu.guests import App
from pocketgpu.guests.processors.engine import Engine

PROGRAMS = ROOT / "tests" / "guests" / "n3ds"
SWITCH_SCENE = ROOT / "tests" / "guests" / "switch" / "scene.nro"
MANY = "1000000"
"""Frames that the scene of the Switch is told to draw."""
MODES = {"both screens": 0, "an eye each": 60, "800 columns": 120}
"""The first frame of each mode of the scene."""
FRAMES = 40
PARTS = ("start", "loop", "sort", "checksum", "matrices", "calls")
COMPUTING = ("sort", "checksum", "matrices")
FRAME_RATE, RATE, CALLS, NOTICING = 60.0, 0.75, 0.030, 1.15
STARTS = {"": (PROGRAMS / "scene.elf", 4.0), " of the Switch": (SWITCH_SCENE, 6.0)}
"""Programs whose first picture is waited for, and how many times `import numpy` that may take."""
PATIENCE = 120.0


def seconds_of(app: App, frames: int) -> float:
    """Processor seconds of some frames."""
    start = cpu_time()
    app.frames(frames)
    return cpu_time() - start


# -- the scene --------------------------------------------------------------------------------------------------------
def scene(report: Report, repeat: int) -> None:
    apps = []
    for first in MODES.values():
        apps.append(guests.run(PROGRAMS / "scene.elf"))
        apps[-1].frames(first + 5)
    apps.append(guests.run(SWITCH_SCENE, arguments=[MANY]))
    apps[-1].frames(5)
    points = [app.checkpoint() for app in apps]

    def measure(number: int) -> Callable[[], float]:
        def frames() -> float:
            apps[number].restore(points[number])
            return seconds_of(apps[number], FRAMES)

        return frames

    names = [*MODES, "a Switch"]
    for name, series in zip(names, turns(repeat, *map(measure, range(len(apps)))), strict=True):
        report.add(
            f"the scene, {name}", FRAMES / series.median, "frames/s", best=FRAMES / series.best, target=FRAME_RATE
        )


def noticing(report: Report, repeat: int) -> None:
    def measure(looks: bool) -> Callable[[], float]:
        app = guests.run(PROGRAMS / "scene.elf")
        if not looks:
            app.console.kernel.memory_differs = lambda: None  # type: ignore[method-assign]
        app.frames(5)
        point = app.checkpoint()

        def frames() -> float:
            app.restore(point)
            return seconds_of(app, FRAMES)

        return frames

    looking, never = turns(repeat, measure(True), measure(False))
    median, best = ratio(looking, never)
    report.add("noticing what the processor wrote", median, "x", best=best, target=NOTICING, more=False)


# -- the processor ----------------------------------------------------------------------------------------------------
def _started(counted: bool) -> App:
    """compute.elf, with or without the hook that counts."""
    from unicorn.unicorn_const import UC_HOOK_BLOCK

    add = Engine.add_native_hook

    def others(engine: Engine, kind: int, *more: object) -> None:
        if kind != UC_HOOK_BLOCK:
            add(engine, kind, *more)  # type: ignore[arg-type]

    with patch.object(Engine, "add_native_hook", add if counted else others):
        return guests.run(PROGRAMS / "compute.elf")


def _part(app: App, name: str) -> float:
    """Processor seconds until the program says that a part is done."""
    kernel, start = app.console.kernel, cpu_time()
    while not app.text.splitlines()[-1:] or not app.text.endswith("\n") or not _last(app).startswith(name):
        kernel.step()
    return cpu_time() - start


def _last(app: App) -> str:
    return app.text.splitlines()[-1]


def processor(report: Report, repeat: int) -> None:
    apps = {counted: _started(counted) for counted in (True, False)}
    measures = [lambda n=name, c=counted: _part(apps[c], n) for name in PARTS for counted in apps]  # type: ignore[misc]
    found = turns(repeat, *measures)
    pairs = {name: (found[2 * n], found[2 * n + 1]) for n, name in enumerate(PARTS)}
    for name in ("loop", *COMPUTING):
        counted, plain = pairs[name]
        median, best = ratio(plain, counted)
        report.add(f"rate of the processor, {name}", median, "of Unicorn's", best=best)
    summed = [
        Series([sum(some) for some in zip(*(pairs[name][side].seconds for name in COMPUTING), strict=True)])
        for side in (1, 0)
    ]
    median, best = ratio(*summed)
    report.add("rate of the processor, computing", median, "of Unicorn's", best=best, target=RATE)
    calls = pairs["calls"][0]
    report.add("1000 supervisor calls", calls.median, "s", best=calls.best, target=CALLS, more=False, by_best=True)


# -- start ------------------------------------------------------------------------------------------------------------
def start(report: Report, repeat: int) -> None:
    for name, (program, target) in STARTS.items():
        _start(report, repeat, name, program, target)


def _start(report: Report, repeat: int, name: str, program: Path, target: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "pictures"
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPYCACHEPREFIX": f"{folder}/bytecode", "PYTHONPATH": str(ROOT / "src")}
        words = ["-m", "pocketgpu", "run", str(program), "--presents", "1", "--out", str(out)]

        def picture() -> float:
            shutil.rmtree(out, ignore_errors=True)
            begin = perf_counter()
            process = subprocess.Popen([sys.executable, *words], env=environment, stdout=subprocess.DEVNULL)
            while not any(out.glob("*.png")) and process.poll() is None and perf_counter() - begin < PATIENCE:
                sleep(0.001)
            seconds = perf_counter() - begin
            if process.wait(PATIENCE):
                raise RuntimeError("pocketgpu run failed")
            return seconds

        def numpy() -> float:
            begin = perf_counter()
            subprocess.run([sys.executable, "-c", "import numpy"], env=environment, check=True)
            return perf_counter() - begin

        pictures, imports = turns(repeat, picture, numpy)
    median, best = ratio(pictures, imports)
    report.add(
        f"process start to first picture{name}", median, "x import numpy", best=best, target=target, more=False,
        by_best=True,
        note=f"{pictures.best:.2f} s and {imports.best:.2f} s",
    )  # fmt: skip


def measure(report: Report, arguments: argparse.Namespace) -> None:
    scene(report, arguments.repeat)
    noticing(report, arguments.repeat)
    processor(report, arguments.repeat)
    start(report, arguments.repeat)


if __name__ == "__main__":
    run("guests", measure, repeat=12)
