"""Maxwell machine code: thread-instructions a second on one thread, against the same kernels written in C.

Five kernels as NVIDIA's compiler made them, at sizes where one launch lasts long enough: sgemm with tiles in shared
memory, nbody, mandelbrot, a reduction whose blocks do little between their barriers, and a transpose through shared
memory. A thread-instruction is an instruction times the lanes at work; they are counted in a separate launch. The C
(`sass_reference.c`) has loops over blocks and threads outside, split at barriers, and the tiles; gcc compiles it with
-O3 -march=native -ffp-contract=off, or for the level that POCKETGPU_LEVEL names, as our code then is. Also measured:
the cost of a launch that does next to nothing, the speed of a second thread, and how long compiling long kernels and
finding their code in the cache take. Needs kernels of other programs, and a C compiler for the comparison.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from common import SHARED, Report, Series, clock, ratio, run, turns

from pocketgpu import RawModule

KERNELS = SHARED / "kernels"
SOURCE = Path(__file__).with_name("sass_reference.c")
LEVEL = os.environ.get("POCKETGPU_LEVEL") or "native"
"""What the C is compiled for: the level of our code if one is set, so that both have the same instructions."""
FLAGS = ("-O3", f"-march={LEVEL}", "-ffp-contract=off", "-shared", "-fPIC")
RATIOS = {"sgemm": 2.0, "nbody": 5.0, "mandelbrot": 5.0, "reduction": 5.0, "transpose": 5.0}
"""The kernels, and how many times the C's time was promised."""
PLAIN = ("int_div", "spill", "mufu", "local")
"""Those of them that are made of plain instructions."""
RATE, OVERHEAD, COLD, CACHED, LONGEST = 2.0, 60.0, 1.5, 10.0, 1.0
"""What was promised: G/s, microseconds, seconds and milliseconds for 1000 instructions, seconds for any part."""
ROUNDED = ("nbody", "mandelbrot")
"""Kernels whose C rounds otherwise: it has another root, and products and sums are not fused. Others agree exactly."""
LONG = {"int_div": 846, "spill": 1584, "mufu": 1176, "local": 2880, "f64": 495, "f16": 145}
"""Kernels whose code is long, or made of instructions with long code, and their instructions."""

# Run in a process of its own: makes the code of a kernel, or finds it in the cache; prints seconds of the processor
# and of the clock on the wall, and the most seconds of the processor of a part.
MAKE = """
import sys, time
from pocketgpu import RawModule
from pocketgpu.maxwell.sass.launch.special_code import SpecialCode
from pocketgpu.maxwell.sass.thread_memory.access import memory
from pocketgpu.maxwell.sass.warp.row import run_warp
kernel = RawModule(sys.argv[1]).get_function(sys.argv[2])
engine = kernel.module.device.engine
engine.get(memory, space=1, size=4, store=True)  # what a process needs once is not what a kernel costs
data, start, indirect = kernel.code.key
static = dict(code=data, start=start, indirect=indirect, stride=8192, count=False)
code = SpecialCode(run_warp, kernel.code.flow, static)
most, began, worked = 0, time.perf_counter(), time.thread_time()
for one, values in code.pieces:
    before = time.thread_time()
    engine.get(one, **values)
    most = max(most, time.thread_time() - before)
print(time.thread_time() - worked, time.perf_counter() - began, most)
"""


