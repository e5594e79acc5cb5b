"""Executes a program of the Switch with Unicorn: a Cortex-A57 with the counter of the kernel's time.

Unicorn starts at exception level 1; a few instructions take it to level 0, where programs run, and what is of the
system is undefined. Its MMU is off. A stack pointer that is no multiple of 16 is a fault where the processor stops
next, at a supervisor call or the end of its budget: Unicorn does not look at each access.

Unicorn keeps translated code, and does not see that its bytes are written through another address. `ic ivau` tells, as
on the real processor, whose cache of instructions goes by memory: so the code of the same bytes is forgotten wherever
it is mapped.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import gcd
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.guests.backtrace.arm64 import registers_of
from pocketgpu.guests.kernel.memory import PAGE, Permission, host_memory
from pocketgpu.guests.kernel.processor import Fault, Stop, Wrong
from pocketgpu.guests.kernel.report import Registers, VectorRegisters
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.processors.engine import Engine
from pocketgpu.guests.processors.hooks import (
    CACHE_LINE,
    ROOM,
    FlushState,
    HookState,
    flush_hook,
    new_code_hook,
    system_read_hook,
)
from pocketgpu.guests.processors.library import constants, load
from pocketgpu.guests.processors.unicorn import ARGUMENTS, UnicornProcessor

_EXCEPTIONS: Final = {1: Wrong.UNDEFINED, 4: Wrong.MISALIGNED, 7: Wrong.BREAKPOINT}
"""By Unicorn's numbers."""
_NOWHERE: Final = 0xFFFF_FFFF_FFFF_FFFC
"""Where the processor would stop by itself; nothing is there."""
_FLOATING_POINT: Final = 3 << 20
"""CPACR_EL1: no trap of floating point and SIMD."""
_SYSTEM: Final = 0x00C5_0838 | 1 << 26 | 1 << 15 | 1 << 14
"""SCTLR_EL1: as it was, with cache instructions, CTR_EL0 and dc zva for programs."""
_COUNTERS: Final = 3
"""CNTKCTL_EL1: programs read the counter."""
_TO_PROGRAMS: Final = (
    0xD5181000,  # msr sctlr_el1, x0
    0xD518E101,  # msr cntkctl_el1, x1
    0xD5184022,  # msr elr_el1, x2
    0xD518401F,  # msr spsr_el1, xzr
    0xD69F03E0,  # eret
    0xD4000001,  # svc #0
)
_SOMEWHERE: Final = 0x10000
_MANY: Final = 1 << 20
_BASE_AT, _REGISTER_MASK, _SP = 5, 0x1F, 31
_VECTORS: Final = 32
"""The base register of a load or store, in its instruction."""
_CALL_AT, _CALL_MASK = 5, 0xFFFF
"""The number of a supervisor call, in its instruction."""
_WORD: Final = 4
_STACK_ALIGNMENT: Final = 16
_STACK_AT: Final = ARGUMENTS + 2
"""Where the stack pointer is among the registers of a stop."""
_FLUSHED: Final = np.dtype([("address", "<u8"), ("data", "u1", CACHE_LINE)])
"""A line of the cache."""
ToldLines: TypeAlias = Callable[[NDArray[np.uint64], NDArray[np.uint8]], None]


