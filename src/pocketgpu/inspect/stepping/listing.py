"""The program of a trace as a listing: its instructions, the lines of source text they come from, and its blocks.

    listing = trace.listing
    listing.text(3), listing.address_of(3), listing.source(3)
    listing.blocks()                        # the control flow: `pocketgpu.control_flow.Block`
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from pocketgpu.control_flow import Block
from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of the text that a program was compiled from. text: empty if it is not known."""

    file: str
    line: int
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"file": self.file, "line": self.line, "text": self.text}


class ProgramListing(ABC):
    """Instructions by number, in the order of the code."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def address_of(self, number: int) -> int:
        """The address of an instruction, as traces give it: in words for a 3DS, in bytes for a Switch."""

    @abstractmethod
    def text(self, number: int) -> str:
        """An instruction, as the console's disassembler writes it."""

    def source(self, number: int) -> SourceLine | None:
        """The line of source text that an instruction comes from; None if that is not known."""
        del number
        return None

    @property
    def note(self) -> str:
        """Why its source text is not shown, or not for all of it; "" if nothing is wrong."""
        return ""

    def label(self, number: int) -> str:
        """The name of an instruction's address; "" if it has none."""
        del number
        return ""

    def names(self, number: int) -> str:
        """What the registers of an instruction are called in the source text: "projection[1], outpos"."""
        del number
        return ""

    def register(self, name: str) -> str | None:
        """The register that a name of the source text stands for; None if it is no such name."""
        del name
        return None

    @property
    def variables(self) -> dict[str, tuple[str, ...]]:
        """Names of the source text with the registers that they stand for: several for an array."""
        return {}

    @abstractmethod
    def blocks(self) -> list[Block]:
        """The control flow.

        :raises CaptureError: the program has more paths than can be followed.
        """


__all__ = ["ProgramListing", "SourceLine"]
