"""Executes a program of the 3DS with Unicorn: an ARM11 MPCore in user mode.

A stop comes at the start of a block, so threads end a few instructions late. Instructions are counted by the size of
blocks in words, which counts two of Thumb as one.

Unicorn is under the GPL, version 2, as a work; it is an extra that is imported when a program runs.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

from pocketgpu.errors import UsageError
from pocketgpu.guests.block_counter import HookState, block_hook, interrupt_hook
from pocketgpu.guests.memory import Area, Permission
from pocketgpu.guests.processor import Fault, Stop
from pocketgpu.guests.threads import Thread

_SVC: Final = 2
_EXCEPTIONS: Final = {1: "undefined instruction", 3: "prefetch abort", 4: "data abort", 7: "breakpoint"}
_USER_MODE: Final = 0x10
_THUMB: Final = 0x20
_FPEXC_ENABLE: Final = 1 << 30
_NOWHERE: Final = ctypes.c_uint64(0xFFFFFFFE)
_NO_TIMEOUT, _NO_COUNT = ctypes.c_uint64(0), ctypes.c_size_t(0)
_COPROCESSORS: Final = 0xF << 20
"""Access to coprocessors 10 and 11, the floating point unit."""


def _unicorn() -> tuple[Any, Any, Any]:
    try:
        import unicorn
        from unicorn import arm_const, unicorn_const
    except ImportError:
        raise UsageError(
            "running programs needs the extra 'guest'", hint="pip install 'pocketgpu[guest]'"
        ) from None
    return unicorn, arm_const, unicorn_const


_NO_INTERRUPT: Final = -1
_REGISTERS: Final = 8
"""r0 to r7, which calls use; the program counter and the flags follow them."""


class UnicornArm:
    """The processor."""

    def __init__(self) -> None:
        unicorn, arm, const = _unicorn()
        self._arm, self._const = arm, const
        self._library = unicorn.unicorn_py3.unicorn.uclib
        self._errors = unicorn.unicorn_py3.unicorn.UcError
        self._uc = uc = unicorn.Uc(const.UC_ARCH_ARM, const.UC_MODE_ARM)
        uc.ctl_set_cpu_model(arm.UC_CPU_ARM_11MPCORE)
        numbers = [getattr(arm, f"UC_ARM_REG_R{n}") for n in range(_REGISTERS)]
        numbers += [arm.UC_ARM_REG_PC, arm.UC_ARM_REG_CPSR]
        self._numbers = (ctypes.c_int * len(numbers))(*numbers)
        self._values = (ctypes.c_uint64 * len(numbers))()
        first = ctypes.addressof(self._values)
        self._places = (ctypes.c_void_p * len(numbers))(*(first + 8 * n for n in range(len(numbers))))
        self._mapped: dict[int, Area] = {}
        self._keep: dict[int, Any] = {}
        self._last: Thread | None = None
        self._code: Area | None = None
        self._fault: Fault | None = None
        self._clean = self._clean_context()
        self._state = HookState(0, 0, ctypes.cast(self._library.uc_emu_stop, ctypes.c_void_p), _NO_INTERRUPT)
        self._add_hook(const.UC_HOOK_BLOCK, block_hook())
        self._add_hook(const.UC_HOOK_INTR, interrupt_hook())
        uc.hook_add(const.UC_HOOK_MEM_INVALID, self._invalid)

    def __repr__(self) -> str:
        return f"<UnicornArm: {len(self._mapped)} areas>"

    def _clean_context(self) -> Any:
        """Registers of a new thread: user mode, floating point on."""
        uc, arm = self._uc, self._arm
        uc.reg_write(arm.UC_ARM_REG_C1_C0_2, _COPROCESSORS)
        uc.reg_write(arm.UC_ARM_REG_FPEXC, _FPEXC_ENABLE)
        uc.reg_write(arm.UC_ARM_REG_CPSR, _USER_MODE)
        return uc.context_save()

    def _add_hook(self, kind: int, address: int) -> None:
        """A hook in machine code."""
        handle = ctypes.c_size_t()
        status = self._library.uc_hook_add(
            self._uc._uch, ctypes.byref(handle), ctypes.c_int(kind), ctypes.c_void_p(address),
            ctypes.cast(ctypes.byref(self._state), ctypes.c_void_p), ctypes.c_uint64(1), ctypes.c_uint64(0),
        )  # fmt: skip
        if status:
            raise UsageError(f"Unicorn refused a hook: {status}")

    # -- memory -----------------------------------------------------------------------------------------------------
    def mapped(self, area: Area) -> None:
        holder = (ctypes.c_char * area.size).from_buffer(area.view)
        self._keep[area.base] = holder
        self._mapped[area.base] = area
        self._uc.mem_map_ptr(area.base, area.size, self._rights(area), ctypes.addressof(holder))

    def _rights(self, area: Area) -> int:
        const, given = self._const, area.permission
        pairs = (
            (Permission.READ, const.UC_PROT_READ), (Permission.WRITE, const.UC_PROT_WRITE),
            (Permission.EXECUTE, const.UC_PROT_EXEC),
        )  # fmt: skip
        return sum(right for one, right in pairs if given & one)

    def unmapped(self, base: int, size: int) -> None:
        self._uc.mem_unmap(base, size)
        del self._mapped[base], self._keep[base]
        self._code = None

    # -- threads ----------------------------------------------------------------------------------------------------
    def start(self, thread: Thread, entry: int, argument: int, stack: int) -> None:
        self._switch(None)
        uc, arm = self._uc, self._arm
        uc.context_restore(self._clean)
        for register, value in (
            (arm.UC_ARM_REG_R0, argument), (arm.UC_ARM_REG_SP, stack), (arm.UC_ARM_REG_LR, 0),
            (arm.UC_ARM_REG_C13_C0_3, thread.tls), (arm.UC_ARM_REG_PC, entry),
        ):  # fmt: skip
            uc.reg_write(register, value)
        thread.context = uc.context_save()
        self._last = None

    def _switch(self, thread: Thread | None) -> None:
        if self._last is not None and self._last is not thread:
            self._last.context = self._uc.context_save()
        if thread is not None and self._last is not thread:
            self._uc.context_restore(thread.context)
        self._last = thread

    def _read(self) -> None:
        """The registers, the program counter and the flags, into `values`."""
        self._library.uc_reg_read_batch(self._uc._uch, self._numbers, self._places, len(self._numbers))

    def run(self, thread: Thread, budget: int) -> Stop:
        uc, state, values = self._uc, self._state, self._values
        if self._last is not thread:
            self._switch(thread)
            self._read()
        if thread.answer:
            for number, value in thread.answer.items():
                values[number] = value
            self._library.uc_reg_write_batch(uc._uch, self._numbers, self._places, _REGISTERS)
            thread.answer = {}
        self._fault = None
        state.used, state.limit, state.interrupt = 0, budget, _NO_INTERRUPT
        pc, flags = values[_REGISTERS], values[_REGISTERS + 1]
        status = self._library.uc_emu_start(
            uc._uch, ctypes.c_uint64(pc | bool(flags & _THUMB)), _NOWHERE, _NO_TIMEOUT, _NO_COUNT
        )
        self._read()
        if state.interrupt == _SVC:
            thread.registers = list(values[:_REGISTERS])
            return Stop(state.used, self._call_number())
        if status or state.interrupt != _NO_INTERRUPT:
            pc = values[_REGISTERS]
            what = _EXCEPTIONS.get(state.interrupt, str(self._errors(status)))
            return Stop(state.used, fault=self._fault or Fault(what, pc, pc))
        return Stop(state.used)

    def _call_number(self) -> int:
        """The number in the instruction that made a supervisor call."""
        pc, flags = self._values[_REGISTERS], self._values[_REGISTERS + 1]
        at = pc - 2 if flags & _THUMB else pc - 4
        area = self._code
        if area is None or not area.base <= at < area.end:
            area = self._code = next(one for one in self._mapped.values() if one.base <= at < one.end)
        return area.view[at - area.base]

    # -- hooks ------------------------------------------------------------------------------------------------------
    def _invalid(self, uc: Any, access: int, address: int, size: int, value: int, data: Any) -> bool:
        const = self._const
        kinds = {
            const.UC_MEM_READ_UNMAPPED: "read of no memory", const.UC_MEM_WRITE_UNMAPPED: "write to no memory",
            const.UC_MEM_FETCH_UNMAPPED: "jump to no memory", const.UC_MEM_READ_PROT: "read that is not allowed",
            const.UC_MEM_WRITE_PROT: "write that is not allowed", const.UC_MEM_FETCH_PROT: "jump that is not allowed",
        }  # fmt: skip
        self._fault = Fault(kinds.get(access, "wrong access"), address, uc.reg_read(self._arm.UC_ARM_REG_PC))
        return False
