"""Executes a program of the 3DS with Unicorn: an ARM11 MPCore in user mode.

A stop comes at the start of a block, so threads end a few instructions late. Instructions are counted by the size of
blocks in words, which counts two of Thumb as one.

Unicorn is under the GPL, version 2, as a work; it is an extra that is imported when a program runs.
"""

from __future__ import annotations

import ctypes
import struct
from typing import Any, Final

from pocketgpu.errors import UsageError
from pocketgpu.guests.block_counter import BlockCounter, hook_address
from pocketgpu.guests.memory import Area, Permission
from pocketgpu.guests.processor import Fault, Stop
from pocketgpu.guests.threads import Thread

_SVC: Final = 2
_UNDEFINED: Final = 1
_EXCEPTIONS: Final = {1: "undefined instruction", 3: "prefetch abort", 4: "data abort", 7: "breakpoint"}
_USER_MODE: Final = 0x10
_THUMB: Final = 0x20
_FPEXC_ENABLE: Final = 1 << 30
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


class UnicornArm:
    """The processor."""

    def __init__(self) -> None:
        unicorn, arm, const = _unicorn()
        self._unicorn, self._arm, self._const = unicorn, arm, const
        self._uc = uc = unicorn.Uc(const.UC_ARCH_ARM, const.UC_MODE_ARM)
        uc.ctl_set_cpu_model(arm.UC_CPU_ARM_11MPCORE)
        self._general = [getattr(arm, f"UC_ARM_REG_R{n}") for n in range(8)]
        self._mapped: dict[int, Area] = {}
        self._keep: dict[int, Any] = {}
        self._last: Thread | None = None
        self._call: int | None = None
        self._fault: Fault | None = None
        self._clean = self._clean_context()
        library = unicorn.unicorn_py3.unicorn.uclib
        self._counter = BlockCounter(0, 0, ctypes.cast(library.uc_emu_stop, ctypes.c_void_p))
        self._add_native_hook(library)
        uc.hook_add(const.UC_HOOK_INTR, self._interrupted)
        invalid = const.UC_HOOK_MEM_INVALID
        uc.hook_add(invalid, self._invalid)

    def __repr__(self) -> str:
        return f"<UnicornArm: {len(self._mapped)} areas>"

    def _clean_context(self) -> Any:
        """Registers of a new thread: user mode, floating point on."""
        uc, arm = self._uc, self._arm
        uc.reg_write(arm.UC_ARM_REG_C1_C0_2, _COPROCESSORS)
        uc.reg_write(arm.UC_ARM_REG_FPEXC, _FPEXC_ENABLE)
        uc.reg_write(arm.UC_ARM_REG_CPSR, _USER_MODE)
        return uc.context_save()

    def _add_native_hook(self, library: Any) -> None:
        """The block counter, without a turn through Python."""
        handle = ctypes.c_size_t()
        status = library.uc_hook_add(
            self._uc._uch, ctypes.byref(handle), ctypes.c_int(self._const.UC_HOOK_BLOCK),
            ctypes.c_void_p(hook_address()), ctypes.cast(ctypes.byref(self._counter), ctypes.c_void_p),
            ctypes.c_uint64(1), ctypes.c_uint64(0),
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

    def run(self, thread: Thread, budget: int) -> Stop:
        uc, arm = self._uc, self._arm
        self._switch(thread)
        for number, value in thread.answer.items():
            uc.reg_write(self._general[number], value)
        thread.answer = {}
        self._call = self._fault = None
        self._counter.used, self._counter.limit = 0, budget
        pc = uc.reg_read(arm.UC_ARM_REG_PC)
        if uc.reg_read(arm.UC_ARM_REG_CPSR) & _THUMB:
            pc |= 1
        try:
            uc.emu_start(pc, 0xFFFFFFFE)
        except self._unicorn.UcError as error:
            if self._fault is None:
                self._fault = Fault(str(error), uc.reg_read(arm.UC_ARM_REG_PC), uc.reg_read(arm.UC_ARM_REG_PC))
        used = self._counter.used
        if self._fault is not None:
            return Stop(used, fault=self._fault)
        if self._call is not None:
            thread.registers = [uc.reg_read(one) for one in self._general]
            return Stop(used, self._call)
        return Stop(used)

    # -- hooks ------------------------------------------------------------------------------------------------------
    def _interrupted(self, uc: Any, number: int, data: Any) -> None:
        pc = uc.reg_read(self._arm.UC_ARM_REG_PC)
        if number == _SVC:
            if uc.reg_read(self._arm.UC_ARM_REG_CPSR) & _THUMB:
                self._call = uc.mem_read(pc - 2, 1)[0]
            else:
                self._call = struct.unpack("<I", uc.mem_read(pc - 4, 4))[0] & 0xFF
        else:
            self._fault = Fault(_EXCEPTIONS.get(number, f"exception {number}"), pc, pc)
        uc.emu_stop()

    def _invalid(self, uc: Any, access: int, address: int, size: int, value: int, data: Any) -> bool:
        const = self._const
        kinds = {
            const.UC_MEM_READ_UNMAPPED: "read of no memory", const.UC_MEM_WRITE_UNMAPPED: "write to no memory",
            const.UC_MEM_FETCH_UNMAPPED: "jump to no memory", const.UC_MEM_READ_PROT: "read that is not allowed",
            const.UC_MEM_WRITE_PROT: "write that is not allowed", const.UC_MEM_FETCH_PROT: "jump that is not allowed",
        }  # fmt: skip
        self._fault = Fault(kinds.get(access, "wrong access"), address, uc.reg_read(self._arm.UC_ARM_REG_PC))
        return False
