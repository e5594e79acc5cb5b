"""Executes a program of the 3DS with Unicorn: an ARM11 MPCore in user mode.

A stop comes at the start of a block, so threads end a few instructions late. Instructions are counted by the size of
blocks in words, which counts two of Thumb as one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pocketgpu.guests.backtrace.arm import registers_of
from pocketgpu.guests.kernel.memory import Area, Permission
from pocketgpu.guests.kernel.processor import Fault, Stop
from pocketgpu.guests.kernel.report import Registers
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.processors.engine import Engine
from pocketgpu.guests.processors.hooks import HookState, block_hook, interrupt_hook
from pocketgpu.guests.processors.library import constants, load

_SVC: Final = 2
_UNDEFINED: Final = "undefined instruction"
_INVALID: Final = "INSN_INVALID"
"""In Unicorn's name of what it answers then."""
_MISALIGNED: Final = "misaligned access"
_EXCEPTIONS: Final = {1: _UNDEFINED, 3: "prefetch abort", 4: _MISALIGNED, 7: "breakpoint"}
"""By Unicorn's numbers. All memory is mapped without an MMU, so that a data abort is a matter of alignment."""
_YIELDS: Final = (0x0320F001, 0x0320F002)
"""yield and wfe, of any condition: Unicorn stops after them as if they were wrong."""
_ANY_CONDITION: Final = 0x0FFFFFFF
_YIELD_TICKS: Final = 256
"""What they take, as each of them costs the host much more time than any other instruction."""
_JUMP_NOWHERE: Final = "jump to no memory"
_USER_MODE: Final = 0x10
_THUMB: Final = 0x20
_FPEXC_ENABLE: Final = 1 << 30
_NOWHERE: Final = 0xFFFFFFFE
"""Where the processor would stop by itself; nothing is there."""
_COPROCESSORS: Final = 0xF << 20
"""Access to coprocessors 10 and 11, the floating point unit."""


_NO_INTERRUPT: Final = -1
_REGISTERS: Final = 8
"""r0 to r7, which calls use; the program counter and the flags follow them."""
_GENERAL: Final = 16


