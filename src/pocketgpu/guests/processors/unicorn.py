"""What processors that run on Unicorn share: memory, threads and their contexts, budgets, faults.

A class of its own for each architecture names the registers, and tells supervisor calls and faults apart. A stop comes
at the start of a block, so threads end a few instructions late.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pocketgpu.guests.kernel.memory import Area, Permission
from pocketgpu.guests.kernel.processor import Fault, Stop, Wrong
from pocketgpu.guests.kernel.report import Registers, VectorRegisters
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.processors.engine import Engine
from pocketgpu.guests.processors.hooks import HookState, block_hook, interrupt_hook
from pocketgpu.guests.processors.library import constants
from pocketgpu.guests.processors.pieces import Pieces

SVC: Final = 2
"""The interrupt of supervisor calls, by Unicorn's numbers."""
NO_INTERRUPT: Final = -1
ARGUMENTS: Final = 8
"""Registers that calls use, from the first on."""
_WORD: Final = 4


class UnicornProcessor:
    """A processor of one architecture.

    :param engine: with its model set.
    :param general: Unicorn's numbers of the registers in the order in which `Registers` has them; an answer's numbers
        count them from 0, with the flags as the last.
    :param pc: the number of the program counter; flags: of the status register.
    :param nowhere: an address at which the processor would stop by itself.
    :param also: further registers to read at each stop; they follow the flags in `_values`.
    """

    bits: int
    """Of a register."""

    def __init__(
        self, engine: Engine, general: Sequence[int], pc: int, flags: int, nowhere: int, also: Sequence[int] = ()
    ) -> None:
        self._const = const = constants("unicorn_const")
        self._engine, self._nowhere = engine, nowhere
        self._numbers = [*general, flags]
        self._batch = engine.batch([*general[:ARGUMENTS], pc, flags, *also])
        self._values = self._batch.values
        self._all = engine.batch(self._numbers)
        self._mask = (1 << self.bits) - 1
        self._pc = pc
        self._mapped: dict[int, Area] = {}
        self._new_code: Callable[[], None] | None = None
        """For an architecture whose programs say that they have written code; called where `HookState.last` is set."""
        self._pieces = Pieces(engine)
        self._last: Thread | None = None
        self._code: Area | None = None
        self._fault: Fault | None = None
        self._clean = b""
        self._state = HookState(used=0, limit=0, stop=engine.stop_function, interrupt=NO_INTERRUPT)
        engine.add_native_hook(const.UC_HOOK_BLOCK, block_hook(), self._state)
        engine.add_native_hook(const.UC_HOOK_INTR, interrupt_hook(), self._state)
        engine.on_invalid(const.UC_HOOK_MEM_INVALID, self._invalid)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self._mapped)} areas>"

    # -- what an architecture adds ----------------------------------------------------------------------------------
    def _set_first(self, entry: int, argument: int, stack: int, tls: int) -> None:
        """Registers of a new thread, where others are clean."""
        raise NotImplementedError

    def _described(self, values: Sequence[int], flags: int) -> Registers:
        """Registers for people."""
        raise NotImplementedError

    def _begin(self, pc: int, flags: int) -> int:
        """Where to start, as Unicorn wants it."""
        return pc

    def _call_number(self, pc: int, flags: int) -> int:
        """The number of the supervisor call before `pc`."""
        raise NotImplementedError

    def _failed(self, begin: int, problem: str) -> Stop:
        """What an interrupt or an error of Unicorn means; `_fault` describes a wrong access."""
        raise NotImplementedError

    def _wrong_state(self) -> Fault | None:
        """What is wrong with the registers where the processor stopped by a call or at its budget."""
        return None

    # -- memory -----------------------------------------------------------------------------------------------------
    def mapped(self, area: Area) -> None:
        self._mapped[area.base] = area
        self._pieces.map(area, self._rights(area))

    def _rights(self, area: Area) -> int:
        const, given = self._const, area.permission
        pairs = (
            (Permission.READ, const.UC_PROT_READ), (Permission.WRITE, const.UC_PROT_WRITE),
            (Permission.EXECUTE, const.UC_PROT_EXEC),
        )  # fmt: skip
        return sum(right for one, right in pairs if given & one)

    def unmapped(self, base: int, size: int) -> None:
        self._pieces.unmap(base)
        del self._mapped[base]
        self._code = None

    def _area_of(self, address: int) -> Area | None:
        area = self._code
        if area is None or not area.base <= address < area.end:
            area = next((one for one in self._mapped.values() if one.base <= address < one.end), None)
            self._code = area
        return area

    def _word(self, address: int) -> int:
        """A word of code; 0 where there is none."""
        area = self._area_of(address)
        return int.from_bytes(area.view[address - area.base :][:_WORD], "little") if area is not None else 0

    # -- threads ----------------------------------------------------------------------------------------------------
    def start(self, thread: Thread, entry: int, argument: int, stack: int) -> None:
        self._switch(None)
        self._engine.restore(self._clean)
        self._set_first(entry, argument, stack, thread.tls)
        thread.context = self._engine.save()
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
        values = list(self._all.values)
        self._switch(last)
        for number, value in thread.answer.items():
            values[number] = value & self._mask
        *values, flags = values
        return self._described(values, flags)

    def vectors(self, thread: Thread) -> VectorRegisters | None:
        return None

    def watch(self, base: int, size: int, told: Callable[[int], None]) -> Callable[[], None]:
        hook = self._engine.on_write(self._const.UC_HOOK_MEM_WRITE, base, base + size, told)
        return lambda: self._engine.remove_hook(hook)

    # -- running ----------------------------------------------------------------------------------------------------
    def run(self, thread: Thread, budget: int, now: int) -> Stop:
        state, values = self._state, self._values
        if self._last is not thread:
            self._switch(thread)
            self._batch.read()
        if thread.answer:
            self._apply(thread.answer)
            thread.answer = {}
        self._fault = None
        self._pieces.bring_up_to_date()
        state.used, state.limit, state.budget, state.interrupt, state.now = 0, budget, budget, NO_INTERRUPT, now
        begin = values[ARGUMENTS]
        problem = self._engine.start(self._begin(begin, values[ARGUMENTS + 1]), self._nowhere)
        self._batch.read()
        while state.last and self._new_code is not None:
            self._new_code()
            if problem or state.interrupt != NO_INTERRUPT or state.used >= budget or values[ARGUMENTS] == self._nowhere:
                break
            problem = self._engine.start(self._begin(values[ARGUMENTS], values[ARGUMENTS + 1]), self._nowhere)
            self._batch.read()
        pc = values[ARGUMENTS]
        if state.interrupt == SVC:
            thread.registers = list(values[:ARGUMENTS])
            return Stop(state.used, self._call_number(pc, values[ARGUMENTS + 1]), self._wrong_state())
        if problem or state.interrupt != NO_INTERRUPT:
            return self._failed(begin, problem)
        if pc == self._nowhere:
            return Stop(state.used, fault=Fault(Wrong.JUMP_NOWHERE, pc, pc))
        if (fault := self._wrong_state()) is not None:
            return Stop(state.used, fault=fault)
        # A processor that stops before its budget waits for an interrupt (wfi), which comes with what is due next.
        return Stop(max(state.used, budget))

    def _apply(self, answer: Mapping[int, int]) -> None:
        """Set registers of the thread that runs; those of calls are set together."""
        values = self._values
        others = False
        for number, value in answer.items():
            if number < ARGUMENTS:
                values[number] = value
            else:
                others = True
        self._batch.write(ARGUMENTS)
        if others:
            for number, value in answer.items():
                if number >= ARGUMENTS:
                    self._engine.write(self._numbers[number], value)
            self._batch.read()

    def _invalid(self, access: int, address: int) -> None:
        const = self._const
        kinds = {
            const.UC_MEM_READ_UNMAPPED: Wrong.READ_NOWHERE, const.UC_MEM_WRITE_UNMAPPED: Wrong.WRITE_NOWHERE,
            const.UC_MEM_FETCH_UNMAPPED: Wrong.JUMP_NOWHERE, const.UC_MEM_READ_PROT: Wrong.READ_FORBIDDEN,
            const.UC_MEM_WRITE_PROT: Wrong.WRITE_FORBIDDEN, const.UC_MEM_FETCH_PROT: Wrong.JUMP_FORBIDDEN,
        }  # fmt: skip
        self._fault = Fault(kinds.get(access, "wrong access"), address, self._engine.read(self._pc))