class UnicornArm64(UnicornProcessor):
    """The processor.

    :param clock: ticks of a second, each an instruction.
    :param counter: steps of CNTPCT_EL0 in a second, which it makes from the kernel's ticks.
    """

    bits = 64

    def __init__(self, clock: int, counter: int) -> None:
        const = constants("unicorn_const")
        self._arm = arm = constants("arm64_const")
        engine = Engine(load(), const.UC_ARCH_ARM64, const.UC_MODE_ARM)
        engine.set_model(arm.UC_CPU_ARM64_A57)
        general = [getattr(arm, f"UC_ARM64_REG_X{n}") for n in range(_SP)] + [arm.UC_ARM64_REG_SP, arm.UC_ARM64_REG_PC]
        super().__init__(
            engine, general, arm.UC_ARM64_REG_PC, arm.UC_ARM64_REG_NZCV, _NOWHERE, [arm.UC_ARM64_REG_SP]
        )
        self._vectors = [getattr(arm, f"UC_ARM64_REG_Q{n}") for n in range(_VECTORS)]
        common = gcd(counter, clock)
        self._state.up, self._state.down, self._state.rate = counter // common, clock // common, counter
        self._state.write = engine.write_function
        engine.add_native_hook(const.UC_HOOK_INSN, system_read_hook(), self._state, arm.UC_ARM64_INS_MRS)
        engine.add_native_hook(const.UC_HOOK_INSN, new_code_hook(), self._state, arm.UC_ARM64_INS_SYS)
        self._new_code = self._forget_new_code
        self._flushes: tuple[FlushState, ToldLines] | None = None
        self._clean = self._program_level()

    def _program_level(self) -> bytes:
        """Registers of a new thread: exception level 0, floating point on, the others 0. Unicorn cannot be told the
        level, so instructions go there."""
        engine, arm, size = self._engine, self._arm, _WORD * len(_TO_PROGRAMS)
        code = host_memory(PAGE)
        code[:size] = struct.pack(f"<{len(_TO_PROGRAMS)}I", *_TO_PROGRAMS)
        engine.map(_SOMEWHERE, code, self._const.UC_PROT_ALL)
        engine.write(arm.UC_ARM64_REG_CPACR_EL1, _FLOATING_POINT)
        values = _SYSTEM, _COUNTERS, _SOMEWHERE + size - _WORD
        for number, value in zip(self._numbers, values, strict=False):
            engine.write(number, value)
        self._state.limit = self._state.budget = _MANY
        engine.start(_SOMEWHERE, _NOWHERE)
        for number in self._numbers[: len(values)]:
            engine.write(number, 0)
        engine.unmap(_SOMEWHERE, PAGE)
        return engine.save()

    # -- caches -----------------------------------------------------------------------------------------------------
    def follow_flushes(self, told: ToldLines) -> Callable[[], None]:
        """Call `told` with the lines of the cache that the program writes back, in order, after each piece that it
        runs: their addresses, and their bytes of shape (lines, 64), which are only valid meanwhile. The returned
        function ends that."""
        engine = self._engine
        state = FlushState(0, ctypes.addressof(self._state) + HookState.limit.offset, engine.read_function)
        self._state.flush_state = ctypes.addressof(state)
        self._state.flush = flush_hook()
        self._flushes = state, told

        def end() -> None:
            self._state.flush = None
            self._flushes = None

        return end

    def run(self, thread: Thread, budget: int, now: int) -> Stop:
        if self._flushes is None:
            return super().run(thread, budget, now)
        state, told = self._flushes
        passed = 0
        while True:
            stop = super().run(thread, budget - passed, now + passed)
            full = state.count >= ROOM
            if state.count:
                lines = np.frombuffer(state.lines, _FLUSHED, state.count)
                told(lines["address"], lines["data"])
                state.count = 0
            if not full or stop.call is not None or stop.fault is not None:
                return replace(stop, used=passed + stop.used)
            passed += self._state.used  # it stopped to have its lines taken, and goes on as if it had not
            if passed >= budget:
                return Stop(passed)

    def _set_first(self, entry: int, argument: int, stack: int, tls: int) -> None:
        arm = self._arm
        for register, value in (
            (arm.UC_ARM64_REG_X0, argument), (arm.UC_ARM64_REG_SP, stack), (arm.UC_ARM64_REG_TPIDRRO_EL0, tls),
            (arm.UC_ARM64_REG_PC, entry),
        ):  # fmt: skip
            self._engine.write(register, value)

    def _described(self, values: Sequence[int], flags: int) -> Registers:
        return registers_of(values, flags)

    def vectors(self, thread: Thread) -> VectorRegisters:
        engine, arm, last = self._engine, self._arm, self._last
        self._switch(thread)
        found = VectorRegisters(
            tuple(engine.read_wide(self._vectors)), engine.read(arm.UC_ARM64_REG_FPCR),
            engine.read(arm.UC_ARM64_REG_FPSR), engine.read(arm.UC_ARM64_REG_TPIDR_EL0),
        )  # fmt: skip
        self._switch(last)
        return found

    def _wrong_state(self) -> Fault | None:
        stack = self._values[_STACK_AT]
        if not stack % _STACK_ALIGNMENT:
            return None
        return Fault(Wrong.MISALIGNED_STACK, stack, self._values[ARGUMENTS])

    def _forget_new_code(self) -> None:
        """Code was written in some lines: translate it again, wherever it is mapped to be executed."""
        low, high = self._state.first & -CACHE_LINE, (self._state.last & -CACHE_LINE) + CACHE_LINE
        self._state.last = self._state.fresh = 0
        self._state.limit = self._state.budget
        areas = list(self._mapped.values())
        places = [(max(low, one.base), min(high, one.end), one) for one in areas]
        written = [
            (first - one.base + one.physical, end - one.base + one.physical)
            for first, end, one in places if first < end and one.physical is not None
        ]  # fmt: skip
        for one in areas:
            if one.permission & Permission.EXECUTE and one.physical is not None:
                for first, end in written:
                    begin, until = max(first, one.physical), min(end, one.physical + one.size)
                    if begin < until:
                        at = one.base - one.physical
                        self._engine.forget_range(begin + at, until + at)

    def _call_number(self, pc: int, flags: int) -> int:
        return self._word(pc - _WORD) >> _CALL_AT & _CALL_MASK

    def _failed(self, begin: int, problem: str) -> Stop:
        state, pc = self._state, self._values[ARGUMENTS]
        if self._fault is not None:
            return Stop(state.used, fault=self._fault)
        what = _EXCEPTIONS.get(state.interrupt, problem)
        address = pc
        if pc % _WORD:
            what = Wrong.MISALIGNED_JUMP
        elif what == Wrong.MISALIGNED:
            address = self._engine.read(self._numbers[self._word(pc) >> _BASE_AT & _REGISTER_MASK])
        return Stop(state.used, fault=Fault(what, address, pc))
