"""Process start to exit for one picture: captures and programs of both consoles, with a breakdown, warm and cold.

Figures are multiples of `python -c "import numpy"`, which is measured beside each start, in turns. Warm: compiled
kernels are in the cache. Cold: the cache is empty. Python's own byte code counts as installed (installing a wheel
compiles it).

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
    PNG       the array as a file
    rest      options, output, and what is between
    exit      from the last line to the end of the process
"""

from __future__ import annotations

import argparse
import builtins
import functools
import importlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
COLD_REPEAT = 2
PATIENCE = 300.0
PHASES = (
    "python", "import", "open", "machine", "trace", "compile", "load", "replay", "scan-out", "PNG", "rest", "exit",
)  # fmt: skip
TIMED = {
    "pocketgpu.capture": {"open": "open"},
    "pocketgpu.guests": {"run": "open"},
    "pocketgpu.pica.n3ds": {"N3DS.__init__": "machine"},
    "pocketgpu.maxwell.gm20b": {"GM20B.__init__": "machine"},
    "pocketgpu.lanes.kernel": {"Kernel.trace": "trace", "Engine.get": "load"},
    "pocketgpu.lanes.machine_code": {"compile_object": "compile"},
    "pocketgpu.capture.driver.n3ds": {"N3DSDriver.play_frame": "replay", "N3DSDriver.shown": "scan-out"},
    "pocketgpu.capture.driver.switch": {"SwitchDriver.play_frame": "replay", "SwitchDriver.shown": "scan-out"},
    "pocketgpu.guests.app": {"App.frames": "replay", "App.screens": "scan-out"},
    "pocketgpu.pictures": {"png_bytes": "PNG", "to_image": "PNG"},
}
"""What is timed once its module is imported: function, method or property, and the phase that it belongs to."""


# -- in the process that is measured ------------------------------------------------------------------------------
class Clock:
    """Seconds by phase. `enter` begins one inside another, `leave` goes back to the one around it."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self.around = ["rest"]
        self.since = perf_counter()

    def enter(self, phase: str) -> None:
        self.charge()
        self.around.append(phase)

    def leave(self) -> None:
        self.charge()
        self.around.pop()

    def charge(self) -> None:
        now = perf_counter()
        self.seconds[self.around[-1]] += now - self.since
        self.since = now

    def timed(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*args: Any, **named: Any) -> Any:
            self.enter(phase)
            try:
                return function(*args, **named)
            finally:
                self.leave()

        return run


class Imports:
    """Times imports, and everything in TIMED as soon as its module is there."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.waiting, self.depth = clock, dict(TIMED), 0
        self.own = builtins.__import__

    def __call__(self, *args: Any, **named: Any) -> Any:
        if self.depth:
            return self.own(*args, **named)
        self.depth += 1
        self.clock.enter("import")
        try:
            return self.own(*args, **named)
        finally:
            self.depth -= 1
            self.install()
            self.clock.leave()

    def install(self) -> None:
        for name in [name for name in self.waiting if hasattr(sys.modules.get(name), "__file__")]:
            for path, phase in self.waiting.pop(name).items():
                place: Any = sys.modules[name]
                *owners, last = path.split(".")
                for one in owners:
                    place = getattr(place, one)
                found = vars(place)[last]
                if isinstance(found, property):
                    assert found.fget is not None
                    setattr(place, last, property(self.clock.timed(phase, found.fget)))
                else:
                    setattr(place, last, self.clock.timed(phase, found))


def within(report: str, words: list[str]) -> int:
    """Run the command line and write the seconds of each phase to a file: 'python' and 'exit' as moments."""
    first = perf_counter()
    clock = Clock()
    imports = Imports(clock)
    builtins.__import__ = imports
    importlib.import_module = clock.timed("import", importlib.import_module)
    sys.argv = ["pocketgpu", *words]
    from pocketgpu.cli import main

    code = main()
    clock.charge()
    Path(report).write_text(json.dumps(clock.seconds | {"python": first, "exit": perf_counter()}), encoding="utf-8")
    return code


# -- in the process that measures ---------------------------------------------------------------------------------
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
        begin, end = self._run(__file__, "--within", str(self.phases), *words, "--out", str(self.out))
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


def measure(report: Any, arguments: argparse.Namespace) -> None:
    from common import SHARED, Series, ratio, turns

    with tempfile.TemporaryDirectory() as folder:
        starter = Starter(Path(folder))
        found = cases(SHARED / "captures")
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
        report.notes.append(f"import numpy takes {numpy.median:.3f} s (best {numpy.best:.3f})")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--within"]:
        sys.exit(within(sys.argv[2], sys.argv[3:]))
    from common import run

    run("first_picture", measure, repeat=10)
