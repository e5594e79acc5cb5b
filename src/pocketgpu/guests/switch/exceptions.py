"""Handlers of exceptions in a program: a fault calls the program's entry once more, with the kind in x0 and a frame in
x1. ReturnFromException goes on with what is in the frame then, or says that there is no handler.

A program without a handler says so at once, and the fault ends the run as if nothing had been called. Frame and stack
of the call lie in a block of thread-local storage. Source: libnx's exception.s and switch_crt0.s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pocketgpu.guests.kernel.processor import Fault, Wrong
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.switch.abi.exceptions import FRAME_SIZE, ExceptionFrame, entering, exception_of
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.switch.kernel import SwitchKernel

_ROOM: Final = -(-FRAME_SIZE // 16) * 16
"""Of the frame, at the end of its block; the stack is below."""


@dataclass(slots=True)
class _Running:
    """A handler at work. context: the thread's registers as the fault left them."""

    thread: Thread
    fault: Fault
    context: Any


class Exceptions:
    """Exceptions of one program. program: None where handlers are not called. told: a fault that its handler was
    called for, in words; empty where there is none."""

    def __init__(self, kernel: SwitchKernel) -> None:
        self._kernel = kernel
        self.program: Program | None = None
        self.told = ""
        self._block: int | None = None
        self._running: _Running | None = None

    def __repr__(self) -> str:
        return f"<Exceptions: {'a handler runs' if self._running else 'none'}>"

    def _tell(self, fault: Fault) -> None:
        where = self.program.place(fault.pc) if self.program is not None else f"{fault.pc:#010x}"
        self.told = f"{fault.what} at {fault.address:#010x}, in {where}"

    def raised(self, thread: Thread, fault: Fault) -> bool:
        """Call the program's entry for a fault; False if that cannot be, as for a fault of the handler itself."""
        kernel = self._kernel
        registers = kernel.processor.registers(thread)
        if self._running is not None:
            self._tell(self._running.fault)
            return False
        if self.program is None or registers is None:
            return False
        found = exception_of(fault, registers)
        if self._block is None:
            self._block = kernel.tls.take()
        if found is None or self._block is None:
            return False
        kind, frame = found
        at = self._block + kernel.tls.size - _ROOM
        kernel.space.write(at, frame.packed())
        kernel.processor.settle()
        self._running = _Running(thread, fault, thread.context)
        thread.answer = entering(self.program.entry, kind, at, at)
        return True

    def returned(self, thread: Thread, result: int) -> Result | None:
        """ReturnFromException; None if the thread goes on elsewhere, or the program has ended. Without an exception it
        is a call that does not exist."""
        kernel, running = self._kernel, self._running
        if running is None or running.thread is not thread or self._block is None:
            registers = kernel.processor.registers(thread)
            if registers is None:
                return Result.INVALID_STATE
            kernel.faulted(thread, Fault(Wrong.BAD_CALL, registers.pc, registers.pc))
            return None
        self._running = None
        if result == Result.OK:
            at = self._block + kernel.tls.size - _ROOM
            thread.answer = ExceptionFrame.unpacked(kernel.space.read(at, FRAME_SIZE)).registers
            self._tell(running.fault)
            return None
        kernel.processor.settle()
        thread.context, thread.answer = running.context, {}
        kernel.ends_by(thread, running.fault)
        return None
