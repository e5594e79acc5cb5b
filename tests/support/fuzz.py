"""What the fuzzers of tests/fuzz share: how they are started, by hand and by the tests."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"


def load(name: str) -> ModuleType:
    """The fuzzer of that name; they are programs, not a package."""
    spec = importlib.util.spec_from_file_location(f"fuzz_{name}", FUZZ / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def command(
    doc: str | None, run: Callable[..., Counter[str]], what: str, *more: object, counted: str = "cases"
) -> None:
    """The program: `run(cases, seed, first, *more)`, and a line that tells how many of `what` it took."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    options = parser.parse_args()
    started = time.perf_counter()
    counts = run(options.cases, options.seed, options.first, *more)
    print(f"{counts[counted]} {what} in {time.perf_counter() - started:.0f} s: {dict(counts)}")
