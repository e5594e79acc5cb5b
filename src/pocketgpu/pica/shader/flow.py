"""The control flow graph of a shader program: the places of `program.py` without the stacks.

A routine that is called from two places appears once; its returns lead to both callers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from pocketgpu.control_flow import Block, Edge
from pocketgpu.errors import CaptureError
from pocketgpu.pica.shader.disassembler import condition_text
from pocketgpu.pica.shader.program import ENDED, HUNG, Exit, Node, ProgramGraph, TooComplex, opcode

MOST_NODES, MOST_INSTRUCTIONS = 1 << 14, 1 << 18


def flow_of(code: tuple[int, ...], descriptors: tuple[int, ...], entry: int) -> list[Block]:
    """Blocks reachable from `entry`, in code order; `first` and `last` are addresses in words.

    :raises CaptureError: calls and jumps of the program make too many paths to follow.
    """
    try:
        graph = ProgramGraph(code, descriptors, entry, nodes=MOST_NODES, instructions=MOST_INSTRUCTIONS)
    except TooComplex as error:
        raise CaptureError(f"control flow cannot be followed: {error}", location=f"instruction {entry:#x}") from None
    runs = [(node.place.pc, node.place.pc + node.count - 1, node) for node in graph.nodes if node.count]
    covered = {address for first, last, _ in runs for address in range(first, last + 1)}
    # A run may continue where the same code, reached with other stacks, ends: blocks end there too.
    leaders = sorted({first for first, _, _ in runs} | {last + 1 for _, last, _ in runs} & covered)
    number = {first: block for block, first in enumerate(leaders)}
    edges: list[dict[Edge, None]] = [{} for _ in leaders]
    hangs: set[int] = set()
    for first, last, node in runs:
        start, end = number[first], bisect_right(leaders, last) - 1
        for block in range(start, end):
            edges[block][Edge(block + 1, "next")] = None
        for to, kind, when in _ways(graph, node):
            if to == HUNG:
                hangs.add(end)
            else:
                edges[end][Edge(number[to], kind, when)] = None
    blocks = []
    for block, first in enumerate(leaders):
        last = first
        while last + 1 in covered and last + 1 not in number:
            last += 1
        blocks.append(Block(first, last, tuple(edges[block]), block in hangs))
    return blocks


def _ways(graph: ProgramGraph, node: Node) -> Iterator[tuple[int, str, str]]:
    """(address or HUNG, kind of edge, condition) of every exit of a node, through places that are only checked."""
    last = node.place.pc + node.count - 1
    word = graph.code[last]
    op = opcode(word)
    flow = op.flow and last not in node.addresses
    taken = "call" if flow and op.name.startswith("CALL") else "jump"
    for exit in node.exits:
        kind, when = taken if flow else "", ""
        if flow and exit.when is not None:
            when = condition_text(word)
        elif flow and len(node.exits) > 1:
            kind, when = "jump", "else"
        yield from _through(graph, exit, kind, last + 1, when, frozenset())


def _through(
    graph: ProgramGraph, exit: Exit, kind: str, following: int, when: str, passed: frozenset[int]
) -> Iterator[tuple[int, str, str]]:
    if exit.when is not None and exit.when[0] == "again":
        kind, when = "loop", "again"
    if exit.to == HUNG:
        yield HUNG, kind, when
    elif exit.to != ENDED and exit.to not in passed:
        node = graph.nodes[exit.to]
        if not node.place.seen:
            pc = node.place.pc
            if node.count:
                yield pc, "next" if pc == following and kind in ("", "jump") else kind or "stack", when
            return
        for further in node.exits:
            yield from _through(graph, further, kind, following, when, passed | {exit.to})
