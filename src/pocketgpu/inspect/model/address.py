"""Addresses: the text form of a place in the run of a capture.

    f3              frame 3                           f3/d17        draw 17 of frame 3
    f3/e412         event 412 of frame 3              f3/p2         pass 2 of frame 3
    f1/px200,120    a pixel of the picture            f1/bottom/px10,20, f1/top-right/px…, f1/screen/px…
    f1/d17/px8,9    a pixel of a draw's target        f1/d17/v5, f1/d17/t3    a vertex, a primitive of a draw
    f1/d17/t3/tc2   thread 2 of the tessellation control program for patch 3
    f1/d17/t3/te7, f1/d17/t3/gs0    point 7 of the evaluation program there, run 0 of the geometry program there
    f1/e9/b0,1,0/t3,0,0    a block and a thread of a launch        …/s12     a step of a program
    f3/d17/mem0x18000000   memory after draw 17                    f3/mem0x18000000+0x10   16 bytes of it

All numbers count from 0. Work after the last frame, which no picture shows, has the next number: f60 after 60 frames
(f0 to f59). Pixels of a picture count from the top left of the upright picture that `render` writes.
Pixels of a draw's target have x and y as the viewport counts them. A file name and "#" may precede an address:
`scene.pgc#f1/d17`. Addresses do not depend on how a capture is replayed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Self

from pocketgpu.displayed import Displayed
from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

SCREENS = ("top", "top-right", "bottom", "screen")
"""Names of screens; a Switch has only "screen"."""
_FORMS = (
    "Such as f3, f3/d17, f3/e412, f3/p2, f1/px200,120, f1/bottom/px10,20, f1/d17/px8,9, f1/d17/v5, "
    "f1/d17/t3/tc2, f1/e9/b0,0,0/t3,0,0, f1/d17/mem0x18000000."
)
_PART = re.compile(r"(px|tc|te|gs|[fdepvtbs])(\d{1,9}(?:,\d{1,9}){0,2})")
_MEMORY = re.compile(r"mem0x([0-9a-f]{1,10})(?:\+0x([0-9a-f]{1,8}))?", re.IGNORECASE)
LATE = ("tc", "te", "gs")
"""Later programs of primitives in addresses: tessellation control, tessellation evaluation, geometry."""
_COUNTS = {"px": (2,), "b": (3,), "t": (1, 3)}


@dataclass(frozen=True, order=True, slots=True, repr=False)
class Address(Displayed):
    """Names a frame, an event, a draw, a pixel, ... of a capture. Fields that it does not use are None.

    draw, event, `pass_`: numbers within the frame. pixel: (x, y) of a screen or, with draw or event, of its target.
    vertex, primitive: position in the order in which the draw names them. block, thread: of a launch.
    step: how many instructions of a program have run. memory: address and size of bytes, physical or of the GPU.
    late: a run of a later program for the primitive: one of LATE, and its number.
    """

    frame: int
    draw: int | None = None
    event: int | None = None
    pass_: int | None = None
    screen: str | None = None
    pixel: tuple[int, int] | None = None
    vertex: int | None = None
    primitive: int | None = None
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    step: int | None = None
    memory: tuple[int, int] | None = None
    late: tuple[str, int] | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse an address. A file name before it is ignored (`split` returns both).

        :raises UsageError: the text is not an address; the message names the wrong part.
        """
        _, text = split(text)
        found: dict[str, object] = {}

        def put(name: str, value: object, part: str) -> None:
            if name in found:
                raise UsageError(f"'{text}' has two parts of the kind of '{part}'", hint=_FORMS)
            found[name] = value

        for index, part in enumerate(text.strip().split("/")):
            if part in SCREENS and index:
                put("screen", part, part)
                continue
            memory = _MEMORY.fullmatch(part)
            if memory is not None and index:
                put("memory", (int(memory[1], 16), int(memory[2] or "1", 16)), part)
                continue
            match = _PART.fullmatch(part)
            if match is None:
                raise UsageError(f"'{part}' in '{text}' is no part of an address", hint=_FORMS)
            kind, numbers = match[1], tuple(int(number) for number in match[2].split(","))
            if len(numbers) not in _COUNTS.get(kind, (1,)):
                raise UsageError(f"'{part}' in '{text}' has {counted(len(numbers), 'number')}", hint=_FORMS)
            if (kind == "f") != (index == 0):
                raise UsageError(f"an address begins with a frame, and has one: '{text}'", hint=_FORMS)
            if kind == "t" and len(numbers) == 1:
                put("primitive", numbers[0], part)
            elif kind in LATE:
                put("late", (kind, numbers[0]), part)
            else:
                put(_FIELDS[kind], numbers if kind in _COUNTS else numbers[0], part)
        if "late" in found and "primitive" not in found:
            raise UsageError(f"'{text}' names a run of a later program, but no primitive", hint=_FORMS)
        if sum(name in found for name in ("draw", "event", "pass_", "screen")) > 1:
            raise UsageError(f"'{text}' names more than one thing of a frame", hint=_FORMS)
        return cls(**found)  # type: ignore[arg-type]

    @property
    def names_event(self) -> bool:
        """Whether it names a draw, another event, or something inside one."""
        return self.draw is not None or self.event is not None

    def at(self, **parts: object) -> Self:
        """A copy with some fields set, or (None) cleared."""
        return replace(self, **parts)  # type: ignore[arg-type]

    @property
    def place(self) -> Self:
        """The address of the frame, draw, event or pass, without what is inside it."""
        return type(self)(self.frame, self.draw, self.event, self.pass_)

    def __str__(self) -> str:
        parts = [f"f{self.frame}"]
        parts += [
            f"{letter}{value}"
            for letter, value in (("p", self.pass_), ("e", self.event), ("d", self.draw))
            if value is not None
        ]
        if self.screen is not None:
            parts.append(self.screen)
        for letter, one in (("v", self.vertex), ("t", self.primitive)):
            if one is not None:
                parts.append(f"{letter}{one}")
        if self.late is not None:
            parts.append(f"{self.late[0]}{self.late[1]}")
        for letter, several in (("px", self.pixel), ("b", self.block), ("t", self.thread)):
            if several is not None:
                parts.append(letter + ",".join(map(str, several)))
        if self.step is not None:
            parts.append(f"s{self.step}")
        if self.memory is not None:
            address, size = self.memory
            parts.append(f"mem{address:#x}" + (f"+{size:#x}" if size != 1 else ""))
        return "/".join(parts)


_FIELDS = {
    "f": "frame",
    "d": "draw",
    "e": "event",
    "p": "pass_",
    "px": "pixel",
    "v": "vertex",
    "b": "block",
    "t": "thread",
    "s": "step",
}


def split(text: str) -> tuple[str | None, str]:
    """File and address of "scene.pgc#f1/d17"; None without a file."""
    file, mark, rest = text.rpartition("#")
    return (file, rest) if mark else (None, text)
