"""Arithmetic after a barrier that can be done before it, so that fewer registers have to be kept there.

Compilers load from shared memory before a barrier and compute with it after it. A barrier of compiled code stores what
is needed after it. What was computed is often less than what it was computed from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pocketgpu.maxwell.sass.program.control import ENDS, PUSHES
from pocketgpu.maxwell.sass.program.registers import reads, surely_writes, writes
from pocketgpu.maxwell.sass.semantics import OPERATIONS

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.program.flow import CodeBlock, Flow


def early(flow: Flow) -> dict[int, tuple[int, ...]]:
    """For a block's first instruction, where it pays: instructions of the block that are done before its barrier.

    Only a barrier leads to such a block.
    """
    found = {}
    for block in flow.blocks:
        if block.last + 1 not in flow.behind_barriers:
            continue
        after = flow.blocks[flow.block_at[block.last + 1]]
        moved = _movable(flow, block, after)
        if moved and _saves(flow, after, moved):
            found[after.first] = moved
    return found


def behind_barriers(flow: Flow) -> frozenset[int]:
    """First instructions of blocks that only a barrier without a guard leads to."""
    steps = flow.steps
    if any(steps[i].indirect is not None for i in flow.reached):
        return frozenset()  # another executor may go on there
    entered = {flow.start, *(b.last + 1 for b in flow.blocks if steps[b.last].op not in ENDS)}
    for index in flow.reached:
        step = steps[index]
        if (step.op in PUSHES or step.op in ENDS) and step.target is not None:
            entered.add(step.target)
        if step.op == "CAL" or (step.op in ENDS and (step.op != "BAR" or step.guarded)):
            entered.update((*flow.after(index), index + 1))
    barriers = {b.last + 1 for b in flow.blocks if steps[b.last].op == "BAR"}
    return frozenset((barriers & flow.block_at.keys()) - entered)


def _movable(flow: Flow, block: CodeBlock, after: CodeBlock) -> tuple[int, ...]:
    """Instructions of a block that depend on nothing that stays there."""
    barrier = flow.steps[block.last]
    read, written = reads(barrier), writes(barrier)
    moved = []
    for index in after.body:
        step = flow.steps[index]
        own = writes(step)
        if step.op in OPERATIONS and not reads(step) & written and not own & (read | written):
            moved.append(index)
        else:
            read, written = read | reads(step), written | own
    return tuple(moved)


def _saves(flow: Flow, block: CodeBlock, moved: tuple[int, ...]) -> bool:
    """Whether fewer registers matter before a block without some of its instructions."""
    needed = flow.live_after(block.number)
    for index in reversed([i for i in block.body if i not in moved]):
        step = flow.steps[index]
        needed = needed & ~surely_writes(step) | reads(step)
    return needed.bit_count() < flow.live_in[block.number].bit_count()


__all__ = ["behind_barriers", "early"]
