"""Process start to exit for one picture: captures and programs of both consoles, with a breakdown, warm and cold.

    python benchmarks/first_picture.py --wheel dist/pocketgpu-0.1.0-py3-none-any.whl --all

Figures are multiples of `python -c "import numpy"`, which is measured beside each start, in turns. Warm: compiled
kernels are in the cache. Cold: the cache is empty. Python's own byte code counts as installed (installing a wheel
compiles it). With --all every public recording is measured. This tree is measured, or with --wheel a wheel (installed
into a place of its own, which takes a minute), or with --python what another Python has installed.

The notes say which kernels a cold start has made, because they did not come with the package.

A breakdown is of a start that times its own phases; each moment belongs to the innermost of them:

    python    the interpreter, until the program's first line
    import    modules, and the tables that they read
    open      reading the file: its parts, and what is in them; starting a program
    machine   making the machine
    trace     kernels from Python to LLVM's text
    compile   LLVM
    load      finding and loading compiled kernels
    replay    the frame itself
    scan-out  the machine's picture as an array
    PNG       waiting until the array is a file; while there are more frames, a thread makes files beside the replay
    rest      options, output, and what is between
    exit      from the last line to the end of the process
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import Any

from common import ROOT, SHARED, Report, Series, ratio, run, turns
from phases import PHASES

HERE = Path(__file__).resolve().parent
PATIENCE = 300.0


def install(wheel: Path, folder: Path) -> str:
    """The Python of a new environment with a wheel and what it needs, by the versions that this project names."""
    python = folder / "environment" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
    run = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    subprocess.run([*run, "-r", str(ROOT / "requirements" / "run.txt")], check=True)
    subprocess.run([*run, "--constraint", str(ROOT / "requirements" / "test.txt"), f"{wheel}[guest]"], check=True)
    return str(python)


class Starter:
    """Starts the program with a kernel cache of its own: of this tree, or what another Python has installed."""

    def __init__(self, folder: Path, python: str = "") -> None:
        self.folder, self.python = folder, python or sys.executable
        self.kernels, self.out, self.phases = folder / "kernels", folder / "pictures", folder / "phases.json"
        ours = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")
        self.environment = {k: v for k, v in os.environ.items() if k not in ours}
        self.environment["POCKETGPU_CACHE"] = str(self.kernels)
        if not python:
            self.environment |= {"PYTHONPATH": str(ROOT / "src"), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
        self.broken_down: dict[str, list[dict[str, float]]] = {}
        self.made: dict[str, list[str]] = {}

    def asked(self, code: str) -> str:
        """What a line of Python prints."""
        done = subprocess.run(
            [self.python, "-c", code], env=self.environment, cwd=self.folder, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def _run(self, *arguments: str) -> tuple[float, float]:
        """Moments of its start and its end."""
        shutil.rmtree(self.out, ignore_errors=True)
        begin = perf_counter()
        done = subprocess.run(
            [self.python, *arguments], env=self.environment, cwd=self.folder, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, timeout=PATIENCE,
        )  # fmt: skip
        end = perf_counter()
        if done.returncode:
            raise RuntimeError(f"it ended with {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
        return begin, end

    def numpy(self) -> float:
        begin, end = self._run("-c", "import numpy")
        return end - begin

    def plain(self, words: list[str]) -> float:
        """Seconds of a start."""
        begin, end = self._run("-m", "pocketgpu", *words, "--out", str(self.out))
        return end - begin

    def timed(self, name: str, words: list[str], cold: bool) -> float:
        """Seconds of a start that times its phases; they are noted under `name`."""
        if cold:
            shutil.rmtree(self.kernels, ignore_errors=True)
        begin, end = self._run(str(HERE / "phases.py"), str(self.phases), *words, "--out", str(self.out))
        found: dict[str, Any] = json.loads(self.phases.read_text(encoding="utf-8"))
        self.made[name] = found.pop("made")
        # The clock of both processes is the same on Linux, macOS and Windows: it counts from the start of the system.
        found |= {"python": found["python"] - begin, "exit": end - found["exit"]}
        self.broken_down.setdefault(name, []).append(found)
        return end - begin


def cases(folder: Path) -> dict[str, tuple[list[str], float, float]]:
    """Arguments, and how many times `import numpy` a start may take, warm and cold."""
    programs = ROOT / "tests" / "guests"
    found = {
        "3DS program": (["run", str(programs / "n3ds" / "scene.elf"), "--presents", "1"], 4.0, 4.0),
        "Switch program": (["run", str(programs / "switch" / "scene.nro"), "--presents", "1"], 6.0, 8.0),
    }
    captures = {
        "3DS capture": ("3ds/textured_cube.ctf.xz", 2.0, 4.0),
        "Switch capture, 320x180": ("switch/ex04_textured_cube_320x180.mxcap.zip", 3.0, 8.0),
        "Switch capture, 1280x720": ("switch/ex04_textured_cube_1280x720.mxcap.zip", 4.0, 8.0),
    }
    for name, (place, warm, cold) in captures.items():
        if (folder / place).is_file():
            found[name] = (["render", str(folder / place), "--frames", "0"], warm, cold)
    return found


def every_recording(folder: Path) -> dict[str, tuple[list[str], float, float]]:
    """The same for all public recordings."""
    found = {}
    places = [*folder.glob("3ds/*.ctf.xz"), *folder.glob("3ds/*.gx.json.xz"), *folder.glob("switch/*.mxcap.zip")]
    for place in sorted(places):
        large = "1280x720" in place.name
        most = (2.0, 4.0) if place.parent.name == "3ds" else (4.0 if large else 3.0, 8.0)
        found[place.name.removesuffix(".xz").removesuffix(".zip")] = (["render", str(place), "--frames", "0"], *most)
    return found


def shipped(starter: Starter) -> str:
    """Where code that was made ahead of time comes from."""
    places = starter.asked(
        "from pocketgpu.lanes import archive, making; print(*(archive.place(room) or 'none' for room in making.ROOMS))"
    )
    return "in the package" if set(places.split()) == {"package"} else "not in the package: it is made at its first use"


def measure(report: Report, arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        wheel = Path(arguments.wheel).resolve() if arguments.wheel else None
        starter = Starter(folder, install(wheel, folder) if wheel else arguments.python)
        found = every_recording(SHARED / "captures") if arguments.all else cases(SHARED / "captures")
        found = {name: case for name, case in found.items() if arguments.only in name}
        rounds: dict[str, tuple[Series, Series, float]] = {}
        for name, (words, _, target) in found.items():
            starter.plain(words)  # Python's byte code
            cold = functools.partial(starter.timed, f"{name}, cold", words, True)
            rounds[f"{name}, cold"] = (*turns(arguments.cold, cold, starter.numpy, warm=0), target)
        for name, (words, target, _) in found.items():
            starter.plain(words)
            warm = functools.partial(starter.plain, words)
            timed = functools.partial(starter.timed, f"{name}, warm", words, False)
            whole, numpy, _ = turns(arguments.repeat, warm, starter.numpy, timed)
            rounds[f"{name}, warm"] = (whole, numpy, target)
        for name, (whole, numpy, target) in rounds.items():
            median, best = ratio(whole, numpy)
            taken = starter.broken_down[name]
            parts = {phase: statistics.median(one[phase] for one in taken) / numpy.median for phase in PHASES}
            report.add(
                name, median, "x import numpy", best=best, target=target, more=False, by_best=True, parts=parts,
                note=", ".join(f"{phase} {value:.2f}" for phase, value in parts.items() if value >= 0.005),
            )  # fmt: skip
        for name, made in starter.made.items():
            if made:
                kernels = ", ".join(f"{one} x{count}" for one, count in Counter(made).items())
                report.notes.append(f"{name}: made {kernels}")
        where = starter.asked("import pocketgpu; print(pocketgpu.__file__)")
        report.notes.append(f"measured: {Path(where).parent}; code made ahead of time is {shipped(starter)}")
        report.notes.append(f"import numpy takes {numpy.median:.3f} s (best {numpy.best:.3f})")


if __name__ == "__main__":
    run("first_picture", measure, repeat=10, cold=2, all=False, only="", wheel="", python="")
