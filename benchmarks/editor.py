"""The debug adapter: a launch, and a step with all that an editor asks for after it.

In process, on the samples of both consoles and, where they are, on every recording: a vertex of its first draw.
Compiled code is in memory: each launch is the second one. A step is `stepIn` by instruction, then the scopes and their
variables, without those that editors only open when they are asked to. Memory is such a scope: the first look at it
runs the program once more.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

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


def step(editor: Editor) -> tuple[float, float]:
    """Milliseconds, and those of the processor: the system may give its time to others, or withhold 50 ms of each
    second from who has priority in real time."""
    begin, before = perf_counter(), process_time()
    editor.ask("stepIn", threadId=editor.thread, granularity="instruction")
    for scope in editor.ask("scopes", frameId=editor.frame["id"])["scopes"]:
        if not scope["expensive"]:
            editor.variables(scope["variablesReference"])
    return 1e3 * (perf_counter() - begin), 1e3 * (process_time() - before)


def memory(editor: Editor) -> float:
    """Seconds of the first look at memory."""
    begin = perf_counter()
    editor.variables(editor.scopes()["memory"])
    return perf_counter() - begin


def measure(report: Report, arguments: argparse.Namespace) -> None:
    launches, steps, looks, left = [], [], [], 0
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
        looks.append(memory(editor))
    report.add("a launch, the median", median(launches), "s", best=min(launches))
    report.add("the longest", max(launches), "s", target=LAUNCH, more=False)
    walls, own = zip(*steps, strict=True)
    report.add("a step, the median", median(walls), "ms", best=min(walls))
    report.add("the longest, of the processor", max(own), "ms", target=STEP, more=False)
    report.add("the longest, on the clock", max(walls), "ms")
    report.add("the first look at memory, the median", median(looks), "s", best=min(looks))
    report.add("the longest", max(looks), "s", target=LAUNCH, more=False)
    report.notes.append(f"{len(launches)} captures; {left} have no vertex that can be stepped through")


if __name__ == "__main__":
    run("editor", measure, steps=200)
