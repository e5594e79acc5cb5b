"""Listings of traces, and the way that a trace took through its program: counts, searches, edges."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from support.stage_case import PixelCase

from pocketgpu.builder import assemble
from pocketgpu.control_flow import Block, Edge
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.inspect.stepping import Trace, listing_of, trace_vertex
from pocketgpu.inspect.stepping.listing import ProgramListing, SourceLine
from pocketgpu.inspect.stepping.unit_listing import UnitListing
from pocketgpu.inspect.stepping.visits import MOST_BLOCKS, Visits, near
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.pica.shader import Program

LOOP = """
    mov r0, v0
    loop i0
    add r0.x, r0.x, c0.x
    nop
    endloop
    mov o0, r0
    end
"""


class Made(ProgramListing):
    """A listing with given blocks."""

    def __init__(self, size: int, blocks: list[Block]) -> None:
        self.size, self._blocks = size, blocks

    def __len__(self) -> int:
        return self.size

    def address_of(self, number: int) -> int:
        return 8 * number

    def text(self, number: int) -> str:
        return f"instruction {number}"

    def blocks(self) -> list[Block]:
        return self._blocks


BLOCKS = [
    Block(0, 1, (Edge(1, "jump", "cmp.x"), Edge(2, "next"))), Block(2, 2, (Edge(1, "loop"), Edge(2, "next"))),
    Block(3, 4, (), True),
]  # fmt: skip


def made(*numbers: int) -> Visits:
    return Visits(Made(5, BLOCKS), np.array(numbers, np.int64))


def test_counts_and_edges() -> None:
    visits = made(0, 1, 2, 2, 2, 3, 4)
    assert visits.counts.tolist() == [1, 1, 3, 1, 1]
    blocks, total = visits.blocks()
    assert total == 3 and [one.count for one in blocks] == [1, 3, 1]
    assert [[edge.taken for edge in one.edges] for one in blocks] == [[1, 0], [2, 1], []]
    assert blocks[0].to_json() == {
        "first": 0, "last": 1, "hits": 1, "hangs": False,
        "edges": [{"to": 1, "kind": "jump", "when": "cmp.x", "taken": 1},
                  {"to": 2, "kind": "next", "when": "", "taken": 0}],
    }  # fmt: skip
    assert blocks[2].hangs


def test_a_trace_that_was_cut_or_is_empty() -> None:
    assert [one.count for one in made().blocks()[0]] == [0, 0, 0]
    assert [edge.taken for one in made(0).blocks()[0] for edge in one.edges] == [0, 0, 0, 0]


def test_no_more_blocks_than_people_can_read() -> None:
    count = MOST_BLOCKS + 5
    many = [Block(n, n, (Edge((n + 1) % count, "next"), Edge(count - 1, "jump"))) for n in range(count)]
    blocks, total = Visits(Made(count, many), np.array([0, 1])).blocks()
    assert (len(blocks), total) == (MOST_BLOCKS, count)
    assert max(edge.edge.to for one in blocks for edge in one.edges) < MOST_BLOCKS
    assert blocks[0].edges[0].taken == 1


@pytest.mark.parametrize(
    ("step", "forward", "found"),
    [(0, True, 2), (2, True, 6), (6, True, None), (6, False, 2), (2, False, None), (9, False, 6)],
)
def test_the_next_and_the_last_visit(step: int, forward: bool, found: int | None) -> None:
    visits = made(0, 1, 2, 3, 0, 1, 2, 3, 4)
    assert visits.find([2], step, forward) == found
    assert near(np.array([2, 6]), step, forward) == found
    assert visits.find([], step, forward) is None
    assert visits.find([2, 3], 2, True) == 3


def test_a_program_of_the_unit() -> None:
    program = assemble(LOOP)
    trace = trace_vertex(
        Program(program.code, program.descriptors, program.entry), np.zeros((16, 4), np.float32), {0: (1, 0, 0, 0)},
        int_uniforms=[(2, 0, 1, 0)] * 4,
    )  # fmt: skip
    listing = trace.visits.listing
    assert listing.source(0) is None
    for step in trace:
        assert listing.text(step.number) == step.text and listing.address_of(step.number) == step.address
    assert dict(enumerate(trace.visits.counts.tolist())) == {n: trace.hits[n] for n in range(len(listing))}
    blocks, _ = trace.visits.blocks()
    loops = [edge for one in blocks for edge in one.edges if edge.edge.kind == "loop"]
    assert [edge.taken for edge in loops] == [2]  # three rounds
    # What comes in and what goes out are the same, but for the first block and the last.
    for number, block in enumerate(blocks):
        came = sum(edge.taken for one in blocks for edge in one.edges if edge.edge.to == number)
        assert came + (number == 0) == block.count
    assert trace.touched >= {"v0.x", "r0.x", "o0.w"} and "r9.x" not in trace.touched
    assert trace.origin("r0.x", len(trace)) == max(step.index for step in trace.where("r0.x"))
    assert trace.origin("v0.x", len(trace)) is None and trace.origin("r0.x", 1) == 0


def test_code_after_the_program_is_not_listed() -> None:
    program = assemble("mov o0, v0\nend")
    words = [*program.code, *[0] * 100]
    trace = trace_vertex(Program(words, program.descriptors, 0), np.zeros((16, 4), np.float32))
    assert len(trace.visits.listing) == 2


def test_a_program_of_a_stage_with_its_lines() -> None:
    case = PixelCase(
        """
        IPA.PASS R0, a[0x84], RZ
        FSETP.GT.AND P0, PT, R0, 0, PT
        @P0 BRA `(.L)
        MOV R1, 0x1
        .L:
        EXIT
        """,
        {0x7C: (0.5, 0.0, 0.0, 0), 0x84: (-3.0, 1.0, 2.0, 77)}, tier="interpreter",
        constants={0: struct.pack("<f", 1)},
    )  # fmt: skip
    code = case.program.code
    listing = listing_of(code)
    assert listing.text(1).startswith("FSETP.GT.AND P0") and listing.address_of(1) == code.origin_of(1)
    blocks = listing.blocks()
    assert [(one.first, one.last) for one in blocks][:3] == [(0, 2), (3, 3), (4, 4)]
    lined = Code(code.name, code.data, code.registers, lines=tuple(range(10, 10 + len(listing))), file="a.sass")
    assert listing_of(lined).source(1) == SourceLine("a.sass", 11)
    assert SourceLine("a.sass", 11, "x").to_json() == {"file": "a.sass", "line": 11, "text": "x"}


def test_a_trace_without_a_program_says_so() -> None:
    with pytest.raises(UsageError, match="not known"):
        _ = Trace("3ds", "made by hand", "one vertex", {}).visits


def test_a_program_with_too_many_paths_is_still_listed() -> None:
    class Tangled(UnitListing):
        """Of a program whose control flow can't be followed."""

        @property
        def _blocks(self) -> list[Block]:  # type: ignore[override]
            raise CaptureError("control flow cannot be followed")

    program = assemble("mov o0, v0\nend")
    listing = Tangled(Program([*program.code[:2], 0, 0], program.descriptors, 0))
    assert len(listing) == 2 and listing.text(1) == "end"
    with pytest.raises(CaptureError):
        listing.blocks()
