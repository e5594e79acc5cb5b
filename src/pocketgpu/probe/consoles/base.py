"""What a console has to offer for a probe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pocketgpu.capture.formats.pgc.contents import Contents
from pocketgpu.probe.files.sent import Sent
from pocketgpu.probe.model.scene import Made, Watch


class ProbeConsole(Protocol):
    """A console that a probe runs on.

    name: as captures call it. program: the name of the program's file. how_to_start: how a person starts it, in one
    sentence. what_it_shows: what a person sees and may be asked meanwhile, in a few sentences. most_memory: bytes of a
    sent file's memory that the program surely has room for.
    """

    name: str
    program: str
    how_to_start: str
    what_it_shows: str
    most_memory: int

    def prepare(self, contents: Contents, watch: Watch, *, most: int) -> Sent:
        """A capture as a file that the program can run. watch: what is to be read back; if pictures matter, what the
        screens show at the end is added. most: bytes of memory that it may use.

        :raises UsageError: no program can run it: it needs more memory, or something that only a replay has.
        """
        ...

    def frame_of(self, contents: Contents, frame: int) -> Contents:
        """What a program has to run to show a frame of a capture, which has it."""
        ...

    def unreadable(self, watch: Watch) -> str:
        """Why a program cannot read back what is to be watched; "": it can."""
        ...

    def too_old(self, made: Made, model: str) -> str:
        """Why a console of this model cannot tell the values apart; "": it can. model: as answers have it."""
        ...

    def same_interrupts(self, ours: Mapping[str, int], theirs: Mapping[str, int]) -> bool:
        """Whether two runs reported the same, as far as it depends on the capture and not on the speed."""
        ...
