"""What all library applets have: data that their program hands them, answers of the player, what they say."""

from __future__ import annotations

from collections.abc import Sequence

from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch.applets import APPLETS
from pocketgpu.guests.input.answers import Answers
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True)
class Said:
    """What an applet says to its program. outputs: its answers. questions: that the program has to answer before it is
    done. result: how it ended, once it is done."""

    outputs: Sequence[bytes] = ()
    questions: Sequence[bytes] = ()
    done: bool = True
    result: int = Result.OK


class LibraryProgram:
    """A library applet. inputs: what its program has handed it, without the arguments that all have. asks: whether it
    needs the player's answer."""

    title = ""
    asks = False

    def __init__(self, answers: Answers, inputs: Sequence[memoryview]) -> None:
        self.answers, self.inputs = answers, inputs

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.title}>"

    def _input(self, record: str) -> Record:
        """What came first, as a record."""
        return APPLETS.make(record, bytes(self.inputs[0][: APPLETS.size(record)]) if self.inputs else b"")

    def run(self) -> Said:
        """The player answers, if it asks."""
        raise NotImplementedError

    def told(self, data: memoryview) -> Said | None:
        """The program says something, mostly to a question; None if the player has to say something again."""
        return Said((), done=False)
