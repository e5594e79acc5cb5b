"""How supervisor calls are registered.

    @call("CreateEvent")
    def create_event(kernel, thread, reset):
        return kernel.give(Event(Reset(reset)))

A call returns its result code, or a code and its replies in the order of its row, or None if it sets the thread's
answer itself: it waits, or the thread has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pocketgpu.facts.supervisor import CALLS, SupervisorCall
from pocketgpu.guests.kernel.memory import AddressError
from pocketgpu.guests.n3ds.abi.results import Result

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

Reply = int | tuple[int, ...] | None
Function = Callable[..., Reply]

_NUMBERS = {one.name: one for one in CALLS.values()}
FUNCTIONS: dict[int, tuple[SupervisorCall, Function]] = {}
"""The calls that are modelled, by number."""


def call(name: str) -> Callable[[Function], Function]:
    """Register a function for a call."""
    known = _NUMBERS[name]

    def register(function: Function) -> Function:
        FUNCTIONS[known.number] = known, function
        return function

    return register


def bound(kernel: N3DSKernel) -> dict[int, Callable[[Thread], None]]:
    """The calls for one kernel: functions that take a thread, whose answer they set."""
    return {number: _bind(kernel, known, function) for number, (known, function) in FUNCTIONS.items()}


def _bind(kernel: N3DSKernel, known: SupervisorCall, function: Any) -> Callable[[Thread], None]:
    arguments, replies = known.arguments, known.replies

    def run(thread: Thread) -> None:
        registers = thread.registers
        try:
            reply = function(kernel, thread, *[one.get(registers) for one in arguments])
        except AddressError:
            reply = int(Result.INVALID_POINTER)
        if reply is None:
            return
        if isinstance(reply, tuple):
            thread.answer[0] = reply[0] & 0xFFFFFFFF
            for one, value in zip(replies, reply[1:], strict=False):
                one.set(thread.answer, value)
        else:
            thread.answer[0] = reply & 0xFFFFFFFF

    return run