class UnicornArm:
    """The processor."""

    def __init__(self) -> None:
        arm, const = constants("arm_const"), constants("unicorn_const")
        self._arm, self._const = arm, const
        self._engine = Engine(load(), const.UC_ARCH_ARM, const.UC_MODE_ARM)
        self._engine.set_model(arm.UC_CPU_ARM_11MPCORE)
        self._numbers = [getattr(arm, f"UC_ARM_REG_R{n}") for n in range(_GENERAL)]
        self._batch = self._engine.batch([*self._numbers[:_REGISTERS], arm.UC_ARM_REG_PC, arm.UC_ARM_REG_CPSR])
        self._values = self._batch.values
        self._all = self._engine.batch([*self._numbers, arm.UC_ARM_REG_CPSR])
        self._mapped: dict[int, Area] = {}
        self._last: Thread | None = None
        self._code: Area | None = None
        self._fault: Fault | None = None
        self._clean = self._clean_context()
        self._state = HookState(0, 0, self._engine.stop_function, _NO_INTERRUPT)
        self._engine.add_native_hook(const.UC_HOOK_BLOCK, block_hook(), self._state)
        self._engine.add_native_hook(const.UC_HOOK_INTR, interrupt_hook(), self._state)
        self._engine.on_invalid(const.UC_HOOK_MEM_INVALID, self._invalid)

    def __repr__(self) -> str:
        return f"<UnicornArm: {len(self._mapped)} areas>"

    def _clean_context(self) -> Any:
        """Registers of a new thread: user mode, floating point on."""
        engine, arm = self._engine, self._arm
        engine.write(arm.UC_ARM_REG_C1_C0_2, _COPROCESSORS)
        engine.write(arm.UC_ARM_REG_FPEXC, _FPEXC_ENABLE)
        engine.write(arm.UC_ARM_REG_CPSR, _USER_MODE)
        return engine.save()

    # -- memory -----------------------------------------------------------------------------------------------------
    def mapped(self, area: Area) -> None:
        self._mapped[area.base] = area
        self._engine.map(area.base, area.view, self._rights(area))

    def _rights(self, area: Area) -> int:
        const, given = self._const, area.permission
        pairs = (
            (Permission.READ, const.UC_PROT_READ), (Permission.WRITE, const.UC_PROT_WRITE),
            (Permission.EXECUTE, const.UC_PROT_EXEC),
        )  # fmt: skip
        return sum(right for one, right in pairs if given & one)

    def unmapped(self, base: int, size: int) -> None:
        self._engine.unmap(base, size)
        del self._mapped[base]
        self._code = None

    # -- threads ----------------------------------------------------------------------------------------------------
    def start(self, thread: Thread, entry: int, argument: int, stack: int) -> None:
        self._switch(None)
        engine, arm = self._engine, self._arm
        engine.restore(self._clean)
        for register, value in (
            (arm.UC_ARM_REG_R0, argument), (arm.UC_ARM_REG_SP, stack), (arm.UC_ARM_REG_LR, 0),
            (arm.UC_ARM_REG_C13_C0_3, thread.tls), (arm.UC_ARM_REG_PC, entry),
        ):  # fmt: skip
            engine.write(register, value)
        thread.context = engine.save()
        self._last = None

    def _switch(self, thread: Thread | None) -> None:
        if self._last is not None and self._last is not thread:
            self._last.context = self._engine.save()
        if thread is not None and self._last is not thread:
            self._engine.restore(thread.context)
        self._last = thread

    def settle(self) -> None:
        self._switch(None)

    def replaced(self) -> None:
        self._last = self._code = None
        self._engine.forget_code()

    def registers(self, thread: Thread) -> Registers:
        """All registers of a thread. An answer that it has not got yet is in them."""
        last = self._last
        self._switch(thread)
        self._all.read()
        *values, flags = self._all.values
        self._switch(last)
        for number, value in thread.answer.items():
            values[number] = value & 0xFFFFFFFF
        return registers_of(values, flags)

    def watch(self, base: int, size: int, told: Callable[[int], None]) -> Callable[[], None]:
        hook = self._engine.on_write(self._const.UC_HOOK_MEM_WRITE, base, base + size, told)
        return lambda: self._engine.remove_hook(hook)

    def run(self, thread: Thread, budget: int) -> Stop:
        state, values = self._state, self._values
        if self._last is not thread:
            self._switch(thread)
            self._batch.read()
        if thread.answer:
            for number, value in thread.answer.items():
                values[number] = value
            self._batch.write(_REGISTERS)
            thread.answer = {}
        self._fault = None
        state.used, state.limit, state.interrupt = 0, budget, _NO_INTERRUPT
        begin, flags = values[_REGISTERS], values[_REGISTERS + 1]
        problem = self._engine.start(begin | bool(flags & _THUMB), _NOWHERE)
        self._batch.read()
        if state.interrupt == _SVC:
            thread.registers = list(values[:_REGISTERS])
            return Stop(state.used, self._call_number())
        pc = values[_REGISTERS]
        if problem or state.interrupt != _NO_INTERRUPT:
            if self._fault is None and self._yielded(begin, pc):
                return Stop(state.used + _YIELD_TICKS)
            return Stop(state.used, fault=self._fault or self._exception(pc, state.interrupt, problem))
        if pc == _NOWHERE:
            return Stop(state.used, fault=Fault(_JUMP_NOWHERE, pc, pc))
        # A processor that stops before its budget waits for an interrupt (wfi), which comes with what is due next.
        return Stop(max(state.used, budget))

    def _exception(self, pc: int, interrupt: int, problem: str) -> Fault:
        """The fault of an instruction. Unicorn does not tell the address of a misaligned access; it is in a register
        of the instruction."""
        what = _EXCEPTIONS.get(interrupt) or (_UNDEFINED if _INVALID in problem else problem)
        if what != _MISALIGNED or self._values[_REGISTERS + 1] & _THUMB:
            return Fault(what, pc, pc)
        return Fault(what, self._engine.read(self._numbers[self._word(pc) >> 16 & 0xF]), pc)

    def _yielded(self, begin: int, pc: int) -> bool:
        """Whether the instruction before `pc` was a yield, at which Unicorn stops, and the one there is not wrong. A
        thread that did not get beyond its first instruction has a wrong one."""
        return (pc != begin or self._state.used > 1) and self._word(pc - 4) & _ANY_CONDITION in _YIELDS

    def _word(self, address: int) -> int:
        """A word of code; 0 where there is none."""
        area = self._area_of(address)
        return int.from_bytes(area.view[address - area.base :][:4], "little") if area is not None else 0

    def _area_of(self, address: int) -> Area | None:
        return next((one for one in self._mapped.values() if one.base <= address < one.end), None)

    def _call_number(self) -> int:
        """The number in the instruction that made a supervisor call."""
        pc, flags = self._values[_REGISTERS], self._values[_REGISTERS + 1]
        at = pc - 2 if flags & _THUMB else pc - 4
        area = self._code
        if area is None or not area.base <= at < area.end:
            area = self._code = next(one for one in self._mapped.values() if one.base <= at < one.end)
        return area.view[at - area.base]

    # -- hooks ------------------------------------------------------------------------------------------------------
    def _invalid(self, access: int, address: int) -> None:
        const = self._const
        kinds = {
            const.UC_MEM_READ_UNMAPPED: "read of no memory", const.UC_MEM_WRITE_UNMAPPED: "write to no memory",
            const.UC_MEM_FETCH_UNMAPPED: _JUMP_NOWHERE, const.UC_MEM_READ_PROT: "read that is not allowed",
            const.UC_MEM_WRITE_PROT: "write that is not allowed", const.UC_MEM_FETCH_PROT: "jump that is not allowed",
        }  # fmt: skip
        self._fault = Fault(kinds.get(access, "wrong access"), address, self._engine.read(self._arm.UC_ARM_REG_PC))
