"""Why a pixel has its colour: the events that touched it, and the stages that each of their fragments passed.

A pixel has a history: touches, in order. A touch by a transfer, a blit or a copy has sources, each with its own
history. A touch by a draw has fragments, each with the stages that it reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, ClassVar

from pocketgpu.displayed import Displayed, text_html
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.answer import Answer
from pocketgpu.inspect.model.event import Event, Range
from pocketgpu.inspect.model.references import Link
from pocketgpu.inspect.model.stage import Stage
from pocketgpu.inspect.model.steppable import Steppable
from pocketgpu.inspect.model.vertices import Corner, Primitive
from pocketgpu.late_dataclass import dataclass

MOST_NAMES = 12
"""Most draws that a line names as not covering the pixel."""


@dataclass(frozen=True, repr=False)
class Shown(Displayed):
    """Where a screen's pixel is read from. bytes_: None if no memory is shown there; reason then says why. register:
    the one that says where the picture begins, with its value; "" if none does."""

    screen: str
    x: int
    y: int
    bytes_: Range | None
    reason: str = ""
    register: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"name": self.screen, "x": self.x, "y": self.y, "reason": self.reason, "memory": _place(self.bytes_)}

    def __str__(self) -> str:
        where = "nothing" if self.bytes_ is None else f"memory {self.bytes_}"
        name = "screen" if self.screen == "screen" else f"{self.screen} screen"
        return f"{name} ({self.x}, {self.y}) shows {where}" + (f": {self.reason}" if self.reason else "")


@dataclass(repr=False)
class Fragment(Displayed):
    """A fragment of a primitive on the pixel.

    primitive: its number in the draw. front: whether it is front-facing; None if that was not computed. samples:
    numbers of the samples that it covers; passed: of those that passed all tests. fate: what happened to it, in one
    line. written: whether it wrote its colour. before, after: bytes of the samples in the target, as hexadecimal.
    stages: the stages that it reached, in order. proved: whether its values lead to the bytes that the machine's own
    code writes. origin: the primitive with its vertices; None if they were not looked for.
    """

    primitive: int
    fate: str
    written: bool
    before: list[str]
    after: list[str]
    front: bool | None = None
    samples: list[int] = field(default_factory=lambda: [0])
    passed: list[int] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    proved: bool = True
    origin: Primitive | None = None

    def stage(self, name: str) -> Stage | None:
        """The stage of a name; None if the fragment did not reach it."""
        return next((one for one in self.stages if one.name == name), None)

    def to_json(self) -> dict[str, Any]:
        return {
            "primitive": self.primitive, "front": self.front, "samples": self.samples, "passed": self.passed,
            "fate": self.fate, "written": self.written, "before": self.before, "after": self.after,
            "proved": self.proved, "stages": [stage.to_json() for stage in self.stages],
            "vertices": [one.to_json() for one in self.corners],
        }  # fmt: skip

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Text without indentation. For fragments that wrote nothing, the program's instructions are left out."""
        about = [] if self.front is None else ["front" if self.front else "back"]
        if self.samples != [0]:
            about.append(f"samples {', '.join(map(str, self.samples)) or 'none'}")
        change = f"  ({_bytes(self.before)} to {_bytes(self.after)})" if self.before != self.after else ""
        which = f" ({', '.join(about)})" if about else ""
        yield f"primitive {self.primitive}{which}: {self.fate}{change}"
        if self.origin is not None and self.origin.corners:
            yield f"  {self.origin.said}"
        for stage in self.told:
            yield from (f"  {line}" for line in stage.text)

    @property
    def corners(self) -> Sequence[Corner]:
        """The vertices of its primitive, as far as they are known."""
        return () if self.origin is None else self.origin.corners

    @property
    def told(self) -> list[Stage]:
        """The stages that the text has."""
        return [stage for stage in self.stages if stage.name != PROGRAM or self.written]


_LEAD = " |"
"""What stands before the lines of a pixel's history."""
PROGRAM = "program"
"""The name of the stage that runs a fragment's program."""


@dataclass(repr=False)
class History(Displayed):
    """What happened to one pixel. place: its bytes. surface: what they belong to, as text. x, y: its place in that."""

    place: Range
    surface: str = ""
    x: int | None = None
    y: int | None = None
    touches: list[Touch] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {
            "pixel": _place(self.place), "surface": self.surface, "x": self.x, "y": self.y,
            "events": [touch.to_json() for touch in self.touches],
        }  # fmt: skip

    def __str__(self) -> str:
        where = f"({self.x}, {self.y}) " if self.x is not None else ""
        return f"{where}at {self.place}"


