"""The control-flow graph of programs of the 3DS."""

from __future__ import annotations

import random

import pytest

from pocketgpu.control_flow import Block
from pocketgpu.errors import CaptureError
from pocketgpu.facts.shader_isa import OPCODES
from pocketgpu.pica.shader.assembler import assemble
from pocketgpu.pica.shader.flow import flow_of
from pocketgpu.pica.shader.program import ProgramGraph, TooComplex

PROGRAM = """
    mov r0, v0
    cmp c1, gt, gt, v0
    ifc cmp.x && !cmp.y
        mov r1, v1
        call sub
    else
        mov r1, v0
    endif
    loop i0
        add r1, r1, r0
        breakc cmp.y
    endloop
    callu b0, sub
    end
.proc sub
    add r1, r1, c2
.endproc
"""


def edges(blocks: list[Block]) -> set[tuple[int, int, str, str]]:
    """(last address of a block, first address of the one it leads to, kind, condition)."""
    return {(block.last, blocks[edge.to].first, edge.kind, edge.when) for block in blocks for edge in block.edges}


def flow(text: str) -> list[Block]:
    program = assemble(text)
    return flow_of(tuple(program.code), tuple(program.descriptors), 0)


def test_every_kind_of_way() -> None:
    # 0 mov 1 cmp 2 ifc | 3 mov 4 call | 5 nop | 6 mov 7 nop | 8 loop | 9 add a breakc | b nop | c callu | d end | e add
    blocks = flow(PROGRAM)
    assert [(block.first, block.last) for block in blocks] == [
        (0, 2), (3, 4), (5, 5), (6, 7), (8, 8), (9, 10), (11, 11), (12, 12), (13, 13), (14, 14),
    ]  # fmt: skip
    assert edges(blocks) == {
        (2, 3, "next", "cmp.x && !cmp.y"), (2, 6, "jump", "else"),
        (4, 14, "call", ""), (5, 8, "stack", ""), (7, 8, "next", ""),
        (8, 9, "next", ""), (10, 12, "jump", "cmp.y"), (10, 11, "next", "else"),
        (11, 9, "loop", "again"), (11, 12, "next", ""),
        (12, 14, "call", "b0"), (12, 13, "next", "else"),
        (14, 5, "stack", ""), (14, 13, "stack", ""),
    }  # fmt: skip
    assert not any(block.hangs for block in blocks)


def test_a_jump_and_its_inverted_boolean() -> None:
    blocks = flow("jmpu !b3, there\nmov r0, v0\nthere:\nend")
    assert edges(blocks) == {(0, 2, "jump", "!b3"), (0, 1, "next", "else"), (1, 2, "next", "")}


def test_a_break_without_a_loop_is_where_the_unit_hangs() -> None:
    blocks = flow("mov r0, v0\nbreak\nend")
    assert [block.hangs for block in blocks] == [True] and blocks[0].edges == ()


def test_code_that_is_reached_in_two_ways_is_drawn_once() -> None:
    """The routine falls into what follows it when nobody has called it."""
    blocks = flow("call one, two\none:\nmov r0, v0\ntwo:\nmov r1, v0\nend")
    assert [(block.first, block.last) for block in blocks] == [(0, 0), (1, 1), (2, 3)]
    assert edges(blocks) == {(0, 1, "call", ""), (1, 1, "stack", ""), (1, 2, "next", "")}


def test_every_reachable_instruction_is_in_one_block() -> None:
    rng, followed = random.Random(4), 0
    flows = [number for number, op in OPCODES.items() if op.flow]
    for _ in range(300):
        size = rng.randrange(1, 48)
        code = tuple(
            rng.choice(flows) << 26 | rng.randrange(16) << 22 | rng.randrange(size) << 10 | rng.randrange(8)
            if rng.random() < 0.3
            else rng.choice(list(OPCODES)) << 26 | rng.getrandbits(26)
            for _ in range(size)
        )
        entry = rng.randrange(size)
        try:
            graph = ProgramGraph(code, (0,) * 128, entry)
        except TooComplex:
            continue
        followed += 1
        blocks = flow_of(code, (0,) * 128, entry)
        inside = [address for block in blocks for address in range(block.first, block.last + 1)]
        assert len(inside) == len(set(inside)) and set(graph.addresses) <= set(inside)
        assert all(0 <= edge.to < len(blocks) for block in blocks for edge in block.edges)
        # Every run ends where a block does, and blocks follow each other where runs pass through them.
        lasts = {block.last for block in blocks}
        for node in (node for node in graph.nodes if node.count):
            first, last = node.place.pc, node.place.pc + node.count - 1
            assert last in lasts
            through = [block for block in blocks if first <= block.first <= last]
            for block in through[:-1]:
                assert any(blocks[edge.to].first == block.last + 1 for edge in block.edges)
    assert followed > 200


def test_too_many_paths_are_an_error_with_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pocketgpu.pica.shader.flow.MOST_NODES", 1)
    with pytest.raises(CaptureError, match="cannot be followed") as caught:
        flow(PROGRAM)
    assert caught.value.location == "instruction 0x0"
