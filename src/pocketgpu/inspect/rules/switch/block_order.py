"""Blocks of a grid that store to the same place."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.rule import Found, Rule
from pocketgpu.inspect.rules.switch.record import SwitchRecord


def look(record: SwitchRecord) -> Iterator[Found]:
    for grid in record.ordered:
        where = f", such as at {grid.first:#x}" if grid.first is not None else ""
        yield Found(
            f"a grid of {grid.blocks} blocks (program {grid.program:#x}) leaves {grid.changed} bytes that depend on "
            f"which block runs first{where}", grid.at,
        )  # fmt: skip


RULE = Rule(
    "switch.block-order",
    "stores of compute blocks overlap, or one block reads what another writes",
    "Switch",
    "error",
    "documented",
    "CUDA C++ Programming Guide, Thread Hierarchy (blocks are independent)",
    "Blocks run in any order and at once. The grid was run twice here, last block first and first block first, and "
    "left other bytes. Blocks that store the same value to one place are not found.",
    "Give each block memory of its own, or use atomics.",
    look,
)
