"""What a question takes: `events`, `state` and `why` from the command line, and the second question in Python.

The command line: process start to exit, warm, on every recording of both consoles: compiled code and indexes are in the
cache. `python -c "import numpy"` is measured beside them, in turns. A promise is about seconds; on a machine that is
slower than the one it is for, or busy, see the multiples of `import numpy` instead. Each command asks about several
places in turn, so that a kept answer would not help.

Python: the second question of a run, by the clock on the wall, after the first one has opened everything.

Needs recordings of other programs; without them only the scene of `paths_switch.py` is asked about. All of them take
a few minutes; `--only 'gl_*'` takes those whose names match.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path
from time import perf_counter

from common import ROOT, SHARED, Report, Series, run
from paths_switch import build

import pocketgpu
from pocketgpu.inspect.model.inspection import Inspection

PATIENCE = 300.0
TARGETS = {"events": 0.5, "state": 0.6, "why": 0.8}
"""Seconds, where `import numpy` takes 0.26."""
NUMPY = 0.26
SECOND = {"3DS": 100.0, "Switch": 150.0}
"""Milliseconds of the second question."""
ENDINGS = (".ctf.xz", ".gx.json.xz", ".mxcap.zip")
PATHS = "paths, 561 draws"


class Asker:
    """Starts commands with a cache of its own."""

    def __init__(self, folder: Path, out: Path) -> None:
        self._out = out
        self.environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self.environment |= {"POCKETGPU_CACHE": str(folder), "PYTHONPATH": str(ROOT / "src")}

    def start(self, *arguments: str) -> tuple[float, float]:
        """Seconds of a start on the wall, and of processors."""
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = perf_counter()
        with self._out.open("wb") as out:
            done = subprocess.run(
                [sys.executable, *arguments], env=self.environment, stdout=out, stderr=subprocess.PIPE, timeout=PATIENCE
            )
        wall = perf_counter() - begin
        if done.returncode:
            raise RuntimeError(f"{arguments}: {done.stderr.decode(errors='replace').strip()}")
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        return wall, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime

    def numpy(self) -> tuple[float, float]:
        return self.start("-c", "import numpy")

    def ask(self, *words: str) -> tuple[float, float]:
        return self.start("-m", "pocketgpu", *words)


def recordings(folder: Path) -> dict[str, str]:
    """Recordings by name, and the scene of 561 draws."""
    scene = folder / "paths.mxcap.zip"
    build().save(scene)
    found = {PATHS: str(scene)}
    for console in ("3ds", "switch"):
        for path in sorted((SHARED / "captures" / console).glob("*")):
            if path.name.endswith(ENDINGS):
                found[path.name] = str(path)
    return found


def places(run: Inspection, choose: random.Random, count: int) -> dict[str, list[list[str]]]:
    """Arguments of each command, for places chosen at random."""
    frames = [choose.randrange(run.frame_count) for _ in range(count)]
    draws = [str(event.address) for frame in sorted(set(frames)) for event in run.draws(frame)]
    return {
        "events": [[f"f{frame}"] for frame in frames],
        "state": [[choose.choice(draws) if draws else f"f{frame}"] for frame in frames],
        "why": [[pixel(run, choose, frame)] for frame in frames],
    }


def pixel(run: Inspection, choose: random.Random, frame: int) -> str:
    """The address of a pixel in the middle of a frame's picture."""
    shown = run.seek(f"f{frame}").screens
    name, screen = next(iter(shown.items()))
    height, width = screen.array.shape[:2]
    x, y = (choose.randrange(size // 4, 3 * size // 4) for size in (width, height))
    return f"f{frame}/{name}/px{x},{y}"


def second_questions(path: str, choose: random.Random, count: int) -> list[float]:
    """Milliseconds of the second question of runs: each has another pixel as the first."""
    found = []
    for _ in range(count):
        one = pocketgpu.debug(path)
        frame = choose.randrange(one.frame_count)
        first, second = pixel(one, choose, frame), pixel(one, choose, frame)
        str(one.why(first))
        begin = perf_counter()
        str(one.why(second))
        found.append(1e3 * (perf_counter() - begin))
    return found


def measure(report: Report, arguments: argparse.Namespace) -> None:
    numpy, worst = Series(), {}
    with tempfile.TemporaryDirectory() as folder:
        asker = Asker(Path(folder) / "cache", Path(folder) / "out")
        for name, path in recordings(Path(folder)).items():
            if arguments.only and not fnmatch(name, arguments.only):
                continue
            choose = random.Random(name)
            one = pocketgpu.debug(path)
            if not one.frame_count:
                continue
            console = one.capture.console
            for command, asked in places(one, choose, arguments.repeat).items():
                for words in asked:  # compiled code, and the index
                    asker.ask(command, path, *words)
                walls, processors, beside = Series(), Series(), Series()
                for words in asked:
                    beside.seconds.append(asker.numpy()[0])
                    wall, processor = asker.ask(command, path, *words)
                    walls.seconds.append(wall)
                    processors.seconds.append(processor)
                numpy.seconds += beside.seconds
                times = walls.best / beside.best
                report.add(
                    f"{command}, {name}", walls.median, "s", best=walls.best, more=False,
                    note=f"{times:.2f} x import numpy, {processors.best:.3f} s of processors",
                )  # fmt: skip
                if name != PATHS:
                    key = f"{command}, {console}"
                    worst[key] = max(worst.get(key, (0.0, 0.0, "")), (walls.best, times, name))
            taken = second_questions(path, choose, arguments.repeat)
            second = f"second why in Python, {name}"
            report.add(second, sorted(taken)[len(taken) // 2], "ms", best=min(taken), more=False)
            if name != PATHS:
                key = f"second why, {console}"
                worst[key] = max(worst.get(key, (0.0, 0.0, "")), (min(taken), 0.0, name))
    for key, (value, times, name) in worst.items():
        command, _, console = key.partition(", ")
        if command in TARGETS:
            report.add(f"worst {key}", value, "s", target=TARGETS[command], more=False, note=f"{times:.2f} x; {name}")
        else:
            report.add(f"worst {key}", value, "ms", target=SECOND[console], more=False, note=name)
    if not numpy.seconds:
        report.notes.append(f"no recording is named {arguments.only}")
        return
    report.notes.append(
        f"import numpy takes {numpy.median:.3f} s (best {numpy.best:.3f}); promises are for {NUMPY}"
    )


if __name__ == "__main__":
    run("answers", measure, repeat=2, only="")
