"""What would hang a console is an event of kind "hang" that says why, and the machine goes on.

Sources: 3dbrew GPU/External Registers and GPU/Internal Registers (lists without their last command, texture copies of
bad sizes, formats that are not converted), GPU/Shader Instruction Set (BREAK), GBATEK (addresses that stop the bus).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.pica_gpu import COLOR, DATA, LIST, entry

pytestmark = pytest.mark.parametrize("tier", ["specialised", "general"], indirect=True)
BREAK, LOOP, JMPU, NOP, END = 0x20, 0x29, 0x2D, 0x21, 0x22
Hang = Callable[[Any], None]


def without_finalize(gpu: Any) -> None:
    gpu.run(finalize=False)


def finalize_behind_the_last_whole_16_bytes(gpu: Any) -> None:
    gpu.memory.write(
        LIST, b"".join(word.to_bytes(4, "little") for word in entry(0x111, 1) * 2 + entry(0x10, 0x12345678))
    )
    gpu.start(LIST, 24)


def list_that_jumps_to_itself(gpu: Any) -> None:
    gpu.write("CMDBUF_SIZE0", 32 >> 3)
    gpu.write("CMDBUF_ADDR0", LIST >> 3)
    gpu.write("CMDBUF_JUMP0", 1)
    gpu.run()


def drawn(gpu: Any, code: list[int]) -> None:
    gpu.program([*code, *(gpu.op(0x13, f"o{i}", f"v{i}") for i in range(4))])
    gpu.quad()
    gpu.run()


def break_outside_of_a_loop(gpu: Any) -> None:
    drawn(gpu, [gpu.flow(BREAK)])


def break_behind_a_loop(gpu: Any) -> None:
    """In a program that counts its steps."""
    drawn(gpu, [gpu.flow(LOOP, to=1), gpu.flow(NOP), gpu.flow(BREAK)])


def program_that_jumps_to_itself(gpu: Any) -> None:
    gpu.set(VSH_BOOLUNIFORM=0x7FFF0001)
    drawn(gpu, [gpu.flow(JMPU, to=0)])


def transfer(gpu: Any, flags: int, width: int = 64, height: int = 64) -> None:
    gpu.poke("PPF_INPUT_ADDRESS", DATA >> 3)
    gpu.poke("PPF_OUTPUT_ADDRESS", COLOR >> 3)
    for name in ("PPF_OUTPUT_SIZE", "PPF_INPUT_SIZE"):
        gpu.poke(name, height << 16 | width)
    gpu.poke("PPF_FLAGS", flags)
    gpu.poke("PPF_CONTROL", 1)


def copy_of_nothing(gpu: Any) -> None:
    gpu.poke("PPF_COPY_SIZE", 8)
    transfer(gpu, 8)


def copy_with_a_gap_but_no_width(gpu: Any) -> None:
    gpu.poke("PPF_COPY_SIZE", 256)
    gpu.poke("PPF_COPY_INPUT", 1 << 16)
    transfer(gpu, 8)


def read_where_the_bus_hangs(gpu: Any) -> None:
    gpu.peek(0x10400600)


def write_where_the_bus_hangs(gpu: Any) -> None:
    gpu.poke(0x104007FC, 1)


def read_of_a_register_that_stops_the_bus(gpu: Any) -> None:
    gpu.peek(0x104011B0)


@pytest.mark.parametrize(
    ("hang", "id", "reason"),
    [
        (without_finalize, "list.no-finalize", "without FINALIZE"),
        (finalize_behind_the_last_whole_16_bytes, "list.no-finalize", "without FINALIZE"),
        (list_that_jumps_to_itself, "list.endless", "jumps in circles"),
        (break_outside_of_a_loop, "shader.break", "a vertex program comes to a BREAK outside of any loop"),
        (break_behind_a_loop, "shader.break", "a vertex program comes to a BREAK outside of any loop"),
        (program_that_jumps_to_itself, "shader.endless", "a vertex program does not come to an end"),
        (copy_of_nothing, "transfer.hang", "texture copy of no bytes"),
        (copy_with_a_gap_but_no_width, "transfer.hang", "a gap but no line width"),
        (read_where_the_bus_hangs, "external.hang", "0x10400600"),
        (read_of_a_register_that_stops_the_bus, "external.hang", "register 0x06c of the 3D core"),
        (write_where_the_bus_hangs, "external.hang", "0x104007fc"),
    ],
)
def test_what_hangs_a_console_is_told_and_survived(gpu: Any, hang: Hang, id: str, reason: str) -> None:
    assert gpu.run() and not gpu.ids  # the state that all of them start with
    hang(gpu)
    (event,) = [event for event in gpu.n3ds.events.drain() if event.kind == "hang"]
    assert event.id == id and reason in event.message and event.at.startswith("f0")
    # Nothing of it stays: the next list draws.
    gpu.program([gpu.op(0x13, f"o{i}", f"v{i}") for i in range(4)])
    gpu.quad()
    assert gpu.run()
    assert not [event for event in gpu.n3ds.events.drain() if event.kind == "hang"]
    assert gpu.pixels().any()


@pytest.mark.parametrize(
    ("switch", "other", "flags", "reason"),
    [
        ("transfer__odd_formats", "convert", 1 << 8, "from RGB8 to RGBA8 never ends"),
        ("transfer__both_tiling_flags", "linear", 1 << 5 | 1 << 1, "both tiling flags"),
        ("transfer__small", "convert", 3 << 8 | 4 << 12, "64x56 16-bit pixels"),
    ],
)
def test_transfers_that_hang_by_some_sources(make_gpu: Any, switch: str, other: str, flags: int, reason: str) -> None:
    gpu = make_gpu(**{switch: other})
    transfer(gpu, flags, 64, 56)
    assert not gpu.ids
    gpu = make_gpu(**{switch: "hang"})
    transfer(gpu, flags, 64, 56)
    (event,) = gpu.n3ds.events.drain()
    assert (event.kind, event.id) == ("hang", "transfer.hang") and reason in event.message
    assert gpu.n3ds.take_interrupts() == {}
