"""A recorded guest: plays the processor's side of a conversation, so that a kernel can be tested without a program.

    conversation = Conversation.read("hello-world.jsonl.xz")
    guest = RecordedSwitch(conversation)

A conversation is what a program said to a kernel and what it was told, one line of JSON a call or an event. The guest
puts into memory what each call carries, and makes the call. Numbers that a kernel chooses, such as handles, are
translated: `Numbers` knows the kernel's for the recorded ones. Tests compare the answers.

What a line carries differs between the consoles: `recorded_n3ds.py` and `recorded_switch.py` read them.
"""

from __future__ import annotations

import json
import lzma
import os
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from pocketgpu.errors import UsageError
from pocketgpu.guests.kernel.memory import AddressSpace, Area
from pocketgpu.guests.kernel.processor import Stop
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.late_dataclass import dataclass

Line = Mapping[str, Any]


class RecordEndError(Exception):
    """A thread is asked for more than was recorded."""


@dataclass(frozen=True)
class Conversation:
    """A recording: its first line, and the others."""

    head: Line
    lines: list[Line]

    def __repr__(self) -> str:
        return f"<Conversation {self.head['program']}: {len(self.lines)} lines>"

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Conversation:
        """Read a file of JSON lines, packed with xz."""
        with lzma.open(path, "rt", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        return cls(lines[0], lines[1:])


class Numbers:
    """Numbers that a kernel chose, by kind, for those that the recorded kernel chose."""

    def __init__(self) -> None:
        self._known: dict[str, dict[int, int]] = {}

    def __repr__(self) -> str:
        return f"<Numbers: {', '.join(f'{len(known)} {kind}' for kind, known in self._known.items())}>"

    def learn(self, kind: str, recorded: int, chosen: int) -> None:
        """A number was told by both."""
        self._known.setdefault(kind, {})[recorded] = chosen

    def forget(self, kind: str, recorded: int) -> None:
        """The number is free again."""
        self._known.get(kind, {}).pop(recorded, None)

    def known(self, kind: str, recorded: int) -> bool:
        """Whether the kernel has one for it."""
        return recorded in self._known.get(kind, {})

    def chosen(self, kind: str) -> list[int]:
        """The kernel's numbers of a kind."""
        return list(self._known.get(kind, {}).values())

    def below(self, kind: str, recorded: int) -> int:
        """The kernel's number for the greatest known one that is not greater, and as much more: for addresses inside
        of allocations."""
        known = self._known.get(kind, {})
        first = max((one for one in known if one <= recorded), default=None)
        return recorded if first is None else recorded - first + known[first]

    def of(self, kind: str, recorded: int) -> int:
        """The kernel's number; the recorded one if there is no other."""
        return self._known.get(kind, {}).get(recorded, recorded)


class RecordedGuest:
    """A processor that makes recorded calls. space: the memory of the guest, to be set before the first call. line: of
    the call that is being made. A form of recordings adds `moment` and `enter`."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation, self.numbers = conversation, Numbers()
        for own in (0xFFFF8000, 0xFFFF8001):
            self.numbers.learn("handle", own, own)
        self.space: AddressSpace | None = None
        self.line: Line | None = None
        self._position: dict[int, int] = {}
        self._queues: dict[int, deque[tuple[int, Line]]] = {}
        for line in conversation.lines:
            at = self.moment(line)
            if at is not None:
                self._queues.setdefault(at[0], deque()).append((at[1], line))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.conversation.head['program']}>"

    # -- the form of the recording ----------------------------------------------------------------------------------
    def moment(self, line: Line) -> tuple[int, int] | None:
        """Thread of a line, and how many instructions that has executed then; None for what is not the program's."""
        raise NotImplementedError

    def enter(self, thread: Thread, line: Line) -> None:
        """Set registers and memory for a call."""
        raise NotImplementedError

    # -- the processor's interface ----------------------------------------------------------------------------------
    def start(self, thread: Thread, entry: int, argument: int, stack: int) -> None:
        """Nothing is executed."""

    def registers(self, thread: Thread) -> None:
        """A recording has those of calls only."""

    def vectors(self, thread: Thread) -> None:
        """A recording has none."""

    def watch(self, base: int, size: int, told: Callable[[int], None]) -> Callable[[], None]:
        """A recording has no stores."""
        return lambda: None

    def mapped(self, area: Area) -> None:
        """Memory is the kernel's."""

    def unmapped(self, base: int, size: int) -> None:
        """Memory is the kernel's."""

    def settle(self) -> None:
        raise UsageError("a recorded guest cannot go back")

    def replaced(self) -> None:
        """It never goes back."""

    def run(self, thread: Thread, budget: int, now: int) -> Stop:
        queue = self._queues.get(thread.number)
        at = self._position.get(thread.number, 0)
        while queue:
            place, line = queue[0]
            if "n" in line:
                if place - at > budget:
                    self._position[thread.number] = at + budget
                    return Stop(budget)
                queue.popleft()
                self._position[thread.number] = place
                self.line = line
                self.enter(thread, line)
                return Stop(place - at, int(line["n"], 16))
            queue.popleft()
            if place - at > budget or line["ev"] == "end":
                # The end of the block in which the recording was interrupted.
                self._position[thread.number] = place
                return Stop(place - at)
        raise RecordEndError(f"thread {thread.number} has no more calls")

    # -- for forms --------------------------------------------------------------------------------------------------
    def store(self, address: int, data: bytes) -> None:
        """What the program has in its memory, whatever it may do there."""
        assert self.space is not None
        for area in self.space.within(address, len(data)):
            low, high = max(area.base, address), min(area.end, address + len(data))
            area.view[low - area.base : high - area.base] = data[low - address : high - address]
