"""Start-up: from the start of the process to its first PNG, with compiled kernels in the cache and without; --help.

Python's own byte code counts as installed (installing a wheel compiles it), so it is kept from one start to the next,
in a folder of its own. "Nothing cached" is the very first start from a source tree.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, sleep

from common import CAPTURES, ROOT, Report, run, turns

WARM, COLD, HELP = 0.8, 6.0, 0.15  # seconds
COLD_REPEAT = 3
PATIENCE = 120.0


def capture() -> Path:
    """The textured cube, or the sample that ships where the recordings are not at hand."""
    recorded = CAPTURES / "textured_cube.ctf.xz"
    return recorded if recorded.is_file() else ROOT / "src" / "pocketgpu" / "data" / "sample.ctf.xz"


class Starter:
    """Starts the program with its own caches."""

    def __init__(self, folder: Path, source: Path) -> None:
        self.folder, self.source = folder, source
        self.kernels, self.bytecode = folder / "kernels", folder / "bytecode"
        self.environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self.environment |= {"POCKETGPU_CACHE": str(self.kernels), "PYTHONPYCACHEPREFIX": str(self.bytecode)}
        self.environment["PYTHONPATH"] = str(ROOT / "src")
        self.processor: dict[str, list[float]] = {}

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "pocketgpu", *arguments],
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def _finish(self, process: subprocess.Popen[bytes]) -> None:
        _, errors = process.communicate(timeout=PATIENCE)
        if process.returncode:
            raise RuntimeError(f"pocketgpu ended with {process.returncode}: {errors.decode(errors='replace').strip()}")

    def timed(self, what: str, work: Callable[[], float]) -> Callable[[], float]:
        """`work`, which starts a process, with the processor time of that process noted under `what`."""

        def run() -> float:
            before = os.times()
            seconds = work()
            after = os.times()
            spent = after.children_user + after.children_system - before.children_user - before.children_system
            self.processor.setdefault(what, []).append(spent)
            return seconds

        return run

    def first_picture(self) -> float:
        """Seconds from process start until the first PNG is complete."""
        out = self.folder / "pictures"
        shutil.rmtree(out, ignore_errors=True)
        start = perf_counter()
        process = self._start("render", str(self.source), "--out", str(out))
        seconds = 0.0
        while not seconds:
            # The program renames finished files into place, so one that has its name is complete.
            if any(out.glob("*.png")):
                seconds = perf_counter() - start
            elif process.poll() is not None or perf_counter() - start > PATIENCE:
                break
            else:
                sleep(0.002)
        self._finish(process)
        return seconds or perf_counter() - start

    def help(self) -> float:
        """Seconds that `pocketgpu --help` takes."""
        start = perf_counter()
        self._finish(self._start("--help"))
        return perf_counter() - start

    def python(self) -> float:
        """Seconds that Python takes to do nothing."""
        start = perf_counter()
        subprocess.run([sys.executable, "-c", ""], env=self.environment, check=True)
        return perf_counter() - start

    def cold(self) -> float:
        """`first_picture` without compiled kernels."""
        shutil.rmtree(self.kernels, ignore_errors=True)
        return self.first_picture()

    def first_ever(self) -> float:
        """`first_picture` with nothing cached at all."""
        shutil.rmtree(self.bytecode, ignore_errors=True)
        return self.cold()


def measure(report: Report, arguments: argparse.Namespace) -> None:
    source = capture()
    with tempfile.TemporaryDirectory() as folder:
        starter = Starter(Path(folder), source)
        cases = {
            "first PNG, nothing cached": (starter.first_ever, None),
            "first PNG, no compiled kernels": (starter.cold, COLD),
            "first PNG, warm cache": (starter.first_picture, WARM),
            "--help": (starter.help, HELP),
            "python itself": (starter.python, None),
        }
        work = {name: starter.timed(name, case) for name, (case, _) in cases.items()}
        ever, cold, *warm = work.values()
        series = [
            *turns(1, ever, warm=0),
            *turns(COLD_REPEAT, cold, warm=0),
            *turns(arguments.repeat, *warm, warm=1),
        ]
        for (name, (_, target)), one in zip(cases.items(), series, strict=True):
            spent = statistics.median(starter.processor[name])
            report.add(
                name, one.median, "s", best=one.best, target=target, more=False, by_best=True,
                note=f"{spent:.2f} s of processor time for the whole process",
            )  # fmt: skip
    report.notes.append(f"capture: {source.name}")


if __name__ == "__main__":
    run("startup", measure, repeat=10)
