"""Line tables of cubins: what instructions come from, and tables that are damaged."""

from __future__ import annotations

import random
from pathlib import Path

from support.line_tables import cubin, line_program

from pocketgpu import RawModule
from pocketgpu.inspect.stepping import trace_thread
from pocketgpu.inspect.stepping.listing import SourceLine
from pocketgpu.maxwell.sass.files.elf import read_cubin
from pocketgpu.maxwell.sass.files.line_table import Place
from pocketgpu.maxwell.sass.isa.bundles import offset_of

CODE = "MOV32I R0, 0x1\nIADD R1, R0, 0x2\nIADD R2, R1, R0\nNOP\nEXIT"
FILES = ("/home/me/kernel.cu", "include/helper.cuh")
ROWS = ((0, 1, 7), (1, 2, 300), (2, 1, 8), (4, 1, 3))


def places_of(data: bytes) -> tuple[Place | None, ...]:
    """Of the first five instructions."""
    found = read_cubin(data)
    return found.line_table.places(found.kernels["k"].section.index, [offset_of(index) for index in range(5)])


def test_each_instruction_has_its_line() -> None:
    assert places_of(cubin(CODE, FILES, ROWS)) == (
        (FILES[0], 7), (FILES[1], 300), (FILES[0], 8), (FILES[0], 8), (FILES[0], 3),
    )  # fmt: skip


def test_a_trace_tells_lines_and_files(tmp_path: Path) -> None:
    place = tmp_path / "k.cubin"
    place.write_bytes(cubin(CODE, FILES, ROWS))
    trace = trace_thread(RawModule(place, evaluator="numpy").get_function("k"), (1,), (32,), ())
    assert trace.listing.source(1) == SourceLine(FILES[1], 300)
    assert [step.line for step in trace] == [7, 300, 8, 8, 3]


def test_what_lies_after_the_code_has_no_line() -> None:
    assert places_of(cubin(CODE, FILES, ((2, 1, 8),))) == (None, None, *[(FILES[0], 8)] * 3)


def test_a_cubin_without_a_table() -> None:
    assert places_of(cubin(CODE, FILES, ROWS, b"")) == ()


def test_damaged_tables_are_left_out_or_give_some_lines() -> None:
    whole, _ = line_program(FILES, ROWS, 64)
    r = random.Random(3)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(r.randint(1, 4)):
            data[r.randrange(len(data))] = r.randrange(256)
        table = bytes(data[: r.randrange(len(data))]) if r.random() < 0.3 else bytes(data)
        assert all(one is None or isinstance(one[1], int) for one in places_of(cubin(CODE, FILES, ROWS, table)))


def test_a_table_of_another_version_is_left_out() -> None:
    whole, _ = line_program(FILES, ROWS, 64)
    for version in (0, 1, 5, 0xFFFF):
        table = whole[:4] + int(version).to_bytes(2, "little") + whole[6:]
        assert places_of(cubin(CODE, FILES, ROWS, table)) == ()


