"""Maxwell machine code: thread-instructions a second on one thread, against the same kernels written in C.

sgemm, nbody and mandelbrot as NVIDIA's compiler made them, at sizes where one launch lasts 50 ms or more. A
thread-instruction is an instruction times the lanes at work; they are counted in a launch of its own. What a launch
costs beside its work is measured with a kernel of a single block. Needs the folder of kernels beside the checkout, and
gcc for C.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from pocketgpu import RawModule

KERNELS = Path(__file__).resolve().parents[2] / "shared" / "kernels"
SOURCE = Path(__file__).with_name("sass_reference.c")
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")
PROMISED_RATE, PROMISED_RATIO, PROMISED_OVERHEAD = 2e9, 5.0, 200e-6


def arguments(name: str) -> tuple[tuple[int, int], tuple[int, int], list[Any]]:
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
    numbers = [np.float32(x) for x in (-2.0, -1.25, 2.5 / n)]
    return (n // 16, n // 8), (16, 8), [np.zeros((n, n), np.uint32), np.int32(n), np.int32(n), *numbers, np.int32(256)]


def best(run: Any, times: int = 5) -> float:
    """The shortest of some runs, in seconds."""
    found = []
    for _ in range(times):
        started = perf_counter()
        run()
        found.append(perf_counter() - started)
    return min(found)


def compile_reference(folder: str) -> ctypes.CDLL:
    library = Path(folder) / "reference.so"
    subprocess.run(["gcc", *FLAGS, "-o", str(library), str(SOURCE), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def in_c(library: ctypes.CDLL, name: str, values: list[Any]) -> Any:
    """A call of the C function with the same arguments."""
    kinds = {np.int32: ctypes.c_int, np.float32: ctypes.c_float}
    converted = [
        ctypes.c_void_p(v.ctypes.data) if isinstance(v, np.ndarray) else kinds[type(v)](v) for v in values
    ]  # fmt: skip
    return lambda: getattr(library, name)(*converted)


def measure(name: str, library: ctypes.CDLL | None) -> None:
    grid, block, values = arguments(name)
    kernel = RawModule(KERNELS / name / "kernel.cubin").get_function(name)
    counted = kernel(grid, block, values, count=True, tier="specialised")
    kernel(grid, block, values, tier="specialised")
    seconds = best(lambda: kernel(grid, block, values, tier="specialised"))
    rate = counted.lane_steps / seconds
    ok = "" if rate >= PROMISED_RATE else "  (promised: 2)"
    line = f"{name:11} {seconds * 1e3:7.1f} ms  {counted.lane_steps / 1e6:7.0f} M thread-instructions"
    line += f"  {rate / 1e9:5.2f} G/s{ok}"
    if library is not None:
        mine = [v.copy() if isinstance(v, np.ndarray) else v for v in values]
        reference = best(in_c(library, name, mine))
        wrong = [not np.allclose(a, b, rtol=1e-3) for a, b in zip(mine, values, strict=True)]
        ratio = seconds / reference
        missed = "" if ratio <= PROMISED_RATIO else " (promised: 5)"
        line += f"  C {reference * 1e3:6.1f} ms  ratio {ratio:4.2f}{missed}"
        line += "  results differ" if any(wrong) else ""
    print(line)


def overhead() -> None:
    """A launch of one block of 32 threads."""
    _, _, values = arguments("mandelbrot")
    kernel = RawModule(KERNELS / "mandelbrot" / "kernel.cubin").get_function("mandelbrot")
    small = [np.zeros((4, 4), np.uint32), np.int32(4), np.int32(4), *values[3:6], np.int32(1)]
    for _ in range(20):
        kernel((1, 1), (16, 2), small, tier="specialised")
    seconds = best(lambda: kernel((1, 1), (16, 2), small, tier="specialised"), 50)
    print(f"launch      {seconds * 1e6:7.0f} us{'' if seconds <= PROMISED_OVERHEAD else '  (promised: 200)'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-c", action="store_true", help="leave the comparison with C out")
    options = parser.parse_args()
    if not KERNELS.is_dir():
        raise SystemExit(f"needs {KERNELS}")
    with tempfile.TemporaryDirectory() as folder:
        library = None if options.no_c else compile_reference(folder)
        for name in ("sgemm", "nbody", "mandelbrot"):
            measure(name, library)
    overhead()


if __name__ == "__main__":
    main()
