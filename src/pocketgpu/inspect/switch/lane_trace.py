"""The trace of one lane of a warp: every instruction, the registers that it read, and those that it changed."""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.lanes import Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.isa.decoder import decode_program
from pocketgpu.maxwell.sass.isa.disassembler import instruction_text
from pocketgpu.maxwell.sass.isa.operand import PT, RZ
from pocketgpu.maxwell.sass.program.control import ENDS
from pocketgpu.maxwell.sass.program.registers import FLAGS_BIT, PREDICATE_BIT, reads, writes
from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.thread_memory.work import BANK_SIZE, BANKS
from pocketgpu.maxwell.sass.warp.variable_machine import VariableMachine

_MEMORY = {"LD", "ST", "LDS", "STS", "LDL", "STL", "ATOM", "ATOMS", "RED"}
MOST = 4096
"""Most instructions that a trace keeps; the rest is counted."""


def as_float(word: int) -> float:
    """A word taken as an f32."""
    return float(np.array([word & 0xFFFFFFFF], np.uint32).view(np.float32)[0])


def number_text(word: int) -> str:
    """A word as text: hexadecimal, and also as an f32 if that has a usual size."""
    word &= 0xFFFFFFFF
    value = as_float(word)
    usual = value == 0 or 1e-12 < abs(value) < 1e12
    return f"{word:#x} ({value:.7g})" if word and usual else f"{word:#x}"


