"""Process start to exit for one picture: captures and programs of both consoles, with a breakdown, warm and cold.

Figures are multiples of `python -c "import numpy"`, which is measured beside each start, in turns. Warm: compiled
kernels are in the cache. Cold: the cache is empty. Python's own byte code counts as installed (installing a wheel
compiles it). With --all every public recording is measured, cold and warm.

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
from pathlib import Path
from time import perf_counter

from common import ROOT, SHARED, Report, Series, ratio, run, turns
from phases import PHASES

HERE = Path(__file__).resolve().parent
COLD_REPEAT = 2
PATIENCE = 300.0


class Starter:
    """Starts the program with a kernel cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.kernels, self.out, self.phases = folder / "kernels", folder / "pictures", folder / "phases.json"
        self.environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self.environment |= {"POCKETGPU_CACHE": str(self.kernels), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
        self.environment["PYTHONPATH"] = str(ROOT / "src")
        self.broken_down: dict[str, list[dict[str, float]]] = {}

    def _run(self, *arguments: str) -> tuple[float, float]:
        """Moments of its start and its end."""
        shutil.rmtree(self.out, ignore_errors=True)
        begin = perf_counter()
        done = subprocess.run(
            [sys.executable, *arguments], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            timeout=PATIENCE,
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
        found: dict[str, float] = json.loads(self.phases.read_text(encoding="utf-8"))
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


def shipped() -> str:
    """Where code that was made ahead of time comes from."""
    code = (
        "from pocketgpu.lanes import archive, making; print(*(archive.place(room) or 'none' for room in making.ROOMS))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "POCKETGPU_CACHE": "off"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    places = done.stdout.split()
    return "in the package" if set(places) == {"package"} else "not in the package: it is made at its first use"


def measure(report: Report, arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        starter = Starter(Path(folder))
        found = every_recording(SHARED / "captures") if arguments.all else cases(SHARED / "captures")
        rounds: dict[str, tuple[Series, Series, float]] = {}
        for name, (words, _, target) in found.items():
            starter.plain(words)  # Python's byte code
            cold = functools.partial(starter.timed, f"{name}, cold", words, True)
            rounds[f"{name}, cold"] = (*turns(COLD_REPEAT, cold, starter.numpy, warm=0), target)
        for name, (words, target, _) in found.items():
            warm = functools.partial(starter.plain, words)
            timed = functools.partial(starter.timed, f"{name}, warm", words, False)
            whole, numpy, _ = turns(arguments.repeat, warm, starter.numpy, timed)
            rounds[f"{name}, warm"] = (whole, numpy, target)
        for name, (whole, numpy, target) in rounds.items():
            median, best = ratio(whole, numpy)
            taken = starter.broken_down[name]
            parts = {phase: statistics.median(one[phase] for one in taken) / numpy.median for phase in PHASES}
            report.add(
                name, median, "x import numpy", best=best, target=target, more=False, by_best=True,
                note=", ".join(f"{phase} {value:.2f}" for phase, value in parts.items() if value >= 0.005),
            )  # fmt: skip
        report.notes.append(f"code made ahead of time is {shipped()}")
        report.notes.append(f"import numpy takes {numpy.median:.3f} s (best {numpy.best:.3f})")


if __name__ == "__main__":
    run("first_picture", measure, repeat=10, all=False)
