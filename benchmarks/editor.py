"""The debug adapter: a launch, and a step with all that an editor asks for after it.

In process, on the samples of both consoles and, where they are, on every recording: a vertex of its first draw.
Compiled code is in memory: each launch is the second one. A step is `stepIn` by instruction, then the scopes and their
variables.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

from common import SHARED, Report, run

import pocketgpu
from pocketgpu.errors import PocketGPUError

from support.dap_client import Editor, Refused  # isort: skip

STEP, LAUNCH = 20.0, 3.0
"""What was promised: milliseconds of a step, seconds of a launch."""
DATA = Path(pocketgpu.__file__).parent / "data"
PATTERNS = ("3ds/*.ctf.xz", "switch/*.mxcap.zip")


def captures() -> Iterator[Path]:
    yield from (DATA / "sample.ctf.xz", DATA / "sample_switch.mxcap.zip")
    for pattern in PATTERNS:
        yield from sorted((SHARED / "captures").glob(pattern))


def vertex(path: Path) -> str | None:
    """The address of a vertex of the first draw."""
    for event in pocketgpu.debug(str(path)).events(0):
        if event.draw is not None:
            return f"{event.address}/v0"
    return None


def launched(path: Path, address: str) -> tuple[Editor, float]:
    editor, begin = Editor(), perf_counter()
    editor.launch(capture=str(path), address=address)
    return editor, perf_counter() - begin


def step(editor: Editor) -> float:
    """Milliseconds."""
    begin = perf_counter()
    editor.ask("stepIn", threadId=editor.thread, granularity="instruction")
    for reference in editor.scopes().values():
        editor.variables(reference)
    return 1e3 * (perf_counter() - begin)


def measure(report: Report, arguments: argparse.Namespace) -> None:
    launches, steps, left = [], [], 0
    for path in captures():
        try:
            address = vertex(path)
            if address is None:
                left += 1
                continue
            launched(path, address)
            editor, seconds = launched(path, address)
        except (PocketGPUError, Refused):
            left += 1
            continue
        launches.append(seconds)
        trace = editor.adapter.session.debuggee.main.trace
        steps += [step(editor) for _ in range(min(len(trace) - 1, arguments.steps))]
    report.add("a launch, the median", median(launches), "s", best=min(launches))
    report.add("the longest", max(launches), "s", target=LAUNCH, more=False)
    report.add("a step, the median", median(steps), "ms", best=min(steps))
    report.add("the longest", max(steps), "ms", target=STEP, more=False)
    report.notes.append(f"{len(launches)} captures; {left} have no vertex that can be stepped through")


if __name__ == "__main__":
    run("editor", measure, steps=200)
