"""Captures that are submitted as by a program: what the system software refuses, when units end, what can be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

import pytest

from pocketgpu import capture
from pocketgpu.builder import CaptureBuilder, CommandList
from pocketgpu.builder.gx import memory_fill, request_dma, texture_copy
from pocketgpu.capture.driver.base import Driver, ProgramView
from pocketgpu.errors import UsageError
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.pictures import Screen

LINE = 720
SIZE = 400 * LINE
PSC0 = EXTERNAL["PSC0_CONTROL"]


def driver_of(built: CaptureBuilder, **options: Any) -> Driver[Any]:
    opened = capture.of_bytes(built.to_pgc())
    return opened.driver(machine=opened.provider.make_machine(opened.trace, **options))


def submitted(built: CaptureBuilder, *registers: int, **options: Any) -> tuple[ProgramView, Any]:
    driver = driver_of(built, **options)
    return driver.play_as_program(registers), driver.machine


def events_of(machine: Any) -> list[tuple[str, str]]:
    return [(event.id, event.at) for event in machine.events]


def pixels(screens: Mapping[str, Screen]) -> dict[str, bytes]:
    return {name: screen.array[..., :3].tobytes() for name, screen in screens.items()}


# -- the system software -----------------------------------------------------------------------------------------------
def refused() -> tuple[CaptureBuilder, int]:
    built = CaptureBuilder()
    start = built.allocate(64, region="VRAM")
    built.write("PSC0_CONTROL").gx(memory_fill((start + 4, start + 64, 0x11223344, 32))).end_frame()
    return built, start


def test_a_log_has_what_did_run_and_a_program_asks_for_it() -> None:
    built, start = refused()
    replayed = driver_of(built)
    replayed.play_rest()
    assert replayed.machine.memory.read(start + 16, 4) == b"\x44\x33\x22\x11" and not replayed.machine.events
    view, machine = submitted(built)
    assert machine.memory.read(start, 64) == bytes(64) and view.interrupts == {}
    assert events_of(machine) == [("gsp.refused", "f0/e1")]


def test_interrupts_are_what_a_program_is_told() -> None:
    built = CaptureBuilder()
    source, target = (built.allocate(256, region="VRAM") for _ in range(2))
    first, second = (source, source + 64, 1, 32), (source + 64, source + 128, 2, 32)
    built.gx(memory_fill(first, second)).gx(texture_copy(source, target, 64)).gx(request_dma(source, target, 64))
    built.fill(source, source + 16, 7).copy(source, target, 16).submit(CommandList().write("LOGIC_OP", op="copy"))
    built.end_frame().end_frame()
    view, machine = submitted(built)
    assert view.interrupts == {"PSC0": 2, "PSC1": 1, "PPF": 2, "DMA": 1, "P3D": 1}
    assert machine.take_interrupts()["PDC0"] == 2
    held, _ = submitted(built, choices={"gsp.double_fill": "first"})
    assert held.interrupts == {name: count for name, count in view.interrupts.items() if name != "PSC1"}


def test_framebuffers_are_left_to_gsp() -> None:
    built = CaptureBuilder()
    first, second = (built.allocate(SIZE, region="VRAM") for _ in range(2))
    built.clear(first, 240, 400, 0x102030, format="RGB8").clear(second, 240, 400, 0x405060, format="RGB8")
    built.swap("top", first).swap("top", second).end_frame()
    built.swap("bottom", first, second=True).end_frame()
    view, machine = submitted(built)
    # The first entry was replaced before gsp looked; a log has the writes of both.
    read = lambda name: machine.read_register(EXTERNAL[name].address)  # noqa: E731
    assert (read("PDC0_ADDRESS_A0"), read("PDC1_ADDRESS_A1"), read("PDC1_SELECT") & 1) == (second, first, 1)
    assert (view.pictures["top"].array == (0x40, 0x50, 0x60)).all()
    assert (view.pictures["bottom"].array == (0x10, 0x20, 0x30)).all()
    replayed = driver_of(built)
    replayed.play_rest()
    assert pixels(replayed.shown(1)) == pixels(view.pictures)


# -- time --------------------------------------------------------------------------------------------------------------
def long_fills() -> tuple[CaptureBuilder, int]:
    built = CaptureBuilder()
    start = built.allocate(1 << 20, region="VRAM")
    built.fill(start, start + (1 << 20), 0x11111111)
    built.fill(start, start + 16, 0x22222222).fill(start + 16, start + 32, 0x33333333)
    return built, start


@pytest.mark.parametrize("timed", [False, True])
def test_a_program_waits_for_units(timed: bool) -> None:
    built, start = long_fills()
    view, machine = submitted(built.end_frame(), timed=timed)
    assert machine.memory.read(start, 48) == b"\x22" * 16 + b"\x33" * 16 + b"\x11" * 16
    assert view.interrupts == {"PSC0": 3} and not machine.events
    assert machine.timing == ("emulated" if timed else "instant")


@pytest.mark.parametrize("end_frame", [False, True])
def test_registers_are_read_while_the_last_event_runs(end_frame: bool) -> None:
    built, start = long_fills()
    built.end_frame().fill(start, start + (1 << 20), 0x44444444)
    if end_frame:
        built.end_frame()
    view, machine = submitted(built, PSC0.address, timed=True)
    assert PSC0["start"].raw(view.registers[PSC0.address]) == (not end_frame)
    assert machine.memory.read(start, 1 << 20) == b"\x44" * (1 << 20)
    assert view.interrupts == {"PSC0": 4}


def test_the_newer_model() -> None:
    number = EXTERNAL["HARDWARE_ID"]
    for new_model in (False, True):
        view, machine = submitted(CaptureBuilder().end_frame(), number.address, new_model=new_model)
        assert number["new_model"].raw(view.registers[number.address]) == new_model
        assert machine.memory.guest_end == submitted(CaptureBuilder())[1].memory.guest_end


def test_a_byte_of_a_register() -> None:
    stride = EXTERNAL["PDC0_STRIDE"]
    built = CaptureBuilder().write("PDC0_STRIDE", stride=0x2D0).write_byte(stride.address + 1, 5).end_frame()
    view, _ = submitted(built, stride.address)
    assert view.registers == {stride.address: 0x5D0}


# -- both consoles -----------------------------------------------------------------------------------------------------
def samples() -> list[Callable[[], Any]]:
    return [
        lambda name=name: capture.open(str(files("pocketgpu") / "data" / name))
        for name in ("sample.ctf.xz", "sample_switch.mxcap.zip")
    ]


@pytest.mark.parametrize("sample", samples(), ids=["3DS", "Switch"])
def test_samples_show_the_same_when_a_program_submits_them(sample: Callable[[], Any]) -> None:
    opened = sample()
    view = opened.driver().play_as_program()
    *_, last = opened.render()
    assert pixels(view.pictures) == pixels(last.screens)
    assert view.interrupts and view.registers == {}


def test_what_a_switch_has_not() -> None:
    opened = samples()[1]()
    with pytest.raises(UsageError, match="cannot read registers"):
        opened.driver().play_as_program([0x100])
    for option in ("timed", "new_model"):
        with pytest.raises(UsageError, match="one model"):
            opened.provider.make_machine(opened.trace, **{option: True})
