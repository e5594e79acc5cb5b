"""Executes a program of the 3DS with Unicorn: an ARM11 MPCore in user mode.

Instructions are counted by the size of blocks in words, which counts two of Thumb as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pocketgpu.guests.backtrace.arm import registers_of
from pocketgpu.guests.kernel.processor import Fault, Stop, Wrong
from pocketgpu.guests.kernel.report import Registers
from pocketgpu.guests.processors.engine import Engine
from pocketgpu.guests.processors.library import constants, load
from pocketgpu.guests.processors.unicorn import ARGUMENTS, UnicornProcessor

_INVALID: Final = "INSN_INVALID"
"""In Unicorn's name of what it answers to an undefined instruction."""
_EXCEPTIONS: Final = {1: Wrong.UNDEFINED, 3: "prefetch abort", 4: Wrong.MISALIGNED, 7: Wrong.BREAKPOINT}
"""By Unicorn's numbers. All memory is mapped without an MMU, so that a data abort is a matter of alignment."""
_YIELDS: Final = (0x0320F001, 0x0320F002)
"""yield and wfe, of any condition: Unicorn stops after them as if they were wrong."""
_ANY_CONDITION: Final = 0x0FFFFFFF
_YIELD_TICKS: Final = 256
"""What they take, as each of them costs the host much more time than any other instruction."""
_USER_MODE: Final = 0x10
_THUMB: Final = 0x20
_FPEXC_ENABLE: Final = 1 << 30
_NOWHERE: Final = 0xFFFFFFFE
"""Where the processor would stop by itself; nothing is there."""
_COPROCESSORS: Final = 0xF << 20
"""Access to coprocessors 10 and 11, the floating point unit."""
_GENERAL: Final = 16


class UnicornArm(UnicornProcessor):
    """The processor."""

    bits = 32

    def __init__(self) -> None:
        const = constants("unicorn_const")
        self._arm = arm = constants("arm_const")
        engine = Engine(load(), const.UC_ARCH_ARM, const.UC_MODE_ARM)
        engine.set_model(arm.UC_CPU_ARM_11MPCORE)
        general = [getattr(arm, f"UC_ARM_REG_R{n}") for n in range(_GENERAL)]
        super().__init__(engine, general, arm.UC_ARM_REG_PC, arm.UC_ARM_REG_CPSR, _NOWHERE)
        engine.write(arm.UC_ARM_REG_C1_C0_2, _COPROCESSORS)
        engine.write(arm.UC_ARM_REG_FPEXC, _FPEXC_ENABLE)
        engine.write(arm.UC_ARM_REG_CPSR, _USER_MODE)
        self._clean = engine.save()

    def _set_first(self, entry: int, argument: int, stack: int, tls: int) -> None:
        arm = self._arm
        for register, value in (
            (arm.UC_ARM_REG_R0, argument), (arm.UC_ARM_REG_SP, stack), (arm.UC_ARM_REG_LR, 0),
            (arm.UC_ARM_REG_C13_C0_3, tls), (arm.UC_ARM_REG_PC, entry),
        ):  # fmt: skip
            self._engine.write(register, value)

    def _described(self, values: Sequence[int], flags: int) -> Registers:
        return registers_of(values, flags)

    def _begin(self, pc: int, flags: int) -> int:
        return pc | bool(flags & _THUMB)

    def _call_number(self, pc: int, flags: int) -> int:
        return self._word(pc - 2 if flags & _THUMB else pc - 4) & 0xFF

    def _failed(self, begin: int, problem: str) -> Stop:
        state, pc = self._state, self._values[ARGUMENTS]
        if self._fault is None and self._yielded(begin, pc):
            return Stop(state.used + _YIELD_TICKS)
        return Stop(state.used, fault=self._fault or self._exception(pc, state.interrupt, problem))

    def _exception(self, pc: int, interrupt: int, problem: str) -> Fault:
        """The fault of an instruction. Unicorn does not tell the address of a misaligned access; it is in a register
        of the instruction."""
        what = _EXCEPTIONS.get(interrupt) or (Wrong.UNDEFINED if _INVALID in problem else problem)
        if what != Wrong.MISALIGNED or self._values[ARGUMENTS + 1] & _THUMB:
            return Fault(what, pc, pc)
        return Fault(what, self._engine.read(self._numbers[self._word(pc) >> 16 & 0xF]), pc)

    def _yielded(self, begin: int, pc: int) -> bool:
        """Whether the instruction before `pc` was a yield, at which Unicorn stops, and the one there is not wrong. A
        thread that did not get beyond its first instruction has a wrong one."""
        return (pc != begin or self._state.used > 1) and self._word(pc - 4) & _ANY_CONDITION in _YIELDS