def arguments_of(name: str) -> tuple[tuple[int, int], tuple[int, int], list[Any]]:
    """(grid, block, arguments) of a kernel."""
    r = np.random.default_rng(1)
    if name == "sgemm":
        n = 512
        a, b = (r.random((n, n), np.float32) for _ in range(2))
        return (n // 16, n // 16), (16, 16), [a, b, np.zeros((n, n), np.float32), np.int32(n), np.float32(0.75)]
    if name == "nbody":
        n = 8192
        p, v = (r.random((n, 4), np.float32) for _ in range(2))
        return (n // 64, 1), (64, 1), [p, v, np.zeros_like(p), np.zeros_like(v), np.int32(n), np.float32(0.01)]
    n = 1024
    if name == "reduction":
        blocks = 4 * n
        a, f = r.integers(0, 1 << 32, 256 * blocks, np.uint32), r.random(256 * blocks, np.float32)
        results = [np.zeros(blocks + 1, np.uint32), np.zeros(blocks, np.float32)]
        return (blocks, 1), (256, 1), [a, f, *results, np.int32(256 * blocks)]
    if name == "transpose":
        a = r.integers(0, 1 << 16, (n, n), np.uint16)
        return (n // 32, n // 32), (32, 8), [a, np.zeros_like(a), np.int32(n), np.int32(n)]
    numbers = [np.float32(x) for x in (-2.0, -1.25, 2.5 / n)]
    return (n // 16, n // 8), (16, 8), [np.zeros((n, n), np.uint32), np.int32(n), np.int32(n), *numbers, np.int32(256)]


def compile_reference(folder: str) -> ctypes.CDLL | None:
    """The C as a library; None without a compiler."""
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    library = Path(folder) / "reference.so"
    subprocess.run([compiler, *FLAGS, "-o", str(library), str(SOURCE), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def in_c(library: ctypes.CDLL, name: str, grid: tuple[int, int], values: list[Any]) -> Callable[[], object]:
    """A call of the C function with the same arguments."""
    values = [*values, np.int32(grid[0])] if name == "reduction" else values
    kinds = {np.int32: ctypes.c_int, np.float32: ctypes.c_float}
    converted = [
        ctypes.c_void_p(v.ctypes.data) if isinstance(v, np.ndarray) else kinds[type(v)](v) for v in values
    ]  # fmt: skip

    def call(kept: list[Any] = values) -> None:
        """kept: the arrays stay as long as what points to their bytes."""
        getattr(library, name)(*converted)

    return call


def _copies(values: list[Any]) -> list[Any]:
    return [v.copy() if isinstance(v, np.ndarray) else v for v in values]


def check(library: ctypes.CDLL, name: str) -> None:
    """Compare what the kernel and the C compute."""
    grid, block, values = arguments_of(name)
    reference = _copies(values)
    RawModule(KERNELS / name / "kernel.cubin").get_function(name)(grid, block, values, tier="specialised")
    in_c(library, name, grid, reference)()
    pairs = [(a, b) for a, b in zip(values, reference, strict=True) if isinstance(a, np.ndarray)]
    if name in ROUNDED:
        same = all(np.allclose(a, b, rtol=1e-5, atol=1e-6 * float(np.abs(b).max())) for a, b in pairs)
    else:
        same = all(a.tobytes() == b.tobytes() for a, b in pairs)
    if not same:
        raise SystemExit(f"{name} and its translation give different results")


def rates(report: Report, repeat: int, library: ctypes.CDLL | None) -> None:
    for name, promised in RATIOS.items():
        if library is not None:
            check(library, name)
        grid, block, values = arguments_of(name)
        kernel = RawModule(KERNELS / name / "kernel.cubin").get_function(name)
        counted = kernel(grid, block, values, count=True, tier="specialised").lane_steps
        work: list[Callable[[], object]] = [partial(kernel, grid, block, values, tier="specialised")]
        if library is not None:
            work.append(in_c(library, name, grid, _copies(values)))
        found = turns(repeat, *(partial(clock, w) for w in work))
        ours = found[0]
        middle, best = (counted / seconds / 1e9 for seconds in (ours.median, ours.best))
        note = f"{ours.best * 1e3:.1f} ms"
        report.add(f"{name}, thread-instructions", middle, "G/s", best=best, target=RATE, note=note)
        if library is not None:
            middle, best = ratio(ours, found[1])
            note = f"C {found[1].best * 1e3:.1f} ms"
            report.add(
                f"{name}, times the C", middle, "x", best=best, target=promised, more=False, by_best=True, note=note
            )


def overhead(report: Report, repeat: int) -> None:
    """A launch of one block of 32 threads that writes 64 bytes."""
    _, _, values = arguments_of("mandelbrot")
    kernel = RawModule(KERNELS / "mandelbrot" / "kernel.cubin").get_function("mandelbrot")
    small = [np.zeros((4, 4), np.uint32), np.int32(4), np.int32(4), *values[3:6], np.int32(1)]
    (found,) = turns(repeat * 20, lambda: clock(lambda: kernel((1, 1), (16, 2), small, tier="specialised")), warm=20)
    report.add("launch", found.median * 1e6, "us", best=found.best * 1e6, target=OVERHEAD, more=False)


def second_thread(report: Report, repeat: int) -> None:
    """By the wall clock: the figure only means something if both threads are free."""

    def wall(work: Callable[[], object]) -> float:
        began = perf_counter()
        work()
        return perf_counter() - began

    for name in RATIOS:
        grid, block, values = arguments_of(name)
        kernels = [RawModule(KERNELS / name / "kernel.cubin", threads=n).get_function(name) for n in (1, 2)]
        work = [partial(wall, partial(k, grid, block, values, tier="specialised")) for k in kernels]
        middle, best = ratio(*turns(repeat, *work))
        report.add(f"{name}, two threads against one", middle, "x", best=best)


def making(report: Report, repeat: int) -> None:
    for name, instructions in LONG.items():
        cold, again, most = Series(), Series(), Series()
        for _ in range(max(repeat // 3, 1)):
            with tempfile.TemporaryDirectory() as cache:
                for number, (series, which) in enumerate(((cold, 0), (again, 1))):
                    command = [sys.executable, "-c", MAKE, str(KERNELS / name / "kernel.cubin"), name]
                    cached = os.environ | {"POCKETGPU_CACHE": cache}
                    done = subprocess.run(command, env=cached, capture_output=True, text=True, check=True)
                    series.seconds.append(float(done.stdout.split()[which]))
                    if not number:
                        most.seconds.append(float(done.stdout.split()[2]))
        middle, best = (1000 / instructions * s for s in (cold.median, cold.best))
        note = f"{cold.best:.2f} s for {instructions}"
        what = f"{name}, code made, 1000 instructions"
        promised = COLD if name in PLAIN else None
        report.add(what, middle, "s", best=best, target=promised, more=False, note=note)
        report.add(f"{name}, longest part", most.median, "s", best=most.best, target=LONGEST, more=False)
        middle, best = again.median * 1e3, again.best * 1e3
        report.add(f"{name}, code found again", middle, "ms", best=best, target=CACHED, more=False)


def measure(report: Report, arguments: argparse.Namespace) -> None:
    if not KERNELS.is_dir():
        report.notes.append(f"needs {KERNELS}")
        return
    with tempfile.TemporaryDirectory() as folder:
        library = compile_reference(folder)
        if library is None:
            report.notes.append("no C compiler: not compared")
        rates(report, arguments.repeat, library)
    overhead(report, arguments.repeat)
    making(report, arguments.repeat)
    if (os.cpu_count() or 1) > 1:
        second_thread(report, arguments.repeat)


if __name__ == "__main__":
    run("sass", measure, repeat=10)
