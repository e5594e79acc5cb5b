"""What the operations of the instruction set do, and how long they take.

    OPERATIONS["FFMA"].meaning      # "a * b + c of float32, rounded once"
    OPERATIONS["FFMA"].group        # its class of durations, None if nothing is known

Nothing here changes a result: machine and assembler do not read these tables. Sources: NVIDIA's list of the
instructions of Maxwell has a few words for each; durations are those of the class tables of a public assembler.
"""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.maxwell.sass.table import rows
from pocketgpu.late_dataclass import dataclass

SOURCE_OF_MEANINGS: Final = "NVIDIA, CUDA Binary Utilities, instruction set of Maxwell"
SOURCE_OF_CYCLES: Final = "maxas, MaxAsGrammar.pm: some measured by its author, some estimated"


@dataclass(frozen=True, slots=True)
class OperationClass:
    """Operations that take the same time, in cycles of the shader processor.

    cycles: from issue to the use of a result that has a fixed time. barrier: typical time until the write barrier is
    signalled, 0 for operations with a fixed time. each: cycles for which the units are busy with one of them.
    """

    name: str
    cycles: int
    barrier: int
    each: int
    meaning: str


@dataclass(frozen=True, slots=True)
class Operation:
    """What a mnemonic does."""

    name: str
    meaning: str
    group: OperationClass | None


CLASSES: Final = {
    name: OperationClass(name, int(cycles), int(barrier), int(each), meaning)
    for name, cycles, barrier, each, meaning in rows("classes.tsv")
}
OPERATIONS: Final = {row[0]: Operation(row[0], row[1], CLASSES.get(row[2])) for row in rows("operations.tsv")}
