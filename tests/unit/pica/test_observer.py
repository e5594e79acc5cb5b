"""What a 3DS machine tells its observers: everything once, in order, and without changing what it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pocketgpu
from pocketgpu import capture
from pocketgpu.pica.core.observer import Observer, Run, Undrawn
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pictures import Screen

VRAM, FCRAM = 0x18000000, 0x20000000
PSC0, PPF = 0x10400010, 0x10400C00


class Diary(Observer):
    """Writes down what it is told. alone: draws are run one by one."""

    wants_pages = True

    def __init__(self, alone: bool = False) -> None:
        self.alone = alone
        self.lines: list[Any] = []
        self.pages: list[int] = []

    def memory_loaded(self, address: int, size: int) -> None:
        self.lines.append(("loaded", address, size))

    def memory_written(self, pages: np.ndarray) -> None:
        self.pages += pages.tolist()

    def writes_start(self, addresses: np.ndarray, values: np.ndarray) -> None:
        self.lines.append(("writes", len(addresses)))

    def display_written(self, addresses: np.ndarray, values: np.ndarray) -> None:
        self.lines.append(("display", addresses.tolist()))

    def command_starts(self, words: Sequence[int]) -> None:
        self.lines.append(("command starts", words[0]))

    def command_ended(self, words: Sequence[int], result: int) -> None:
        self.lines.append(("command ended", words[0], result == 0))

    def cache_flushed(self, ranges: Sequence[tuple[int, int]]) -> None:
        self.lines.append(("flushed", list(ranges)))

    def memory_copied(self, words: Sequence[int]) -> None:
        self.lines.append(("copied", words[3]))

    def unit_starts(self, unit: str, words: Mapping[str, int]) -> None:
        self.lines.append((unit, "starts", words[f"{unit}_CONTROL"] if unit != "P3D" else words["CMDBUF_JUMP0"]))

    def unit_ended(self, unit: str, words: Mapping[str, int]) -> None:
        self.lines.append((unit, "ended"))

    def list_starts(self, offset: int, size: int) -> None:
        self.lines.append(("list starts", size))

    def list_ended(self, offset: int, size: int, jumps: int, ignored: int) -> None:
        self.lines.append(("list ended", jumps, ignored))

    def draws(self, packets: DrawPackets, run: Run) -> None:
        self.lines.append(("draws", len(packets)))
        if self.alone:
            for number in range(len(packets)):
                run(number, number + 1)
        else:
            run(0, len(packets))

    def vblank(self, frame: int) -> None:
        self.lines.append(("vblank", frame))


def pixels(screens: Mapping[str, Screen]) -> dict[str, bytes]:
    return {name: screen.array.tobytes() for name, screen in screens.items()}


@pytest.fixture(scope="module")
def sample() -> capture.Capture:
    path = Path(pocketgpu.__file__).parent / "data" / "sample.ctf.xz"
    if not path.is_file():
        pytest.skip("the sample is not built")
    return capture.open(str(path))


@pytest.fixture(scope="module")
def plain(sample: capture.Capture) -> list[Any]:
    """Pictures and counts of each frame, with nobody looking on."""
    return [(pixels(frame.screens), frame.counts) for frame in sample.render(frames=range(2))]


@pytest.mark.parametrize("alone", [False, True])
def test_who_looks_on_changes_nothing(sample: Any, plain: list[Any], alone: bool) -> None:
    machine, diary = sample.machine(), Diary(alone)
    with machine.observed(diary):
        assert [(pixels(f.screens), f.counts) for f in sample.render(frames=range(2), machine=machine)] == plain
    told = [line[0] for line in diary.lines]
    assert told.count("vblank") == 2 and diary.machine is machine
    assert sum(line[1] for line in diary.lines if line[0] == "draws") == sum(counts["draws"] for _, counts in plain)
    assert told.count("list starts") == told.count("list ended") > 0
    for unit in ("PSC0", "PPF", "P3D"):
        lines = [line[1] for line in diary.lines if line[0] == unit]
        assert lines and lines == ["starts", "ended"] * (len(lines) // 2)
    before = len(diary.lines)
    machine.step_vblank()
    assert len(diary.lines) == before  # it is told nothing any more


def test_several_observers_share_draws(sample: Any, plain: list[Any]) -> None:
    """The first hands its parts on to the next one, and none is notified of a draw twice."""
    machine, first, second = sample.machine(), Diary(alone=True), Diary()
    machine.observe(first)
    machine.observe(second)
    assert [(pixels(f.screens), f.counts) for f in sample.render(frames=range(2), machine=machine)] == plain
    (drawn, rest), (drawn_one_by_one, same) = (
        ([line[1] for line in one.lines if line[0] == "draws"], [line for line in one.lines if line[0] != "draws"])
        for one in (first, second)
    )
    assert drawn_one_by_one == [1] * sum(drawn) and rest == same
    machine.dismiss(first)
    assert machine.observers == (second,)


def test_a_machine_that_does_not_draw(sample: Any, plain: list[Any]) -> None:
    machine = sample.machine()
    machine.observe(Undrawn())
    frames = list(sample.render(frames=range(2), machine=machine, pictures=False))
    assert [frame.draws for frame in frames] == [counts["draws"] for _, counts in plain]
    assert [frame.triangles for frame in frames] == [0, 0] and not machine.render_targets
    whole = sample.machine()
    list(sample.render(frames=range(2), machine=whole, pictures=False))
    assert (machine.registers == whole.registers).all()
    assert (machine.bank("vs_uniforms") == whole.bank("vs_uniforms")).all()


def test_packets_tell_what_draws_see(sample: Any) -> None:
    starts: set[int] = set()

    class Looking(Undrawn):
        def draws(self, packets: DrawPackets, run: Run) -> None:
            work = self.machine.work
            for n in range(len(packets)):
                assert (work.registers(packets.start + n) == packets.registers[n]).all()
                assert len(packets.seen("vs_code", n)) == 2048
            starts.add(packets.start)
            last = len(packets) - 1
            self.machine.see_again(packets, last)
            assert (self.machine.registers == packets.registers[last]).all()
            assert self.machine.bank("vs_code").tobytes() == packets.seen("vs_code", last)

    machine = sample.machine()
    machine.observe(Looking())
    list(sample.render(frames=range(1), machine=machine, pictures=False))
    assert starts == {0}


def test_an_observer_may_stop_the_machine(sample: Any) -> None:
    class Stop(Exception):
        pass

    class Stopping(Observer):
        def list_starts(self, offset: int, size: int) -> None:
            raise Stop

    machine = sample.machine()
    with machine.observed(Stopping()), pytest.raises(Stop):
        list(sample.render(frames=range(1), machine=machine))
    assert machine.stats.draws == 0 and machine.observers == ()


@pytest.mark.parametrize("timing", ["instant", "emulated"])
def test_units(timing: str) -> None:
    machine, diary = N3DS(timing=timing), Diary()
    machine.observe(diary)
    writes = {PSC0: VRAM >> 3, PSC0 + 4: (VRAM >> 3) + 0x400, PSC0 + 8: 0x12345678, PSC0 + 12: 0x201}
    for address, value in writes.items():
        machine.write_register(address, value)
    if timing == "emulated":
        assert ("PSC0", "ended") not in diary.lines
    machine.finish()
    assert [line for line in diary.lines if line[0] == "PSC0"] == [("PSC0", "starts", 0x201), ("PSC0", "ended")]
    start = (machine.memory.offset_of(VRAM, 0x2000) or 0) >> 12
    assert diary.pages == [start, start + 1]
    assert machine.memory.read(VRAM, 4) == bytes.fromhex("78563412")


def test_writes_loads_and_displays() -> None:
    machine, diary = N3DS(), Diary()
    machine.observe(diary)
    machine.load_memory(FCRAM, bytes(16))
    shown, fill = 0x10400468, PSC0 + 8
    machine.write_registers(np.array([fill, shown, shown + 4, fill]), np.array([1, 2, 3, 4]))
    assert diary.lines == [("loaded", FCRAM, 16), ("writes", 4), ("display", [shown, shown + 4])]
    assert machine.peek(shown) == 2 and machine.peek(fill) == 4


def test_gx_commands() -> None:
    machine, diary = N3DS(), Diary()
    machine.observe(diary)
    machine.load_memory(FCRAM, b"abcdefgh")
    base = 0x14000000
    assert machine.gsp.gx([0, base, base + 0x1000, 8, 0, 0, 0, 1]) == 0
    assert machine.gsp.gx([99, 0, 0, 0, 0, 0, 0, 0]) != 0
    assert diary.lines[1:] == [
        ("command starts", 0), ("flushed", [(base, 8)]), ("copied", 8), ("command ended", 0, True),
        ("command starts", 99), ("command ended", 99, False),
    ]  # fmt: skip
    assert machine.memory.read(FCRAM + 0x1000, 8) == b"abcdefgh"


def test_words_without_memory_are_a_list_of_their_own() -> None:
    found: list[int | None] = []

    class Places(Observer):
        def list_starts(self, offset: int, size: int) -> None:
            found.append(self.machine.memory.address_of(offset))

    machine = N3DS()
    machine.observe(Places())
    machine.submit([0, 0x000F0040])
    machine.load_memory(FCRAM, np.array([0, 0x000F0040, 0x12345678, 0x000F0010], "<u4").tobytes())
    for address, value in ((0x104018E0, 2), (0x104018E8, FCRAM >> 3), (0x104018F0, 1)):
        machine.write_register(address, value)
    assert found == [None, FCRAM]


def test_checkpoints_bring_all_back(sample: Any) -> None:
    """A frame played again from a checkpoint ends as it ended before, interrupts and counters included."""
    driver = sample.driver()
    machine, frames = driver.machine, driver.frames()
    next(frames)
    kept = machine.checkpoint()
    state, taken = machine.save_state(), machine.take_interrupts()
    first = pixels(next(frames).screens)
    assert taken and machine.frame == 2
    machine.restore(kept)
    assert machine.frame == 1 and machine.take_interrupts() == taken
    assert all((words == state[name]).all() for name, words in machine.save_state().items())
    driver.do(sample.trace.runs(1))
    machine.step_vblank()
    assert pixels(machine.screens) == first
