"""The control flow of a program as a graph for people: straight blocks, and where each can go on.

SYNC, BRK and CONT go where the matching SSY, PBK or PCNT said. The matching ones are found by following the stack along
all paths through the code, for up to `MOST_STATES` different stacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pocketgpu.control_flow import Block, Edge
from pocketgpu.maxwell.sass.isa.instruction import Instruction, Program
from pocketgpu.maxwell.sass.isa.operand import Label
from pocketgpu.maxwell.sass.program.control import conditional

MOST_STATES = 100_000
_DEPTH = 32
_TAKEN_BY = {"SSY": "SYNC", "PBK": "BRK", "PCNT": "CONT"}
"""Instructions that push a target, and the one that takes it."""
_LEAVES = frozenset(_TAKEN_BY.values())
_JUMPS = frozenset({"BRA", "JMP"})
_STOPS = frozenset({"EXIT", "RET", "BRX", "JMX", "LONGJMP"})
Stack = tuple[tuple[str, int], ...]


def _target(program: Program, instruction: Instruction) -> int | None:
    found = instruction.get("target")
    return program.index_of(found.target) if isinstance(found, Label) else None


def stack_targets(
    program: Program, indirect: Mapping[int, Sequence[int]] | None = None, starts: Sequence[int] = (0,)
) -> dict[int, set[int]]:
    """For each instruction that leaves through the stack: the instructions it can go to."""
    found: dict[int, set[int]] = {}
    todo: list[tuple[int, Stack]] = [(start, ()) for start in starts]
    seen: set[tuple[int, Stack]] = set()
    while todo and len(seen) < MOST_STATES:
        state = todo.pop()
        if state in seen or not 0 <= state[0] < len(program):
            continue
        seen.add(state)
        index, stack = state
        instruction = program[index]
        op, target = instruction.op, _target(program, instruction)
        falls = True
        if op in _TAKEN_BY and target is not None:
            stack = (*stack[-_DEPTH + 1 :], (_TAKEN_BY[op], target))
        elif op in _LEAVES:
            kinds = [kind for kind, _ in stack]
            if op in kinds:
                place = len(kinds) - 1 - kinds[::-1].index(op)
                found.setdefault(index, set()).add(stack[place][1])
                todo.append((stack[place][1], stack[:place]))
            falls = conditional(instruction)
        elif op in _JUMPS:
            if target is not None:
                todo.append((target, stack))
            falls = conditional(instruction)
        elif op == "CAL" and target is not None:
            todo.append((target, ()))
        elif op in _STOPS:
            known = (indirect or {}).get(instruction.address, ())
            todo += [(to, stack) for address in known if (to := program.index_of(address)) is not None]
            falls = conditional(instruction)
        if falls:
            todo.append((index + 1, stack))
    return found


def blocks_of(
    program: Program, indirect: Mapping[int, Sequence[int]] | None = None, starts: Sequence[int] = (0,)
) -> list[Block]:
    """Blocks in the order of the code. indirect: addresses that a BRX at an address can go to. starts: entries."""
    jumps: dict[int, list[tuple[int, str]]] = {}
    stack = stack_targets(program, indirect, starts)
    leaders = {0, *starts}
    for index, instruction in enumerate(program):
        op, target = instruction.op, _target(program, instruction)
        ways: list[tuple[int, str]] = []
        if op in _JUMPS and target is not None:
            ways.append((target, "jump"))
        elif op == "CAL" and target is not None:
            leaders.add(target)
            jumps.setdefault(index, []).append((target, "call"))
        elif op in _LEAVES:
            ways += [(to, "stack") for to in sorted(stack.get(index, ()))]
        elif op in ("BRX", "JMX"):
            known = (indirect or {}).get(instruction.address, ())
            ways += [(to, "indirect") for address in known if (to := program.index_of(address)) is not None]
        elif op in _TAKEN_BY and target is not None:
            leaders.add(target)
        if op in _JUMPS | _LEAVES | _STOPS:
            leaders.add(index + 1)
            if conditional(instruction):
                ways.append((index + 1, "next"))
            jumps[index] = ways
            leaders.update(to for to, _ in ways)
    ordered = sorted(leader for leader in leaders if leader < len(program))
    number = {first: block for block, first in enumerate(ordered)}
    blocks = []
    for block, first in enumerate(ordered):
        last = ordered[block + 1] - 1 if block + 1 < len(ordered) else len(program) - 1
        ways = [way for index in range(first, last) for way in jumps.get(index, ()) if way[1] == "call"]
        ends = jumps.get(last)
        if ends is None or (ends and all(kind == "call" for _, kind in ends)):
            ways += [*(ends or ()), (last + 1, "next")]
        else:
            ways += ends
        edges = tuple(dict.fromkeys(Edge(number[to], kind) for to, kind in ways if to in number))
        blocks.append(Block(first, last, edges))
    return blocks