@dataclass(slots=True)
class Instruction:
    """One instruction that a warp ran.

    number: its index in the program; address: of the code; executed: whether the lane took part (it was active and the
    guard was true). reads: registers that it reads, before it. writes: registers, predicates ("P0") and flags ("CC")
    that it writes: (before, after). more: accesses of textures, inputs and memory: texels, weights, addresses.
    """

    number: int
    address: int
    text: str
    executed: bool
    active: bool
    reads: dict[str, int] = field(default_factory=dict)
    writes: dict[str, tuple[int, int]] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Words as hexadecimal strings."""
        found: dict[str, Any] = {
            "number": self.number, "address": f"{self.address:#x}", "text": self.text, "executed": self.executed,
            "reads": {name: f"{v:#010x}" for name, v in self.reads.items()},
            "writes": {name: [f"{a:#010x}", f"{b:#010x}"] for name, (a, b) in self.writes.items()},
        }  # fmt: skip
        return found | ({"more": self.more} if self.more else {})

    def __str__(self) -> str:
        if not self.executed:
            return f"{self.number:4} {self.address:#06x}  {self.text:44} {'off' if self.active else '-'}"
        changes = ", ".join(
            f"{name} = {number_text(b) if name[0] == 'R' else b}" for name, (_, b) in self.writes.items()
        )
        if "address" in self.more:
            changes += f"{' ' * bool(changes)}at {self.more['address']}"
        return f"{self.number:4} {self.address:#06x}  {self.text:44} {changes}".rstrip()


@lru_cache(maxsize=256)
def texts_of(data: bytes) -> tuple[str, ...]:
    """The instructions of a program as text, by number. data: its bytes, from the first control word on."""
    return tuple(instruction_text(one) for one in decode_program(data))


class LaneTracer:
    """Observes a warp and keeps what one lane does.

    :param arena: all memory. data: the bytes of the program. constants: arena offset of its constant banks.
    """

    def __init__(self, arena: NDArray[np.uint8], data: bytes, constants: int, lane: int) -> None:
        self._texts, self._lane = texts_of(data), lane
        self._constants = arena[constants : constants + BANKS * BANK_SIZE].view(np.uint32)
        self.instructions: list[Instruction] = []
        self.total = 0
        """How many instructions the warp ran, including those that are not kept."""
        self._warp: VariableMachine | None = None
        self._meant = False  # whether the current texture access is the lane's
        self._open: tuple[Instruction, list[tuple[str, int, int]]] | None = None

    # -- as `sass.warp.observer.Observer` ------------------------------------------------------------------------------
    def begins(self, warp: VariableMachine) -> None:
        """A turn of the warp begins."""
        self._warp = warp

    def comes_to(self, step: Step, active: Value) -> None:
        """The warp reaches an instruction."""
        again = self._open is not None and self._open[0].number == step.index
        if again and step.op not in ENDS:
            # The fast form of an access had to give up: the instruction starts again in its careful form.
            self._open = None
            self.total -= 1
        self.close()
        self._begin(step)
        if self._open is not None:
            self._open[0].active = self._open[0].executed = self._in_lane(active)

    def holds_for(self, mask: Value) -> None:
        """The instruction is executed for these lanes."""
        if self._open is not None:
            self._open[0].executed = self._in_lane(mask)

    def _in_lane(self, mask: Value) -> bool:
        array = np.asarray(mask.raw)
        return bool(array if array.ndim == 0 else array[self._lane])

    # -- as a listener -----------------------------------------------------------------------------------------------
    def note(self, name: str, value: Any) -> None:
        """A value that a kernel names: those of textures belong to the current instruction.

        Texels are words. Lanes are handled texture by texture.
        """
        if not name.startswith("texture."):
            return
        name = name.removeprefix("texture.")
        array = np.asarray(value)
        one = (array if array.ndim == 0 else array[self._lane]).item()
        if name == "lanes":
            self._meant = bool(one)
        elif self._meant and self._open is not None:
            if name.startswith("texel"):
                one = f"{int(one) & 0xFFFFFFFF:#010x}"
            self._open[0].more.setdefault("sample", {}).setdefault(name, []).append(one)

    # -- the current instruction --------------------------------------------------------------------------------------
    def _begin(self, step: Step) -> None:
        self.total += 1
        if self.total > MOST or self._warp is None:
            return
        look, lane = self._warp.look, self._lane
        found = Instruction(step.index, step.address, self._texts[step.index], False, False)
        read, written = sets_of(step)
        found.reads = {name: look(n, lane) for n, name in read}
        for source in step.sources:
            if source.kind == "const" and source.n < BANKS:
                at = (source.n * BANK_SIZE + (source.offset & BANK_SIZE - 4)) // 4
                found.reads[f"c[{source.n:#x}][{source.offset:#x}]"] = int(self._constants[at])
        if step.texture is not None:
            found.more["texture"] = step.texture.handle
        elif step.op == "IPA":
            found.more["input"] = f"a[{step.offset:#x}]"
        elif step.op in _MEMORY:
            low = look(step.base, lane) if step.base != RZ else 0
            high = look(step.base + 1, lane) if step.mods.get("e") and step.base != RZ else 0
            found.more["address"] = f"{(low | high << 32) + step.offset & (1 << 40) - 1:#x}"
        self._open = found, [(name, n, look(n, lane)) for n, name in written]

    def close(self) -> None:
        """The current instruction is over."""
        if self._open is None or self._warp is None:
            return
        found, written = self._open
        self._open = None
        if found.executed:
            found.writes = {name: (before, self._warp.look(n, self._lane)) for name, n, before in written}
        self.instructions.append(found)


@lru_cache(maxsize=1 << 14)
def _named(registers: int) -> tuple[tuple[int, str], ...]:
    """Numbers and names of a set of registers as `flow.reads` gives them, without predicates that are always true."""
    found = [(n, f"R{n}") for n in range(RZ) if registers >> n & 1]
    found += [(n, f"P{n - PREDICATE_BIT}") for n in range(PREDICATE_BIT, PREDICATE_BIT + PT) if registers >> n & 1]
    return (*found, *([(FLAGS_BIT, "CC")] if registers >> FLAGS_BIT & 1 else []))


def sets_of(step: Step) -> tuple[tuple[tuple[int, str], ...], tuple[tuple[int, str], ...]]:
    """The registers that an instruction reads, and those that it writes: numbers and names."""
    return _named(reads(step)), _named(writes(step))
