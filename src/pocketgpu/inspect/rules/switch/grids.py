"""Rules about compute grids."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.switch.record import SwitchRecord
from pocketgpu.wording import agreed, counted

RULES = RuleSet("Switch")


@RULES.rule(
    "switch.block-order",
    "stores of compute blocks overlap, or one block reads what another writes",
    severity="error",
    confidence="documented",
    source="CUDA C++ Programming Guide, Thread Hierarchy (blocks are independent)",
    explanation=(
        "Blocks run in any order and at once. The grid was run twice here, last block first and first block first, and "
        "the results differ. Blocks that store the same value to one place are not found."
    ),
    hint="Give each block memory of its own, or use atomics.",
)
def block_order(record: SwitchRecord) -> Iterator[Found]:
    for grid in record.ordered:
        where = f", such as at {grid.first:#x}" if grid.first is not None else ""
        left = f"{counted(grid.changed, 'byte')} that {agreed('{depends|depend}', grid.changed)}"
        yield Found(
            f"a grid of {counted(grid.blocks, 'block')} (program {grid.program:#x}) leaves {left} on which block runs "
            f"first{where}", grid.at,
        )  # fmt: skip