@dataclass(repr=False)
class Touch(Displayed):
    """An event that touched the pixel.

    surface: what the pixel belongs to for this event; x, y: its place in that, on a 3DS as column and row of memory.
    pixel: the address of the same pixel in the draw's target, as questions name it; None where there is none.
    text: what the event did there. before, after: bytes of the samples as hexadecimal, empty if they were not read;
    value_before, value_after: their meaning. sources: where the bytes came from, if the event moved them. depth_from:
    the event that last wrote the depth that this one was compared with.
    """

    event: Event
    text: str
    surface: str = ""
    x: int | None = None
    y: int | None = None
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    value_before: str = ""
    value_after: str = ""
    fragments: list[Fragment] = field(default_factory=list)
    sources: list[History] = field(default_factory=list)
    depth_from: Event | None = None
    proved: bool = True
    pixel: Address | None = None

    @property
    def wrote(self) -> bool:
        """Whether the pixel's bytes changed, or may have changed."""
        return self.before != self.after or any(one.written for one in self.fragments) or not self.fragments

    @property
    def writer(self) -> Fragment | None:
        """The last fragment that wrote its colour."""
        return next((one for one in reversed(self.fragments) if one.written), None)

    @property
    def primitive(self) -> Primitive | None:
        """The primitive of the last fragment that wrote its colour, or of the last one; None without fragments."""
        fragment = self.writer or (self.fragments[-1] if self.fragments else None)
        return None if fragment is None else fragment.origin

    @property
    def programs(self) -> list[Steppable]:
        """The programs that ran for its fragments: that of the pixel, and those that made `primitive`."""
        found = []
        if self.x is not None and self.y is not None and any(one.stage(PROGRAM) for one in self.fragments):
            at = self.event.address.at(pixel=(self.x, self.y))
            found.append(Steppable(f"pixel program of {self.event.address}", at))
        return found if self.primitive is None else [*found, *self.primitive.runs]

    def to_json(self) -> dict[str, Any]:
        return {
            "event": str(self.event.address), "number": str(self.event.by_number), "kind": self.event.kind,
            "title": self.event.title, "text": self.text, "surface": self.surface, "x": self.x, "y": self.y,
            "pixel": None if self.pixel is None else str(self.pixel), "before": self.before, "after": self.after,
            "value_before": self.value_before, "value_after": self.value_after,
            "depth_from": None if self.depth_from is None else str(self.depth_from.address), "proved": self.proved,
            "fragments": [one.to_json() for one in self.fragments],
            "sources": [one.to_json() for one in self.sources],
        }  # fmt: skip

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Text without indentation, the history of its sources first."""
        for source in self.sources:
            yield f"{source}:"
            yield from (f"  | {line}" for touch in source.touches for line in touch.lines())
        yield f"{self.event.address}  {self.text}"
        if self.value_after:
            changed = self.before != self.after
            yield f"  {self.value_before} -> {self.value_after}" if changed else f"  stays {self.value_after}"
        for fragment in self.fragments:
            yield from (f"  {line}" for line in fragment.lines())
        if self.depth_from is not None:
            yield f"  depth was last written by {self.depth_from.address}"


@dataclass(repr=False)
class Why(Answer):
    """Why a pixel has its value: the answer to a question about a pixel.

    opening: the conclusion, as lines. color: red, green, blue, and alpha where there is one: what the screen shows,
    or what the pixel's bytes mean; None if not known. value: the pixel's bytes as hexadecimal, one string for each
    sample (3DS: highest byte first; Switch: in order of memory). place: where the bytes of the first sample are in
    memory. shown: the screen's pixel, if the question was about a screen. touches: the events that reached the pixel,
    in order, also draws whose fragments failed a test; older events that were overwritten may be left out. misses:
    draws to the same surface that do not cover the pixel. missing (3DS): why no draw reached it; "" if that was not
    found. overlapping (3DS): a draw whose colour and depth buffers overlap, so that other pixels write these bytes
    too. proved: whether the touches, computed again in NumPy where they are draws, end in the bytes that the machine
    wrote.
    """

    schema: ClassVar[str] = "pocketgpu.why/2"

    address: Address
    because: str = ""
    opening: list[str] = field(default_factory=list)
    color: tuple[int, ...] | None = None
    value: list[str] = field(default_factory=list)
    place: Range | None = None
    shown: Shown | None = None
    touches: list[Touch] = field(default_factory=list)
    misses: list[Address] = field(default_factory=list)
    missing: str = ""
    overlapping: Address | None = None
    proved: bool = True

    @property
    def conclusion(self) -> list[str]:
        """The cause, how it came about, and whether it is proved."""
        return self.opening

    @property
    def hex(self) -> str | None:
        """The colour as "#rrggbb" or "#rrggbbaa"."""
        return None if self.color is None else "#" + "".join(f"{part:02x}" for part in self.color)

    @property
    def last(self) -> Touch | None:
        """The touch that gave the pixel its colour; if transfers or blits moved it, the touch before those."""
        way = self.way
        return way[-1] if way else None

    @property
    def way(self) -> list[Touch]:
        """From the pixel back to what drew it: the deciding touch, then that of its first source, and so on."""
        found: list[Touch] = []
        touch = deciding(self.touches)
        while touch is not None:
            found.append(touch)
            touch = deciding(touch.sources[0].touches) if touch.sources else None
        return found

    def all_touches(self) -> Iterator[Touch]:
        """All touches; those of a source come before the touch that read it."""

        def walk(touches: Sequence[Touch]) -> Iterator[Touch]:
            for touch in touches:
                for source in touch.sources:
                    yield from walk(source.touches)
                yield touch

        yield from walk(self.touches)

    @property
    def programs(self) -> list[Steppable]:
        """The programs that ran for fragments, the last draw first: of each draw that of the pixel, and those that made
        the primitive of its last fragment that was written, or of its last one."""
        found: dict[Address, Steppable] = {}
        for touch in [*self.all_touches()][::-1]:
            for one in touch.programs:
                found.setdefault(one.address, one)
        return [*found.values()]

    @property
    def fragments(self) -> list[Fragment]:
        """All fragments, in order."""
        return [fragment for touch in self.all_touches() for fragment in touch.fragments]

    def details(self) -> Iterator[str]:
        if self.shown is not None:
            yield str(self.shown)
        if self.place is not None:
            happened = "; what happened to it:" if self.touches else "; no event of the capture touched it"
            yield f"pixel at {self.place}, {_bytes(self.value)} at last{happened}"
        for touch in self.touches:
            yield from touch.lines()
        if self.misses:
            names = ", ".join(map(str, self.misses[:MOST_NAMES]))
            more = f" and {len(self.misses) - MOST_NAMES} more" if len(self.misses) > MOST_NAMES else ""
            yield f"no primitive of {names}{more} covers it"

    def links(self) -> list[Link]:
        """The textures and registers of the fragments' stages, at the lines about them."""
        lines = [line.strip(_LEAD) for line in self.text().split("\n")]
        found, at = [], self.first_detail
        for touch in self.all_touches():
            for stage in (stage for fragment in touch.fragments for stage in fragment.told):
                numbers = []
                for text in stage.text:
                    at = lines.index(text.strip(_LEAD), at)
                    numbers.append(at)
                found += [
                    Link(numbers[one.line], touch.event.address, one)
                    for one in stage.references if one.line < len(numbers)
                ]  # fmt: skip
        return found

    def to_json(self) -> dict[str, Any]:
        place = _place(self.place)
        return self.head() | {
            "proved": self.proved, "color": None if self.color is None else list(self.color), "hex": self.hex,
            "screen": None if self.shown is None else self.shown.to_json(),
            "pixel": None if place is None else place | {"value": self.value},
            "overlapping": None if self.overlapping is None else str(self.overlapping),
            "missing": self.missing, "misses": [str(one) for one in self.misses],
            "events": [touch.to_json() for touch in self.touches],
        }  # fmt: skip

    def _repr_html_(self) -> str:
        swatch = ""
        if self.color:
            swatch = f'<span style="background:{self.hex};border:1px solid;padding:0 1em">&nbsp;</span> '
        return f"<div>{swatch}{text_html(self.text())}</div>"


def deciding(touches: Sequence[Touch]) -> Touch | None:
    """The last touch that changed anything or wrote a colour; else the last touch; None if there is none."""
    for touch in reversed(touches):
        if touch.wrote:
            return touch
    return touches[-1] if touches else None


def _place(place: Range | None) -> dict[str, Any] | None:
    return None if place is None else {"memory": f"{place.address:#010x}", "size": place.size}


def _bytes(samples: Sequence[str]) -> str:
    return " ".join(samples[:8]) + (f" and {len(samples) - 8} more" if len(samples) > 8 else "")


__all__ = ["PROGRAM", "Fragment", "History", "Shown", "Touch", "Why", "deciding"]
