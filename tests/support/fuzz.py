"""What the fuzzers of tests/fuzz share: how they are started, by hand and by the tests."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pocketgpu import N3DS

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"


def load(name: str) -> ModuleType:
    """The fuzzer of that name; they are programs, not a package."""
    spec = importlib.util.spec_from_file_location(f"fuzz_{name}", FUZZ / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written_outside(gpu: N3DS) -> bool:
    """Whether anything was written where no guest memory of a 3DS is."""
    memory = gpu.memory
    return bool(memory.arena[: memory.regions[0][1]].any() or memory.arena[memory.guest_end : memory.work_offset].any())


@contextmanager
def one_case(seed: int, number: int, slowest: float = 1e9, name: str = "") -> Iterator[None]:
    """Around a case: any exception, and more than `slowest` seconds, become an AssertionError that names the case."""
    where = f"seed {seed}, case {number}" + (f" ({name})" if name else "")
    started = time.perf_counter()
    try:
        yield
    except Exception as error:
        raise AssertionError(f"{where}: {type(error).__name__}: {error}") from error
    took = time.perf_counter() - started
    assert took < slowest, f"{where} took {took:.1f} s"


def command(
    doc: str | None, run: Callable[..., Counter[str]], what: str, *more: object, counted: str = "cases", **numbers: int
) -> None:
    """The program: `run(cases, seed, first, *more)`, and a line that tells how many of `what` it took.

    numbers: further options with their defaults, which `run` takes by name.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    started = time.perf_counter()
    chosen = {name: getattr(options, name) for name in numbers}
    counts = run(options.cases, options.seed, options.first, *more, **chosen)
    print(f"{counts[counted]} {what} in {time.perf_counter() - started:.0f} s: {dict(counts)}")
