"""What can be stepped through at an address: the programs of a draw or launch, which of their runs, and their texts.

    for one in run.programs_at("f1/d17"):
        print(one)                       # vertex program: f1/d17/v0..23
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from pocketgpu.displayed import Displayed
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.inspect.stepping.program_text import ProgramTexts


@dataclass(frozen=True, repr=False)
class Part(Displayed):
    """A part of an address that is still to choose. letter: as addresses have it, "v" or "px". name: for people.
    limits: how many there are, for each number of the part; None where that is not known before the program runs."""

    letter: str
    name: str
    limits: tuple[int | None, ...]

    def to_json(self) -> dict[str, Any]:
        return {"letter": self.letter, "name": self.name, "limits": list(self.limits)}

    def __str__(self) -> str:
        return self.letter + ",".join("n" if limit is None else f"0..{limit - 1}" for limit in self.limits)


@dataclass(frozen=True, repr=False)
class Steppable(Displayed):
    """A program whose runs can be stepped through (`Inspection.trace`).

    program: its name. address: of the draw or launch; with no `parts`, of the one run. parts: what is to be added to
    the address.
    """

    program: str
    address: Address
    parts: tuple[Part, ...] = field(default_factory=tuple)

    def to_json(self) -> dict[str, Any]:
        return {
            "program": self.program, "address": str(self.address), "parts": [one.to_json() for one in self.parts],
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{self.program}: {'/'.join(map(str, (self.address, *self.parts)))}"


class TakesTexts:
    """What an inspection knows of source texts."""

    capture: Capture
    texts: ProgramTexts | None = None
    """Texts of programs, see `use_texts`."""

    def use_texts(self, paths: Sequence[str]) -> None:
        """Name the texts that the capture's shader programs were assembled from (picasso's `.v.pica` and `.g.pica`, or
        a `.shbin` for names only). Traces then have their lines, labels and names of registers, where a program is that
        of a text word for word; the listing of a trace says where it is not (`note`).

        :raises UsageError: programs of this console are not assembled from such texts.
        """
        raise UsageError(f"programs of a {self.capture.console} are not made of such texts", location="texts")


__all__ = ["Part", "Steppable", "TakesTexts"]
