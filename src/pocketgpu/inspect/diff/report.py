"""The result of a comparison of two runs, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any

from pocketgpu.displayed import Displayed, table_html, title_html
from pocketgpu.inspect.model.address import Address
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.inspect.pictures.comparing import Pixels

SCHEMA = "pocketgpu.diff/1"
MOST_LINES = 16
LEVELS = ("events", "memory", "command", "register", "vertex", "pixel", "picture")
"""Kinds of differences, in the order in which one causes the next."""


@dataclass(frozen=True, repr=False)
class Difference(Displayed):
    """One difference. level: one of LEVELS. a, b: the address in each run; None if a run has no such thing. text: what
    differs, in a line without addresses. detail: the same, ready for JSON."""

    level: str
    a: Address | None
    b: Address | None
    text: str
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def places(self) -> str:
        """The addresses, as short as possible: one if they are equal."""
        if self.a == self.b:
            return str(self.a)
        return f"A {self.a or '-'}, B {self.b or '-'}"

    def to_json(self) -> dict[str, Any]:
        places = {"a": None if self.a is None else str(self.a), "b": None if self.b is None else str(self.b)}
        return {"level": self.level, **places, "text": self.text, **self.detail}

    def __str__(self) -> str:
        return f"{self.text}  {self.places}"


@dataclass(frozen=True, eq=False, repr=False)
class PictureDifference(Difference):
    """A picture that differs between the runs. pictures: of A and of B, RGBA; None where one shows nothing."""

    screen: str = ""
    pictures: tuple[Pixels | None, Pixels | None] = (None, None)


@dataclass(repr=False)
class Report(Displayed):
    """The result. frames: how many were compared. structure: differences of events, memory, commands and registers, in
    order. vertex, pixel: the first of their kind; None if there is none, or it could not be compared (`notes` says so
    then). pictures: screens that differ, frame by frame."""

    names: tuple[str, str]
    frames: int = 0
    events: int = 0
    structure: list[Difference] = field(default_factory=list)
    vertex: Difference | None = None
    pixel: Difference | None = None
    pictures: list[PictureDifference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def all(self) -> list[Difference]:
        """Every difference, level by level."""
        return [*self.structure, *(one for one in (self.vertex, self.pixel) if one is not None), *self.pictures]

    @property
    def same(self) -> bool:
        return not self.all

    @property
    def first(self) -> Difference | None:
        """The first divergence."""
        return next(iter(self.all), None)

    def _repr_html_(self) -> str:
        if self.same:
            return title_html(str(self))
        rows = ((one.level, one.places, one.text) for one in self.all)
        return title_html(f"{self.names[0]} and {self.names[1]}") + table_html(
            ("level", "place", "difference"), rows, len(self.all)
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data, with `schema`."""
        first = {level: next((one.to_json() for one in self.all if one.level == level), None) for level in LEVELS}
        return {
            "schema": SCHEMA, "a": self.names[0], "b": self.names[1], "same": self.same, "frames": self.frames,
            "events": self.events, "first": first, "structure": [one.to_json() for one in self.structure],
            "pictures": [one.to_json() for one in self.pictures], "notes": self.notes,
        }  # fmt: skip

    def lines(self) -> Iterator[str]:
        """The result as text. A single cause is on one line, with its consequences."""
        if self.same:
            yield f"no difference in {counted(self.events, 'event')} of {counted(self.frames, 'frame')}"
        elif len(self.structure) <= 1:
            yield "; ".join(self._one_line())
        else:
            yield from (str(one) for one in self.structure[:MOST_LINES])
            if len(self.structure) > MOST_LINES:
                yield f"... {len(self.structure) - MOST_LINES} more, all of them with --json"
            for name, one in (("first vertex", self.vertex), ("first pixel", self.pixel)):
                if one is not None:
                    yield f"{name}: {one}"
            yield from (str(one) for one in self.pictures[:MOST_LINES])
            if len(self.pictures) > MOST_LINES:
                yield f"... {len(self.pictures) - MOST_LINES} more pictures"
        yield from self.notes

    def _one_line(self) -> Iterator[str]:
        yield from (str(one) for one in self.structure)
        if self.vertex is not None:
            yield str(self.vertex)
        if self.pixel is not None:
            yield f"first pixel {self.pixel}"
        if self.pictures:
            more = f", and {len(self.pictures) - 1} more pictures" if len(self.pictures) > 1 else ""
            yield f"{self.pictures[0]}{more}"

    def __str__(self) -> str:
        return "\n".join(self.lines())
