"""Checkpoints of a running program: processor, kernel, services, input, memory and GPU, saved and put back.

    point = Checkpoint.take(console)
    ...
    point.restore(console)

Time is counted, so a program that goes on from a checkpoint goes the way that it went before. Files of the host are not
part of it: what the program has written there stays written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.guests.kernel.host_pages import HostPages
from pocketgpu.guests.kernel.kernel import Kernel
from pocketgpu.guests.kernel.state import State
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.capture.driver.checkpoints import Kept

_FILES_STAY: Final = "the run went back, and what the program had written to files since stays written"


class RunningConsole(Protocol):
    """What is kept: a console with a kernel and a GPU."""

    @property
    def kernel(self) -> Kernel:
        """Its kernel."""
        ...

    @property
    def machine(self) -> Any:
        """Its GPU."""
        ...

    @property
    def frame_count(self) -> int:
        """VBlanks so far."""
        ...

    @property
    def file_changes(self) -> int:
        """How often the program has changed files of the host."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A moment of a run; `App.checkpoint` takes one. frame: VBlanks until then. steps: of the kernel until then."""

    frame: int
    steps: int
    owner: object
    objects: State
    memory: HostPages
    machine: Any

    def __repr__(self) -> str:
        return line_of(self, f"frame {self.frame}, step {self.steps}")

    @classmethod
    def take(cls, console: RunningConsole, before: Checkpoint | None = None) -> Checkpoint:
        """Keep a console between two steps of its kernel. before: an earlier checkpoint, to share what did not change.

        :raises UnknownStateError: something of it cannot be kept.
        """
        kernel, machine = console.kernel, console.machine
        kernel.processor.settle()
        roots = (console, machine.events, machine.stats)
        objects = State(roots, outside=(machine, machine.memory, machine.choices, kernel.processor))
        arena = machine.memory
        inside = range(arena.address, arena.address + arena.size)
        memory = HostPages(objects.views, inside, before.memory if before else None)
        return cls(console.frame_count, kernel.steps, console, objects, memory, machine.checkpoint())

    def bytes_beside(self, other: Kept) -> int:
        """About how many bytes it holds that are not shared with another checkpoint."""
        assert isinstance(other, Checkpoint)
        held: int = self.machine.bytes_beside(other.machine)
        return held + self.memory.bytes_beside(other.memory) + self.objects.size

    def restore(self, console: RunningConsole) -> None:
        """Put a console back to this moment.

        :raises UsageError: it is of another console.
        :raises UnknownStateError: a file of the host that was open is not there any more.
        """
        if console is not self.owner:
            raise UsageError("this checkpoint is of another run")
        kernel, machine = console.kernel, console.machine
        mapped, changes = list(kernel.space), console.file_changes
        machine.restore(self.machine)
        self.objects.restore()
        self.memory.restore()
        kernel.space.follow_again(mapped)
        kernel.processor.replaced()
        kernel.memory_differs()
        if console.file_changes != changes:
            machine.events.report("warning", "guest.files", _FILES_STAY)
