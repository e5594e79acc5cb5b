"""Base class of answers: an address, the cause in one line, a text for people, and plain data with a schema."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pocketgpu.displayed import Displayed, line_of
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.references import Link

if TYPE_CHECKING:
    from pocketgpu.inspect.model.steppable import Steppable


class Answer(Displayed, ABC):
    """An answer of `why`. Its text begins with the conclusion; the details follow.

    schema: id and version of its JSON, as in `inspect/model/schemas/`. address: what was asked about.
    """

    schema: ClassVar[str]
    address: Address

    @property
    @abstractmethod
    def because(self) -> str:
        """The cause, in one line, with the address of what caused it."""

    @property
    @abstractmethod
    def conclusion(self) -> list[str]:
        """The first lines of the text: the cause first."""

    @abstractmethod
    def details(self) -> Iterator[str]:
        """The lines after the conclusion."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Plain data under `schema`. Words and addresses are hexadecimal strings."""

    @property
    def programs(self) -> Sequence[Steppable]:
        """Runs of programs that the answer is about, for stepping through them."""
        return ()

    def head(self) -> dict[str, Any]:
        """The part of the JSON that all answers have in common."""
        return {
            "schema": self.schema, "address": str(self.address), "because": self.because, "conclusion": self.conclusion,
        }  # fmt: skip

    def links(self) -> list[Link]:
        """What lines of the text are about, in order."""
        return []

    @property
    def first_detail(self) -> int:
        """The number of the first line of the details in the text."""
        return sum(line.count("\n") + 1 for line in self.conclusion) + 1

    def text(self) -> str:
        """The conclusion, an empty line, the details."""
        return "\n".join([*self.conclusion, "", *self.details()])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return line_of(self, f"{self.address}: {self.because}")


__all__ = ["Answer"]
