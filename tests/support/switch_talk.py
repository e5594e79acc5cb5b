"""A Switch with a thread that makes supervisor calls, for tests that need no program."""

from __future__ import annotations

from pocketgpu.facts.switch.supervisor import CALLS
from pocketgpu.guests.kernel.files import MemoryFiles
from pocketgpu.guests.kernel.memory import PAGE, Permission
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.pages import Kind
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.console import SwitchConsole
from pocketgpu.maxwell.gm20b import GM20B

from .guest_messages import Idle

NUMBERS = {one.name: one for one in CALLS.values()}
BUFFER, ROOM = layout.HEAP, 16 * PAGE
_BOTH = Permission.READ | Permission.WRITE


class Talk:
    """A console with a thread that makes calls, and memory."""

    def __init__(self) -> None:
        self.console = SwitchConsole(Idle(), GM20B(), MemoryFiles({}))
        self.kernel = self.console.kernel
        self.kernel.map_ram("heap", BUFFER, ROOM, _BOTH, Kind.HEAP)
        thread = self.kernel.make_thread(0x2C, 0, 0, 0)
        assert thread is not None
        self.thread = thread

    def called(self, call: str, **arguments: int) -> int:
        """Make a call; its result. Replies are in the thread's answer."""
        values = dict.fromkeys(range(8), 0)
        for one in NUMBERS[call].arguments:
            one.set(values, arguments.pop(one.name, 0))
        assert not arguments
        self.thread.registers, self.thread.answer = [values[n] for n in range(8)], {}
        self.kernel.calls[NUMBERS[call].number](self.thread)
        return self.thread.answer.get(0, 0)

    def made(self, call: str, **arguments: int) -> int:
        """Make an object; its handle."""
        assert self.called(call, **arguments) == Result.OK
        return self.thread.answer[1]
