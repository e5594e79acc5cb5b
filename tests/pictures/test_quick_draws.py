"""Draws that kernels make without Python leave what Python's leave, in every scene of the zoo and every recording.

Each submission runs twice, so that every state comes again. Memory, log, events, statistics and registers are compared.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pytest
from support import recordings, switch_index
from support.quick import seen
from zoo_switch import SCENES

import pocketgpu
from pocketgpu.capture.driver.switch import SwitchDriver
from pocketgpu.capture.formats.mxcap import ChannelLog
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.graphics.draw import drawing
from pocketgpu.maxwell.memory.page_table import PHYSICAL

MADE: Counter[str] = Counter()
CELLS = 3
"""Cells of each scene that are drawn: the code of all of them would take long to make."""


@lru_cache(maxsize=4)
def _machine(quick: bool, threads: int, choices: tuple[tuple[str, str], ...]) -> GM20B:
    return GM20B(threads, switches=dict(choices))


def _twice(log: ChannelLog, machine: GM20B, quick: bool) -> Iterator[Any]:
    """What can be seen after each submission, which is handed over twice."""
    machine.reset()
    machine.drawing.tier = "specialised"
    machine.drawing.quick.on, machine.drawing.quick.at_once = quick, True
    driver, memory = SwitchDriver(log, machine), machine.memory
    for number in range(len(log.submissions)):
        driver.prepare(number)
        driver.submit(number)
        driver.submit(number)
        machine.finish()
        data = hashlib.blake2b(memory.arena[PHYSICAL : memory._top].data).hexdigest()
        yield {"memory": data, "written": (memory.page_versions > 0).tobytes(), **seen(machine, ())}


def _compare(name: str, log: ChannelLog, threads: int = 1, choices: tuple[tuple[str, str], ...] = ()) -> None:
    with_quick, without = (_machine(quick, threads, choices) for quick in (True, False))
    pairs = zip(_twice(log, with_quick, True), _twice(log, without, False), strict=True)
    for number, (one, other) in enumerate(pairs):
        wrong = [key for key in other if one[key] != other[key]]
        assert not wrong, f"{name}, submission {number}: {wrong}"
    MADE[f"{threads}"] += with_quick.drawing.quick.made
    MADE["draws"] += with_quick.stats.draws
    assert without.drawing.quick.made == 0


@pytest.mark.parametrize("name", list(SCENES))
def test_a_scene(name: str) -> None:
    entry = SCENES[name]
    total = len(entry.make().cells)
    start = sum(name.encode()) % total
    chosen = sorted({(start + n * total // CELLS) % total for n in range(CELLS)})
    _compare(name, entry.make(chosen).capture.log(), choices=tuple(sorted(entry.choices.items())))


@pytest.mark.parametrize("name", ["points", "color_formats", "topologies", "depth_formats"])
def test_a_scene_that_threads_share(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    if name not in SCENES:
        pytest.skip(f"no scene {name}")
    monkeypatch.setattr(drawing, "SHARE_VERTICES", 1)
    monkeypatch.setattr(drawing, "SHARE_AREA", 0)
    entry = SCENES[name]
    _compare(name, entry.make(list(range(CELLS))).capture.log(), 2, tuple(sorted(entry.choices.items())))


@pytest.mark.parametrize("name", switch_index.names() or ["none"])
def test_a_recording(name: str) -> None:
    if name == "none":
        pytest.skip(recordings.REASON)
    trace = pocketgpu.open(switch_index.folder() / f"{name}.mxcap.zip").trace
    assert isinstance(trace, ChannelLog) and SwitchDriver.make_machine(trace).choices == GM20B().choices
    _compare(name, trace)


def test_many_of_them_were_quick() -> None:
    """Or all that would prove nothing."""
    if MADE["draws"] < 100:
        pytest.skip("only a part of the tests of this file ran here")
    assert MADE["1"] * 3 > MADE["draws"], MADE
