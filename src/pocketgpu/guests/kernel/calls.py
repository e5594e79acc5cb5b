"""How supervisor calls are registered.

    CALLS = CallTable(facts.CALLS, bad_pointer=Result.INVALID_POINTER)

    @CALLS.call("CreateEvent")
    def create_event(kernel, thread, reset):
        return kernel.give(Event(Reset(reset)))

A call returns its result code, or a code and its replies in the order of its row, or None if it sets the thread's
answer itself: it waits, or the thread has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pocketgpu.guests.kernel.memory import AddressError

if TYPE_CHECKING:
    from pocketgpu.facts.dialect.supervisor import SupervisorCall
    from pocketgpu.guests.kernel.kernel import Kernel
    from pocketgpu.guests.kernel.threads import Thread

Reply = int | tuple[int, ...] | None
Function = Callable[..., Reply]

RESULT_BITS = 0xFFFFFFFF


class CallTable:
    """The calls of a console that are modelled. known: its rows by number. bad_pointer: the result of a call that names
    memory which the program does not have."""

    def __init__(self, known: Mapping[int, SupervisorCall], bad_pointer: int) -> None:
        self._by_name = {one.name: one for one in known.values()}
        self._bad_pointer = int(bad_pointer)
        self.functions: dict[int, tuple[SupervisorCall, Function]] = {}
        """By number."""

    def __repr__(self) -> str:
        return f"<CallTable: {len(self.functions)} of {len(self._by_name)} calls>"

    def call(self, name: str) -> Callable[[Function], Function]:
        """Register a function for a call."""
        known = self._by_name[name]

        def register(function: Function) -> Function:
            self.functions[known.number] = known, function
            return function

        return register

    def bound(self, kernel: Kernel) -> dict[int, Callable[[Thread], None]]:
        """The calls for one kernel: functions that take a thread, whose answer they set."""
        return {number: self._bind(kernel, known, function) for number, (known, function) in self.functions.items()}

    def _bind(self, kernel: Kernel, known: SupervisorCall, function: Any) -> Callable[[Thread], None]:
        arguments, replies, bad_pointer = known.arguments, known.replies, self._bad_pointer

        def run(thread: Thread) -> None:
            registers = thread.registers
            try:
                reply = function(kernel, thread, *[one.get(registers) for one in arguments])
            except AddressError:
                reply = bad_pointer
            if reply is None:
                return
            if isinstance(reply, tuple):
                thread.answer[0] = reply[0] & RESULT_BITS
                for one, value in zip(replies, reply[1:], strict=False):
                    one.set(thread.answer, value)
            else:
                thread.answer[0] = reply & RESULT_BITS

        return run
